"""Commands: carried out once, refused when late, fenced or unknown."""

import time

from tests.support.waiting import wait_until
from weir.controllers.model.command import Command, CommandStatus, ScaleTo, StopOperator
from weir.controllers.model.errors import Refused
from weir.controllers.model.placement import LEADER
from weir.metrics.agent.commands import CommandRunner, why_refused
from weir.metrics.store.memory_store import MemoryStore


def command(number: int, action=None, fence: int | None = None, lives_s: float = 30.0) -> Command:
    now = time.time()
    return Command(
        id=f"c{number}",
        cluster="a",
        action=action or ScaleTo(executors=number),
        issued_at=now,
        expires_at=now + lives_s,
        fence=fence,
    )


def run(store: MemoryStore, handlers) -> None:
    store.acquire("cluster:a", "me", 600.0)
    runner = CommandRunner(store, "a", "me", handlers)
    for _ in range(2):
        runner.poll()


def status(store: MemoryStore, command_id: str) -> CommandStatus:
    found = store.command(command_id)
    assert found
    return found[1].status


def test_each_is_carried_out_once_and_in_order() -> None:
    store, done = MemoryStore(), []
    for i in (1, 2, 3):
        store.submit(command(i))
        store.submit(command(i))  # the same id again
    store.acquire("cluster:a", "me", 600.0)
    handlers = {ScaleTo: lambda action, report: done.append(action.executors) or "ok"}
    runner = CommandRunner(store, "a", "me", handlers, poll_s=0.01)
    runner.start()
    wait_until(lambda: not store.open_commands("a"), 5, "nothing is open")
    runner.close()
    runner.join()
    assert done == [1, 2, 3]
    assert status(store, "c1") is CommandStatus.DONE


def test_progress_and_failure_are_reported_in_words() -> None:
    store = MemoryStore()
    store.submit(command(1))

    def handler(action: ScaleTo, report) -> str:
        report(0.5, "half way")
        assert store.command("c1")[1].message == "half way"
        raise Refused("no cores are free")

    run(store, {ScaleTo: handler})
    assert store.command("c1")[1].status is CommandStatus.FAILED
    assert store.command("c1")[1].message == "no cores are free"


def test_late_fenced_and_unknown_commands_change_nothing() -> None:
    store, done = MemoryStore(), []
    store.acquire(LEADER, "old engine", 0.0)
    store.acquire(LEADER, "new engine", 60.0)  # token 2
    store.submit(command(1, lives_s=-1.0))
    store.submit(command(2, fence=1))
    store.submit(command(3, fence=2))
    store.submit(command(4, action=StopOperator(operator="x")))
    run(store, {ScaleTo: lambda action, report: done.append(action.executors) or ""})
    assert [status(store, f"c{i}") for i in (1, 2, 3, 4)] == [
        CommandStatus.EXPIRED,
        CommandStatus.REFUSED,
        CommandStatus.DONE,
        CommandStatus.REFUSED,
    ]
    assert done == [3]


def test_a_person_needs_no_fence() -> None:
    assert why_refused(command(1), time.time(), newest_fence=9) is None


def test_what_a_dead_agent_had_begun_is_finished_by_its_heir() -> None:
    store, done = MemoryStore(), []
    store.submit(command(1))
    assert store.claim("c1", "dead agent", time.time())
    run(store, {ScaleTo: lambda action, report: done.append(action.executors) or "ok"})
    assert done == [1]
    assert status(store, "c1") is CommandStatus.DONE


def test_an_agent_that_does_not_hold_the_name_does_nothing() -> None:
    store, done = MemoryStore(), []
    store.acquire("cluster:a", "somebody else", 600.0)
    store.submit(command(1))
    run(store, {ScaleTo: lambda action, report: done.append(1) or ""})
    assert done == []
    assert status(store, "c1") is CommandStatus.PENDING


def test_an_agent_that_knows_a_newer_engine_than_there_is_says_what_to_do() -> None:
    old, new = MemoryStore(), MemoryStore()
    for name in ("one", "two", "three"):
        old.release(old.acquire(LEADER, name, 60.0))
    old.acquire(LEADER, "four", 60.0)
    new.acquire(LEADER, "engine", 60.0)  # token 1, in a store that was just emptied
    runner = CommandRunner(old, "a", "me", {ScaleTo: lambda action, report: "ok"})
    old.submit(command(1, fence=4))
    runner._carry_out(command(1, fence=4))
    runner._store = new
    new.submit(command(2, fence=1))
    runner._carry_out(command(2, fence=1))
    result = new.command("c2")[1]
    assert result.status is CommandStatus.REFUSED
    assert "if Redis was replaced or emptied, restart the agent of a" in result.message
