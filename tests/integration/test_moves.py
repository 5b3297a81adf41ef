"""Moves on real Spark: with state, while the stream runs, whoever dies at whatever step.

That no row was lost or doubled is checked once for all of it, at the end of the faults.
"""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.support.system import System, running
from tests.support.waiting import wait_until
from weir.commands.control import move
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.model.decision import Move
from weir.controllers.model.placement import operator_lease

PLACE = 3

NEXT = {MoveStep.PLANNED: "engine", MoveStep.RELEASING: "source", MoveStep.ADOPTING: "target"}
"""Who has to act before a move leaves a step."""


@contextmanager
def forgotten(system: System, cluster: str) -> Iterator[None]:
    """Nobody knows of this cluster afterwards, however the test ends."""
    try:
        yield
    finally:
        system.store.forget(
            cluster, AuditEntry(at=time.time(), by="test", action="cluster.forgotten")
        )


def asked(system: System, target: str = "", operator: str = "topic_count") -> Rebalance:
    """A move of the operator, to the other cluster unless told where; nobody knows of it yet."""
    source = system.store.placements()[operator].cluster
    target = target or {"narrow": "wide", "wide": "narrow"}[source]
    move = MoveState(move=Move(operator=operator, source=source, target=target))
    return Rebalance(id=uuid.uuid4().hex, at=time.time(), moves=(move,), by="test")


def state(system: System, rebalance: Rebalance) -> MoveState:
    return next(r for r in system.store.rebalances() if r.id == rebalance.id).moves[0]


def ended(system: System, rebalance: Rebalance, seconds: float = 150.0) -> MoveState:
    wait_until(lambda: state(system, rebalance).step.final, seconds, "the move ends")
    return state(system, rebalance)


def runs_once(system: System, operator: str = "topic_count") -> str:
    """The one cluster in which it runs, commits and holds the lease."""
    before = wait_until(
        lambda: (o := system.operator(operator)).status == "running" and o.batch_id and o,
        120,
        f"{operator} runs",
    )
    wait_until(lambda: system.operator(operator).batch_id > before.batch_id, 60, "it commits")
    reports = [
        s.cluster.name
        for s in system.store.latest()
        for o in s.operators
        if o.name == operator and o.status == "running" and time.time() - s.at < 6
    ]
    assert len(reports) == 1
    holder = system.store.lease(operator_lease(operator)).holder
    assert holder.startswith(system.snapshot().cluster(reports[0]).app_id)
    return reports[0]


def process(system: System, word: str) -> psutil.Process:
    return next(p for p in system.children(word) if "-m weir" in " ".join(p.cmdline()))


@contextmanager
def held(system: System, word: str) -> Iterator[None]:
    """This process does nothing meanwhile, so a step that waits for it cannot pass.

    Not for longer than a lease or a sign of life is good for: then the others go on without.
    """
    stopped = process(system, word)
    stopped.suspend()
    try:
        yield
    finally:
        with suppress(psutil.Error):
            stopped.resume()


def killed_at(system: System, step: MoveStep, victim: str) -> Rebalance:
    """Ask for a move, and kill -9 the victim while it is at exactly this step."""
    rebalance = asked(system)
    move = rebalance.moves[0].move
    names = {"engine": "engine", "source": move.source, "target": move.target}
    dies = process(system, names[victim])
    with held(system, names[NEXT[step]]):
        system.store.save_rebalance(rebalance)
        wait_until(lambda: state(system, rebalance).step is step, 10, f"it is {step}")
        dies.kill()
        assert state(system, rebalance).step is step
    return rebalance


def test_there_and_back_with_its_state(system: System) -> None:
    system.rate(150)
    rows = wait_until(lambda: system.operator("topic_count").state_rows, 30, "its state")
    for target in ("wide", "narrow"):
        done = system.command("move", "topic_count", target)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "paused" in done.stdout
        assert runs_once(system) == target
    assert system.operator("topic_count").state_rows >= rows
    last = system.store.rebalances()[0].moves[0]
    assert last.paused_s > 0
    assert last.state_bytes > 0


def test_what_cannot_be_moved_is_said_and_stays(system: System) -> None:
    done = system.command("move", "topic_count", "nowhere")
    assert done.returncode == 2
    assert "there is no cluster 'nowhere'" in done.stderr
    assert system.command("move", "topic_count", "narrow").returncode == 2
    assert system.store.placements()["topic_count"].cluster == "narrow"


@pytest.mark.parametrize("step", [MoveStep.PLANNED, MoveStep.RELEASING, MoveStep.ADOPTING])
def test_the_engine_dies(system: System, step: MoveStep) -> None:
    rebalance = killed_at(system, step, "engine")
    assert ended(system, rebalance).step is MoveStep.DONE
    assert runs_once(system) == rebalance.moves[0].move.target


@pytest.mark.parametrize("step", [MoveStep.RELEASING, MoveStep.ADOPTING])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_host_dies(system: System, side: str, step: MoveStep) -> None:
    rebalance = killed_at(system, step, side)
    outcome = ended(system, rebalance)
    if outcome.step is MoveStep.FAILED:  # declared dead on the way back: it goes on when it is up
        assert outcome.message.endswith("has died"), outcome.message
    elif outcome.step is MoveStep.RETURNED:
        assert "went back" in outcome.message
    else:
        assert outcome.step is MoveStep.DONE
    assert runs_once(system) == system.store.placements()["topic_count"].cluster
    wait_until(lambda: system.health()["status"] == "ok", 120, "everything is up again")


def test_what_cannot_start_there_goes_back_though_the_engine_dies_on_the_way(
    system: System, tmp_path: Path
) -> None:
    host = (
        "-m", "weir", "host", "mine", "--master", system.master, "--redis", system.redis_url,
        "--operators", "tests.support.unwilling_operators", "--period", "2",
        "--checkpoints", str(tmp_path / "checkpoints"), "--local-dir", str(tmp_path / "local"),
    )  # fmt: skip
    with forgotten(system, "mine"), running(tmp_path / "host.log", *host):
        wait_until(
            lambda: system.snapshot().cluster("mine").heartbeat_age_s < 4, 120, "the host is there"
        )
        rebalance = asked(system, "mine")
        source = rebalance.moves[0].move.source
        system.store.save_rebalance(rebalance)
        gone = (MoveStep.ADOPTING, MoveStep.RETURNING)
        wait_until(lambda: state(system, rebalance).step in gone, 30, "it was let go")
        with held(system, source):  # where it has to come back to
            wait_until(
                lambda: state(system, rebalance).step is MoveStep.RETURNING, 10, "it returns"
            )
            process(system, "engine").kill()
            assert state(system, rebalance).step is MoveStep.RETURNING
        outcome = ended(system, rebalance)
        assert outcome.step is MoveStep.RETURNED
        assert "went back: operator 'topic_count': its builder failed" in outcome.message
        assert runs_once(system) == source


def test_it_is_brought_home(system: System) -> None:
    if system.store.placements()["topic_count"].cluster != "narrow":
        move(system.store, "topic_count", "narrow")
    assert runs_once(system) == "narrow"
