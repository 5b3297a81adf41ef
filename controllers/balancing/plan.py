"""What every planner answers: where each item goes, in which order, and what it brings."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from weir.controllers.balancing.arrays import Arrays, Ints
from weir.controllers.balancing.figures import PlanFigures, figures
from weir.controllers.balancing.order import order_moves
from weir.controllers.balancing.problem import Problem
from weir.controllers.model.decision import Decision, Move, Moves, NoChange, Prediction, Reason


class Plan(Struct, frozen=True, kw_only=True):
    """A new placement with its moves and its figures before and after."""

    planner: str
    placement: dict[str, str]
    moves: tuple[Move, ...]
    before: PlanFigures
    after: PlanFigures
    migration_cost: float
    predicted_pause_s: float  # over all moved items
    reason: Reason
    bound: float | None = None  # no plan within the budget can have a smaller load distance
    seconds: float | None = None  # added by a caller that has a clock

    @property
    def decision(self) -> Decision:
        """The plan as the engine's decision."""
        if not self.moves:
            return NoChange(reason=self.reason)
        return Moves(
            moves=self.moves,
            reason=self.reason,
            prediction=Prediction(
                load={name: points / 100.0 for name, points in self.after.load.items()},
                pause_s=self.predicted_pause_s,
                cost=self.migration_cost,
            ),
        )

    def timed(self, seconds: float) -> "Plan":
        """With the time that it took to find."""
        return replace(self, seconds=seconds)


def plan_of(
    planner: str,
    problem: Problem,
    arrays: Arrays,
    place: Ints,
    reason: Reason,
    bound: float | None = None,
) -> Plan:
    """The plan that brings every item to `place` (item position -> bin position)."""
    names = [b.name for b in problem.bins]
    order = order_moves(arrays, place)
    moves = tuple(
        Move(operator=problem.items[i].name, source=problem.items[i].bin, target=names[place[i]])
        for i in order
    )
    costs = [problem.items[i].move_cost for i in order]
    pause = problem.pause
    before = figures(problem, arrays, arrays.home)
    return Plan(
        planner=planner,
        placement={i.name: names[p] for i, p in zip(problem.items, place.tolist(), strict=True)},
        moves=moves,
        before=before,
        after=figures(problem, arrays, place) if moves else before,
        migration_cost=math.fsum(costs),
        predicted_pause_s=float(sum(pause.base_s + pause.s_per_cost * c for c in costs)),
        reason=reason,
        bound=bound,
    )


def as_dict(plan: Plan) -> Mapping[str, Any]:
    """The plan as the command line prints it."""
    before = {f"{key}_before": value for key, value in asdict(plan.before).items()}
    after = {f"{key}_after": value for key, value in asdict(plan.after).items()}
    both = {
        key: value
        for pair in zip(before.items(), after.items(), strict=True)
        for key, value in pair
    }
    return {
        "planner": plan.planner,
        "placement": plan.placement,
        "moves": [{"item": m.operator, "from": m.source, "to": m.target} for m in plan.moves],
        **both,
        "migration_cost": plan.migration_cost,
        "predicted_pause_s": plan.predicted_pause_s,
        "bound": plan.bound,
        "seconds": plan.seconds,
        "reason": plan.reason.text,
    }
