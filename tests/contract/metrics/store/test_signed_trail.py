"""A trail that whoever has Redis, but not the key, wrote again is seen to be another one."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from weir.components.web.presence import _anchor_once
from weir.controllers.engine.audit import AuditEntry, first_break, seal_entry
from weir.controllers.model.command import Command, ScaleTo
from weir.controllers.model.errors import Unavailable
from weir.metrics.store import keys
from weir.metrics.store.anchor import AnchorFile
from weir.metrics.store.keyring import Keyring
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[RedisStore]:
    found = RedisStore.at(redis_server.url)
    found.client.flushall()
    for i in range(5):
        found.append_audit(AuditEntry(at=1.0 + i, by="ada", action="tested"))
    yield found
    found.client.close()


def rebuilt(store: RedisStore, key: bytes | None, since: int = 1) -> None:
    """The same numbers, other people, a chain that fits."""
    entries = store.audit_since(0)
    store.client.delete(keys.AUDIT)
    previous = ""
    for entry in entries:
        told = replace(entry, by="eve") if entry.number >= since else entry
        kept = seal_entry(told, entry.number, previous, key) if told is not entry else entry
        previous = kept.seal
        store.client.xadd(keys.AUDIT, {"e": msgspec.json.encode(kept)}, id=f"{kept.number}-0")
    assert first_break(store.audit_since(0)) is None


def broken(store: RedisStore, file: Path, **more: bool) -> int | None:
    return AnchorFile(file).check(store.audit, key=store.keyring.audit_key(), **more).broken


@pytest.mark.parametrize("key", [None, b"another key"])
@pytest.mark.parametrize("since", [1, 3])
def test_a_trail_rebuilt_without_the_key_is_broken(
    store: RedisStore, tmp_path: Path, key: bytes | None, since: int
) -> None:
    if key is None:
        assert AnchorFile(tmp_path / "a").check(store.audit, key=store.keyring.audit_key()).whole
    rebuilt(store, key, since)
    assert broken(store, tmp_path / "a") == since
    store.append_audit(AuditEntry(at=9.0, by="ada", action="tested"))  # which signs what is there
    assert broken(store, tmp_path / "a") == since


def test_what_is_checked_since_the_last_time_is_compared_with_it(
    store: RedisStore, tmp_path: Path
) -> None:
    anchor, key = AnchorFile(tmp_path / "a"), store.keyring.audit_key()
    assert anchor.check(store.audit, key=key).checked == 5
    store.append_audit(AuditEntry(at=9.0, by="ada", action="tested"))
    chain = anchor.check(store.audit, key=key, since_anchor=True)
    assert (chain.whole, chain.checked) == (True, 2)
    rebuilt(store, key, 4)  # by somebody who has the key as well
    assert "not the one" in anchor.check(store.audit, key=key, since_anchor=True).lost


def test_a_trail_from_before_there_were_signatures_goes_on(
    store: RedisStore, tmp_path: Path
) -> None:
    rebuilt(store, None)
    store.append_audit(AuditEntry(at=9.0, by="ada", action="tested"))
    anchor, key = AnchorFile(tmp_path / "a"), store.keyring.audit_key()
    assert anchor.check(store.audit, key=key).whole
    store.append_audit(AuditEntry(at=9.5, by="ada", action="tested"))
    assert anchor.check(store.audit, key=key).whole


def test_web_servers_take_an_anchor_by_themselves_and_show_what_is_wrong(
    store: RedisStore, tmp_path: Path
) -> None:
    anchor = AnchorFile(tmp_path / "a")
    _anchor_once(store, anchor, since_anchor=False)
    assert anchor.path.exists()
    assert store.skipped() == ()
    rebuilt(store, None)
    _anchor_once(store, anchor, since_anchor=True)
    assert [s.kind for s in store.skipped()] == ["audit trail"]


def test_the_key_of_another_installation_fits_nothing(store: RedisStore, tmp_path: Path) -> None:
    other = Keyring({"WEIR_KEY": "11" * 32}).audit_key()
    assert AnchorFile(tmp_path / "a").check(store.audit, key=other).broken == 1


def test_no_second_key_is_made_for_a_trail_that_is_signed(
    store: RedisStore, tmp_path: Path
) -> None:
    """A terminal elsewhere would break the trail for everybody with the first thing it does."""
    elsewhere = RedisStore(store.client)
    elsewhere.keyring = Keyring({"WEIR_HOME": str(tmp_path)}, elsewhere._is_signed)
    with pytest.raises(Unavailable, match="copy it from where"):
        elsewhere.append_audit(AuditEntry(at=9.0, by="eve", action="paused"))
    assert not (tmp_path / "key").exists()
    assert len(store.audit()) == 5
    store.client.flushall()
    elsewhere.append_audit(AuditEntry(at=9.0, by="ada", action="paused"))  # the first one makes it
    assert (tmp_path / "key").exists()


@pytest.mark.parametrize("stray", ["18446744073709551615-18446744073709551615", f"{10**15}-0"])
def test_an_entry_with_an_impossible_number_stops_nobody(
    store: RedisStore, tmp_path: Path, stray: str
) -> None:
    """After the last possible id a stream takes nothing: no change could be written down."""
    store.client.xadd(keys.AUDIT, {"e": "{"}, id=stray)
    kept = store.append_audit(AuditEntry(at=9.0, by="ada", action="paused"))
    assert kept.number == 6
    assert broken(store, tmp_path / "a") is None
    assert any("no entry has such a number" in s.why for s in store.skipped())


def test_a_trail_that_holds_another_type_begins_anew_and_shows(
    store: RedisStore, tmp_path: Path
) -> None:
    assert broken(store, tmp_path / "a") is None
    store.client.delete(keys.AUDIT)
    store.client.set(keys.AUDIT, "x")
    assert store.append_audit(AuditEntry(at=9.0, by="ada", action="paused")).number == 1
    assert store.skipped()
    key = store.keyring.audit_key()
    assert "at the last check" in AnchorFile(tmp_path / "a").check(store.audit, key=key).lost


@pytest.mark.parametrize("spoil", ["id", "type"])
def test_a_command_is_given_whatever_became_of_the_log_of_commands(
    store: RedisStore, spoil: str
) -> None:
    store.client.delete(keys.COMMANDS)
    if spoil == "id":
        store.client.xadd(
            keys.COMMANDS, {"id": "x"}, id="18446744073709551615-18446744073709551615"
        )
    else:
        store.client.set(keys.COMMANDS, "x")
    now = store.now()
    told = Command(
        id="c1", cluster="a", action=ScaleTo(executors=2), issued_at=now, expires_at=now + 60
    )
    store.submit(told, AuditEntry(at=now, by="ada", action="scaled"))
    assert [command.id for command, _ in store.recent_commands()] == ["c1"]
