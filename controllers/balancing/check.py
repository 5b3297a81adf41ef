"""Whether a problem makes sense: known bins, names given once, finite numbers."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weir.controllers.balancing.problem import Problem, resource_map
from weir.controllers.model.errors import InvalidInput


def check(problem: Problem) -> None:
    """Raise InvalidInput that names the first field at fault.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> check(Problem(bins=(Bin(name="a", capacity=1.0),),
    ...               items=(Item(name="x", load=float("nan"), bin="a"),)))
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: items[0].load must be a finite number of at least 0
    """
    bins, items, flows = problem.bins, problem.items, problem.flows
    known_bins = _once("bins", [b.name for b in bins])
    known_items = _once("items", [i.name for i in items])
    _numbers("bins", "capacity", [b.capacity for b in bins], above_zero=True)
    _numbers("items", "load", [i.load for i in items])
    _numbers("items", "move_cost", [i.move_cost for i in items])
    _numbers("flows", "rate", [f.rate for f in flows])
    _require_known("items", "bin", [i.bin for i in items], known_bins, "bin")
    _require_known("flows", "from", [f.source for f in flows], known_items, "item")
    _require_known("flows", "to", [f.target for f in flows], known_items, "item")
    for at, item in enumerate(items):
        for name in item.allowed or ():
            if name not in known_bins:
                _fail(f"items[{at}].allowed", f"names the unknown bin '{name}'")
    _check_nested("items", "series", items, lambda i: i.series)
    _check_nested("items", "resources", items, lambda i: resource_map(i.resources).values())
    _check_nested("bins", "resources", bins, lambda b: resource_map(b.resources).values())
    _budget(problem)
    _ranges(problem)


def _once(part: str, names: list[str]) -> set[str]:
    known = set(names)
    if len(known) != len(names):
        seen: set[str] = set()
        for index, name in enumerate(names):
            if name in seen:
                _fail(f"{part}[{index}].name", f"'{name}' is given twice")
            seen.add(name)
    return known


def _numbers(part: str, name: str, values: list[float], above_zero: bool = False) -> None:
    array = np.asarray(values, dtype=np.float64)
    good = np.isfinite(array) & ((array > 0) if above_zero else (array >= 0))
    if not good.all():
        least = "above 0" if above_zero else "of at least 0"
        _fail(f"{part}[{int(np.argmin(good))}].{name}", f"must be a finite number {least}")


def _require_known(part: str, name: str, values: list[str], known: set[str], what: str) -> None:
    if not known.issuperset(values):
        index = next(i for i, value in enumerate(values) if value not in known)
        _fail(f"{part}[{index}].{name}", f"names the unknown {what} '{values[index]}'")


def _check_nested(
    part: str, name: str, rows: Sequence[Any], values: Callable[[Any], Iterable[float]]
) -> None:
    if not any([getattr(row, name) for row in rows]):  # noqa: C419 - a list is twice as fast here
        return
    for index, row in enumerate(rows):
        found = values(row)
        if found and not all(0.0 <= value < float("inf") for value in found):
            _fail(f"{part}[{index}].{name}", "must hold finite numbers of at least 0")


def _budget(problem: Problem) -> None:
    budget = problem.budget
    if budget.moves is not None and budget.moves < 0:
        _fail("budget.moves", "must be at least 0")
    if budget.cost is not None and not 0.0 <= budget.cost < float("inf"):
        _fail("budget.cost", "must be a finite number of at least 0")
    for name in ("base_s", "s_per_cost"):
        if not 0.0 <= getattr(problem.pause, name) < float("inf"):
            _fail(f"pause.{name}", "must be a finite number of at least 0")


def _ranges(problem: Problem) -> None:
    """Refuse what would overflow: figures are squares of load over capacity."""
    if not problem.bins:
        if problem.items:
            _fail("bins", "must hold at least one bin, as there are items")
        return
    most_load = max([i.load for i in problem.items], default=0.0)
    least = min(b.capacity for b in problem.bins)
    most = max(b.capacity for b in problem.bins)
    if most_load * max(len(problem.items), 1) / least > 1e100 or most / least > 1e100:
        _fail("bins.capacity", "is out of proportion to the loads and to the other bins")
    if max([i.move_cost for i in problem.items], default=0.0) > 1e150:
        _fail("items.move_cost", "must be at most 1e150")


def _fail(place: str, message: str) -> None:
    raise InvalidInput(f"{place} {message}", field=place)
