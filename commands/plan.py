"""`weir plan`: a balancing problem in, a plan (or every planner's plan) out, as JSON."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import fields, replace

from weir.commands.terminal import others_aside
from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import own_settings, planners
from weir.controllers.balancing.base import planner as planner_of
from weir.controllers.balancing.bound import lower_bound
from weir.controllers.balancing.codec import decode
from weir.controllers.balancing.plan import Plan, as_dict
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem
from weir.controllers.model.errors import InvalidInput, WeirError

ALL = "all"
N = TypeVar("N", int, float)
_WARM = Problem(
    bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    items=tuple(Item(name=f"i{k}", load=k + 1.0, bin="a") for k in range(4)),
    flows=(Flow(source="i0", target="i1", rate=1.0),),
)


def run(
    problem_path: str,
    planner: str,
    moves: int | str | None = None,
    cost: float | str | None = None,
    time_limit_s: float | str | None = None,
    seed: int | str = 0,
    as_json: bool = False,
) -> int:
    """Print the plan; 0, or 2 with one sentence on stderr if the input is no good.

    `-` reads the problem from standard input. `moves` and `cost` replace the
    problem's own budget; numbers may come as a person typed them. With the planner
    "all", a table of all planners, or with `as_json` a list.
    """
    try:
        most_moves = _number(moves, int, "moves must be a whole number of at least 0")
        most_cost = _number(cost, float, "cost must be a finite number of at least 0")
        limit_s = _number(
            time_limit_s, float, "time-limit must be a number of seconds of at least 0"
        )
        number = _number(seed, int, "seed must be a whole number of at least 0")
        problem = _with_budget(decode(_read(problem_path)), most_moves, most_cost)
        if planner == ALL:
            problem = replace(problem, settings=_shared_settings(problem.settings))
        names = list(planners()) if planner == ALL else [planner]
        with others_aside():
            plans = [_plan_timed(problem, name, limit_s, number or 0) for name in names]
    except (WeirError, OSError, UnicodeDecodeError) as error:
        print(_sentence(error), file=sys.stderr)
        return 2
    if planner != ALL:
        print(json.dumps(as_dict(plans[0]), indent=2))
    elif as_json:
        print(json.dumps([as_dict(plan) for plan in plans], indent=2))
    else:
        print(_comparison(plans))
    return 0


def _read(path: str) -> bytes:
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def _number(given: float | str | None, kind: Callable[[Any], N], wanted: str) -> N | None:
    """What was typed as a number; `wanted` begins with the name of the option."""
    if given is None:
        return None
    try:
        number = kind(given)
    except (ValueError, OverflowError):
        number = kind(-1)
    if not 0.0 <= number < float("inf"):
        raise InvalidInput(wanted, field=wanted.split()[0])
    return number


def _with_budget(problem: Problem, moves: int | None, cost: float | None) -> Problem:
    budget = problem.budget
    return replace(
        problem,
        budget=Budget(
            moves=budget.moves if moves is None else moves,
            cost=budget.cost if cost is None else cost,
        ),
    )


def _shared_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings for all planners at once: each takes those that it declares."""
    known = {name: {f.encode_name for f in fields(p.Settings)} for name, p in planners().items()}
    for key in settings:
        if key not in known and not any(key in names for names in known.values()):
            raise InvalidInput(f"settings.{key} is no setting of any planner", f"settings.{key}")
    return {
        name: {k: v for k, v in settings.items() if k in names} | own_settings(settings, name)
        for name, names in known.items()
    }


def _plan_timed(problem: Problem, name: str, time_limit_s: float | None, seed: int) -> Plan:
    planner_of(name).plan(_WARM)  # so that the seconds are planning, not loading compiled code
    begin = time.perf_counter()
    remaining = None if time_limit_s is None else lambda: begin + time_limit_s - time.perf_counter()
    plan = planner_of(name).plan(problem, seed=seed, remaining_s=remaining)
    plan = plan.timed(time.perf_counter() - begin)
    if plan.bound is None:  # only some planners need it for themselves
        plan = replace(plan, bound=lower_bound(Arrays.of(problem)))
    return plan


def _comparison(plans: list[Plan]) -> str:
    header = ["planner", "distance before", "after", "bound", "moves", "cost", "variance",
              "correlation", "collocation", "pause s", "ms"]  # fmt: skip
    rows: list[list[Any]] = [
        [p.planner, p.before.load_distance, p.after.load_distance, p.bound, len(p.moves),
         p.migration_cost, p.after.variance, p.after.correlation_sum, p.after.collocation,
         p.predicted_pause_s, 1000.0 * (p.seconds or 0.0)]
        for p in plans
    ]  # fmt: skip
    cells = [header, *[[f"{c:.3g}" if isinstance(c, float) else str(c) for c in r] for r in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    return "\n".join(
        "  ".join(
            c.ljust(w) if k == 0 else c.rjust(w)
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"the problem file cannot be read: {error.strerror or error}"
    text = " ".join(str(error).split())
    return text if text.endswith(".") else f"{text}."
