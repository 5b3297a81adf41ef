"""The integrative framework: plan, let scaling judge on the plan, plan again.

    drained bins go -> plan -> does scaling want something, given this plan?
                                 no: that is the plan
                                 yes: plan again on the bins as they will be

A rebalance that cures an overload thereby suppresses the scale-out, and a
scale-in only happens if what remains can be balanced.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.balancing.albic import Albic
from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Placed, Planner, Remaining
from weir.controllers.balancing.milp import Milp
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Problem

Judge = Callable[[Problem, Plan], Problem | None]
"""Scaling's answer to a plan: the problem as it will be after scaling, or None."""


class Integrated(Struct, frozen=True, kw_only=True):
    """What to do: end these bins, scale or not, and then this plan."""

    ended: tuple[str, ...]  # bins that were to be emptied and are
    scaled: bool
    problem: Problem  # as it will be: the plan's bins
    plan: Plan


def no_scaling(problem: Problem, plan: Plan) -> None:
    """The judge that never scales."""
    del problem, plan


def integrate(
    problem: Problem,
    planner: Planner,
    judge: Judge = no_scaling,
    *,
    seed: int = 0,
    remaining_s: Remaining | None = None,
) -> Integrated:
    """One period of the framework.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.6, bin="a"), Item(name="y", load=0.5, bin="a")),
    ... )
    >>> def judge(problem, plan):  # one more bin if any is over 90 % after the plan
    ...     if max(plan.after.load.values()) > 90.0:
    ...         return replace(problem, bins=(*problem.bins, Bin(name="new", capacity=1.0)))
    >>> done = integrate(problem, Milp(), judge)
    >>> done.scaled, len(done.plan.moves)  # a is at 110 % now, but the plan cures it
    (False, 1)

    Madsen, Zhou, Cao, ICDE 2017, algorithm 1.
    """
    in_use = {item.bin for item in problem.items}
    ended = tuple(b.name for b in problem.bins if not b.keep and b.name not in in_use)
    problem = _without(problem, ended)
    plan = planner.plan(problem, seed=seed, remaining_s=remaining_s)
    scaled = judge(problem, plan)
    if scaled is None:
        return Integrated(ended=ended, scaled=False, problem=problem, plan=plan)
    plan = planner.plan(scaled, seed=seed, remaining_s=remaining_s)
    return Integrated(ended=ended, scaled=True, problem=scaled, plan=plan)


def _without(problem: Problem, ended: tuple[str, ...]) -> Problem:
    """The problem without these bins."""
    if not ended:
        return problem
    items = tuple(
        item
        if item.allowed is None
        else replace(item, allowed=tuple(name for name in item.allowed if name not in ended))
        for item in problem.items
    )
    bins = tuple(b for b in problem.bins if b.name not in ended)
    return replace(problem, bins=bins, items=items)


class Integrative(Planner):
    """The framework as a planner: ALBIC where there is traffic, the optimiser elsewhere.

    Without a judge it never scales, so its plan is for the bins that there are.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.6, bin="a"), Item(name="y", load=0.5, bin="a")),
    ... )
    >>> Integrative().plan(problem).planner
    'integrative'
    """

    name: ClassVar[str] = "integrative"
    label: ClassVar[str] = "Integrative framework"
    most_items: ClassVar[int] = 3000

    def __init__(self, settings: Struct | None = None, judge: Judge = no_scaling) -> None:
        super().__init__(settings)
        self.judge = judge

    def plan(
        self, problem: Problem, *, seed: int = 0, remaining_s: Remaining | None = None
    ) -> Plan:
        """The framework's plan; what was scaled is in `integrate`'s answer."""
        inner: Planner = Albic() if problem.flows else Milp()
        Arrays.of(problem)  # refuse what makes no sense before anything is left out
        done = integrate(problem, inner, self.judge, seed=seed, remaining_s=remaining_s)
        ended = dict.fromkeys(done.ended, 0.0)  # still shown, as the caller knows them
        before, after = done.plan.before, done.plan.after
        return replace(
            done.plan,
            planner=self.name,
            before=replace(before, load=before.load | ended),
            after=replace(after, load=after.load | ended),
        )

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """Where the framework puts the items, without scaling."""
        inner: Planner = Albic() if problem.flows else Milp()
        return inner.place(problem, arrays, rng, remaining_s)
