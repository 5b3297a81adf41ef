"""The checks of `weir.checks` find what is wrong with a planner or scaler of one's own."""

from collections.abc import Callable
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pytest

from weir.checks import CheckFailed, check_planner, check_scaler
from weir.controllers.balancing.base import Placed, Planner
from weir.controllers.model.decision import NoChange, Prediction, Reason, Scale
from weir.controllers.scaling.answers import stay
from weir.controllers.scaling.base import Memory, Scaler


class Moody(Planner):
    """Another place each time."""

    name: ClassVar[str] = "moody"
    calls = count()

    def place(self, problem, arrays, rng, remaining_s) -> Placed:
        place = arrays.home.copy()
        at = int(np.flatnonzero(arrays.movable)[0])
        turned = (int(place[at]) + next(self.calls) % 2) % len(arrays.keep)
        if arrays.keep[turned] and problem.items[at].allowed is None:
            place[at] = turned
        return Placed(place if arrays.affords(place) else arrays.home, Reason(text="A mood."))


class Silent(Planner):
    """Gives no reason."""

    name: ClassVar[str] = "silent"

    def place(self, problem, arrays, rng, remaining_s) -> Placed:
        return Placed(arrays.home, Reason(text=""))


class Greedy(Planner):
    """Everything on one bin, whatever is allowed: the base refuses that."""

    name: ClassVar[str] = "greedy"

    def place(self, problem, arrays, rng, remaining_s) -> Placed:
        return Placed(np.zeros_like(arrays.home), Reason(text="All on one."))


def scaler(judge: Callable[..., Any]) -> type[Scaler[Any, Any]]:
    return type("Own", (Scaler,), {"name": "own", "title": "Own", "judge": judge})


def size(executors: int) -> Callable[..., Any]:
    def judge(self, facts, memory, now):
        prediction = Prediction(executors={"a": executors})
        reason = Reason(text="As it is told.", rule="told")
        decision = Scale(
            cluster="a", executors=executors, before=facts.executors, reason=reason,
            prediction=prediction,
        )  # fmt: skip
        return decision, memory

    return judge


def quiet(self, facts, memory, now):
    return stay("All is well.", "told"), memory


calls = count()


@pytest.mark.parametrize(
    ("own", "said"),
    [(Moody, "two plans with one seed differ"), (Silent, "no reason"), (Greedy, "greedy")],
)
def test_a_planner_that_breaks_a_rule_is_told_which(own: type[Planner], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_planner(own())


def test_a_scaler_that_keeps_to_the_rules_passes() -> None:
    check_scaler(scaler(quiet))


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (size(30), "more than the limit"),
        (lambda self, facts, memory, now: (None, memory), "answers with NoneType"),
        (lambda self, facts, memory, now: (stay("No end", "told"), memory), "no sentence"),
        (
            lambda self, facts, memory, now: (stay("Odd.", "told", x=float("nan")), memory),
            "not finite",
        ),
        (
            lambda self, facts, memory, now: (stay(f"{next(calls)} times.", "told"), memory),
            "another answer after a restart",
        ),
    ],
)
def test_a_scaler_that_breaks_a_rule_is_told_which(judge: Callable[..., Any], said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        check_scaler(scaler(judge))


def test_memory_that_forgets_is_found() -> None:
    class Forgetful(Memory, frozen=True, kw_only=True):
        seen: int = 0

    def judge(self, facts, memory, now):
        return stay("All is well.", "told"), Forgetful(seen=memory.seen + 1)

    own = scaler(judge)
    own.memory_type = Memory  # what it reads back is another kind
    with pytest.raises((CheckFailed, AttributeError)):
        check_scaler(own)


def test_no_change_is_an_answer() -> None:
    assert isinstance(stay("All is well.", "told"), NoChange)
