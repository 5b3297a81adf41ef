"""An agent carries out what is signed with its cluster's key, once; Redis alone tells it nothing."""

import time
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

from weir.controllers.model.command import Command, CommandStatus, ScaleTo
from weir.metrics.agent.commands import CommandRunner
from weir.metrics.store import keys
from weir.metrics.store.keyring import Keyring
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

MASTER = {"WEIR_KEY": "ab" * 32}


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[RedisStore]:
    """That of an engine."""
    found = RedisStore.at(redis_server.url)
    found.client.flushall()
    found.keyring = Keyring(MASTER)
    yield found
    found.client.close()


@pytest.fixture
def agent(redis_server: RedisServer) -> Iterator[RedisStore]:
    """That of the agent of `narrow`, which has no other key."""
    found = RedisStore.at(redis_server.url)
    found.keyring = Keyring({"WEIR_KEY": Keyring(MASTER).agent_line("narrow")})
    yield found
    found.client.close()


def order(number: int = 1, cluster: str = "narrow") -> Command:
    now = time.time()
    return Command(
        id=f"c{number}", cluster=cluster, action=ScaleTo(executors=number),
        issued_at=now, expires_at=now + 60,
    )  # fmt: skip


def carried_out(agent: RedisStore) -> list[int]:
    """What an agent that looks once carries out."""
    done: list[int] = []
    agent.acquire("cluster:narrow", "me", 60.0)
    one = CommandRunner(
        agent, "narrow", "me", {ScaleTo: lambda a, _: done.append(a.executors) or "done"}
    )
    one.poll()
    return done


def refused(store: RedisStore, command_id: str = "c1") -> str:
    found = store.command(command_id)
    assert found is not None
    assert found[1].status is CommandStatus.REFUSED
    return found[1].message


def test_what_the_engine_signed_is_carried_out(store: RedisStore, agent: RedisStore) -> None:
    store.submit(order())
    assert carried_out(agent) == [1]


def test_what_is_written_to_redis_by_hand_is_refused_and_shown(
    store: RedisStore, agent: RedisStore
) -> None:
    store.submit(order())
    store.client.hdel(keys.command("c1"), "signature")
    assert carried_out(agent) == []
    assert "not signed" in refused(store)
    assert [s.kind for s in agent.skipped()] == ["command"]
    assert agent.open_commands("narrow") == []


def test_a_changed_command_is_refused(store: RedisStore, agent: RedisStore) -> None:
    store.submit(order())
    store.client.hset(
        keys.command("c1"), "command", msgspec.json.encode(replace(order(), action=ScaleTo(executors=99)))
    )  # fmt: skip
    assert carried_out(agent) == []
    assert "not signed with the key of narrow" in refused(store)


def test_a_command_for_another_cluster_is_not_taken_over(
    store: RedisStore, agent: RedisStore
) -> None:
    """Neither as it is nor with the cluster's name changed."""
    store.submit(order(1, "wide"))
    store.client.zadd(keys.open_commands("narrow"), {"c1": 1})
    assert carried_out(agent) == []
    renamed = msgspec.json.encode(replace(order(1, "wide"), cluster="narrow"))
    store.client.hset(keys.command("c1"), "command", renamed)
    assert carried_out(agent) == []
    refused(store)


def test_an_agents_key_signs_for_its_own_cluster_alone(
    store: RedisStore, agent: RedisStore
) -> None:
    from weir.controllers.model.errors import InvalidInput

    with pytest.raises(InvalidInput, match="only an agent's"):
        agent.submit(order(1, "wide"))


def test_a_command_that_is_put_back_is_not_done_twice(store: RedisStore, agent: RedisStore) -> None:
    store.submit(order())
    kept = store.client.dump(keys.command("c1"))
    done: list[int] = []
    agent.acquire("cluster:narrow", "me", 60.0)
    runner = CommandRunner(
        agent, "narrow", "me", {ScaleTo: lambda a, _: done.append(a.executors) or "done"}
    )
    runner.poll()
    store.client.restore(keys.command("c1"), 0, kept, replace=True)
    store.client.zadd(keys.open_commands("narrow"), {"c1": 1})
    runner.poll()
    assert done == [1]
    assert "done before" in refused(store)


def test_an_agent_without_a_key_does_nothing_and_says_what_it_needs(
    store: RedisStore, agent: RedisStore, tmp_path
) -> None:
    agent.keyring = Keyring({"WEIR_KEY_FILE": str(tmp_path / "none")})
    store.submit(order())
    assert carried_out(agent) == []
    assert "WEIR_KEY_FILE" in refused(store)


def test_the_key_is_made_once_and_readable_by_its_owner_alone(tmp_path) -> None:
    env = {"WEIR_KEY_FILE": str(tmp_path / "home" / "key")}
    one, other = Keyring(env), Keyring(env)
    assert one.signature("a", b"x") == other.signature("a", b"x")
    assert one.why_not("a", b"x", other.signature("a", b"x")) == ""
    assert one.why_not("b", b"x", other.signature("a", b"x"))
    assert one.path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in one.path.parent.iterdir()] == ["key"]


@pytest.mark.parametrize("name", ["my orders", "Bestellungen größer 9", "x" * 200])
def test_an_agents_key_is_read_whatever_its_cluster_is_called(name: str) -> None:
    agent = Keyring({"WEIR_KEY": Keyring(MASTER).agent_line(name)})
    assert agent.why_not(name, b"do", Keyring(MASTER).signature(name, b"do")) == ""
