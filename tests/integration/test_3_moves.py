"""Moves on real Spark: with state, while the stream runs, whoever dies at whatever step.

That no row was lost or doubled is checked once for all of it, at the end of the faults.
"""

import time
import uuid

import pytest

from controllers.engine.moves import MoveState, Rebalance, Step
from controllers.model.decision import Move
from controllers.model.placement import operator_lease
from tests.support.system import System, wait_until


def begin(system: System, operator: str = "topic_count") -> Rebalance:
    """Ask for a move of the operator to the other cluster."""
    source = system.store.placements()[operator].cluster
    target = {"narrow": "wide", "wide": "narrow"}[source]
    move = MoveState(move=Move(operator=operator, source=source, target=target))
    rebalance = Rebalance(id=uuid.uuid4().hex, at=time.time(), moves=(move,), by="test")
    system.store.save_rebalance(rebalance)
    return rebalance


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


def kill(system: System, word: str) -> None:
    next(p for p in system.children(word) if "app.py" in " ".join(p.cmdline())).kill()


def test_there_and_back_with_its_state(system: System) -> None:
    system.command("rate", "150")
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
    assert done.returncode == 1
    assert "there is no cluster nowhere" in done.stdout
    assert system.command("move", "topic_count", "narrow").returncode == 2
    assert system.store.placements()["topic_count"].cluster == "narrow"


@pytest.mark.parametrize("step", [Step.PLANNED, Step.RELEASING, Step.ADOPTING])
def test_the_engine_dies(system: System, step: Step) -> None:
    rebalance = begin(system)
    if step is not Step.PLANNED:
        wait_until(lambda: state(system, rebalance).step in (step, Step.DONE), 60, f"it is {step}")
    kill(system, "engine")
    assert ended(system, rebalance).step is Step.DONE
    assert runs_once(system) == rebalance.moves[0].move.target


def test_the_old_host_dies_while_it_lets_go(system: System) -> None:
    rebalance = begin(system)
    wait_until(lambda: state(system, rebalance).step is not Step.PLANNED, 30, "it has begun")
    kill(system, rebalance.moves[0].move.source)
    assert ended(system, rebalance).step in (Step.DONE, Step.RETURNED)
    assert runs_once(system) == system.store.placements()["topic_count"].cluster
    wait_until(lambda: system.health()["status"] == "ok", 120, "everything is up again")


def test_the_new_host_dies_while_it_adopts(system: System) -> None:
    rebalance = begin(system)
    wait_until(
        lambda: state(system, rebalance).step in (Step.ADOPTING, Step.DONE), 60, "it is adopting"
    )
    kill(system, rebalance.moves[0].move.target)
    outcome = ended(system, rebalance)
    assert outcome.step in (Step.DONE, Step.RETURNED)
    if outcome.step is Step.RETURNED:
        assert "went back" in outcome.message
    assert runs_once(system) == system.store.placements()["topic_count"].cluster
    wait_until(lambda: system.health()["status"] == "ok", 120, "everything is up again")
    if system.store.placements()["topic_count"].cluster != "narrow":
        assert system.command("move", "topic_count", "narrow").returncode == 0
