"""The planning process: asked, answered, late, killed; the engine goes on in every case."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

import weir
from tests.support.waiting import wait_until
from tests.unit.controllers.balancing.problems import simple
from tests.unit.controllers.engine.engine_world import World
from tests.unit.pipeline.engine.stuck_engine import STUCK
from weir.controllers.balancing.base import planners
from weir.controllers.balancing.problem import Problem
from weir.pipeline.engine.planning import (
    KILL_S,
    LATE_S,
    LEFT_OUT_S,
    RESTART_S,
    Planning,
    PlanningAnswer,
    PlanningRequest,
)
from weir.pipeline.engine.process import Engine

WATCHDOG_S = 300.0  # a worker may compile first, on a machine that is busy


class Clock:
    """Time for the engine's side alone: nothing is late on a slow machine by itself."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def until(done: Callable[[], object]) -> None:
    wait_until(done, WATCHDOG_S, "the worker answers")


def hanging() -> Problem:
    problem = simple([[60.0, 30.0], [5.0]])
    items = (problem.items[0], *problem.items[2:])
    return Problem(
        bins=problem.bins, items=(*items, type(items[0])(name="hang", load=9.0, bin="b0"))
    )


def ask_of(problem: Problem, planning: Planning) -> PlanningRequest:
    return PlanningRequest(
        problem=problem, at=5.0, chosen="milp", auto=False, turn=0, left_out=planning.left_out
    )


def ready(planning: Planning) -> Planning:
    until(lambda: planning.collect() or planning.free)
    return planning


def answer(planning: Planning) -> PlanningAnswer:
    found: list[PlanningAnswer] = []
    until(lambda: found or [found.append(a) for a in [planning.collect()] if a])
    return found[0]


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def planning(clock: Clock) -> Iterator[Planning]:
    planning = Planning(STUCK, clock=clock)
    yield planning
    planning.close()


def test_an_answer_is_for_the_problem_that_was_asked(planning: Planning):
    planning.collect()
    assert planning.words == "the planners are being loaded"
    ready(planning)
    problem = simple([[60.0, 30.0], [5.0]])
    planning.ask(ask_of(problem, planning))
    assert not planning.free
    view = answer(planning).view
    assert (view.problem, view.at, planning.words) == (problem, 5.0, "")
    assert [p.plan.planner for p in view.proposals] == sorted([*planners(), "stuck"])
    (best,) = (p.plan for p in view.proposals if p.plan.planner == "milp")
    assert best.moves


def test_a_planner_that_hangs_is_named_killed_and_left_out(planning: Planning, clock: Clock):
    ready(planning)
    planning.ask(ask_of(hanging(), planning))
    until(lambda: planning.collect() or planning._planner == "stuck")
    clock.now += LATE_S + 1.0
    assert planning.words == "planning is late: stuck has been at it for 6 s"
    worker = planning._worker
    clock.now += KILL_S
    assert planning.collect() is None
    assert worker._process.returncode == -signal.SIGKILL
    said = f"stuck was stopped after {KILL_S:.0f} s"
    assert planning.words == f"{said}; planning begins again"
    clock.now += RESTART_S
    ready(planning)
    planning.ask(ask_of(hanging(), planning))
    view = answer(planning).view
    assert view.left_out == {"stuck": said}
    (row,) = (p for p in view.proposals if p.plan.planner == "stuck")
    assert (row.words, row.plan.moves) == (f"Left out: {said}.", ())
    assert planning.words == ""
    clock.now += LEFT_OUT_S
    assert planning.left_out == {}


def test_a_worker_that_dies_is_replaced(planning: Planning, clock: Clock):
    ready(planning)
    planning._worker._process.kill()
    until(lambda: planning.collect() or planning._worker is None)
    assert planning.words == "the planning process was ended; planning begins again"
    clock.now += RESTART_S
    ready(planning)
    planning.ask(ask_of(simple([[60.0, 30.0], [5.0]]), planning))
    assert answer(planning).view.proposals


def test_a_worker_that_cannot_start_is_said_and_nothing_else_stops():
    world = World(a={"count": 0.6, "rank": 0.5}, b={"top": 0.1})
    engine = Engine(world.store, planning=Planning(("/nowhere/python",)))
    for _ in range(4):
        world.tick()
        engine.cycle(world.now)
    view = world.store.outlook()
    assert view.wait.startswith("the planning process cannot start: ")
    assert {p.words for p in view.proposals} == {f"Left out: {view.wait}."}
    assert view.distance[-1][0] == view.at
    assert "cannot start" in next(p.detail for p in world.store.parts() if p.id == engine._id)


def test_the_engine_goes_on_while_a_planner_hangs_and_plans_without_it_afterwards(
    planning: Planning, clock: Clock
):
    world = World(a={"hang": 0.6, "count": 0.5}, b={"top": 0.1})
    engine = Engine(world.store, planning=ready(planning))

    def cycle() -> None:
        world.tick()
        engine.cycle(world.now)

    cycle()
    until(lambda: planning._planner == "stuck" or planning.collect())
    clock.now += LATE_S + 1.0
    for _ in range(4):
        cycle()
    assert world.store.lease("engine") is not None
    assert world.store.outlook().wait == "planning is late: stuck has been at it for 6 s"
    clock.now += KILL_S
    for _ in range(4):
        cycle()
    assert world.store.outlook().wait.startswith("stuck was stopped after")
    clock.now += RESTART_S
    until(lambda: cycle() or world.store.outlook().left_out.keys() == {"stuck"})
    assert "stuck" not in world.store.outlook().wait


def test_sigterm_ends_an_engine_whose_planner_hangs():
    engine = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.pipeline.engine.stuck_engine"],
        cwd=weir.ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with engine:
        try:
            lines = iter(engine.stdout.readline, "")
            assert next(line for line in lines if "stuck has been at it" in line).startswith("True")
            engine.send_signal(signal.SIGTERM)
            rest, _ = engine.communicate(timeout=WATCHDOG_S)
        finally:
            engine.kill()
    assert rest.endswith("ended\n")
    assert engine.returncode == 0


def test_a_worker_whose_engine_has_ended_says_nothing() -> None:
    """As with a Redis that cannot be reached: the engine's sentence is all that people see."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "weir.pipeline.engine.planning"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=weir.ROOT,
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stderr is not None
    worker.stdin.close()
    worker.stdout.close()
    assert worker.stderr.read() == b""
    assert worker.wait(WATCHDOG_S) == 0
    worker.stderr.close()
