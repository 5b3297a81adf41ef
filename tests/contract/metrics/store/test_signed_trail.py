"""A trail that whoever has Redis, but not the key, wrote again is seen to be another one."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from weir.components.web.presence import _anchor_once
from weir.controllers.engine.audit import AuditEntry, first_break, seal_entry
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
