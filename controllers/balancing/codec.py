"""Problems from JSON, with errors that name the field at fault."""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from weir.controllers.balancing.check import check
from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, PauseModel, Problem
from weir.controllers.model.errors import InvalidInput

_PARTS: Mapping[str, type[Any]] = {"bins": Bin, "items": Item, "flows": Flow}
_SINGLE: Mapping[str, type[Any]] = {"budget": Budget, "pause": PauseModel, "settings": dict}


def decode(text: bytes | str) -> Problem:
    """Read a problem and make sure that a planner can work with it.

    >>> decode('{"bins": [{"name": "a", "capacity": 2}], "items": []}').bins[0].capacity
    2.0
    >>> decode('{"bins": [{"name": "a"}], "items": []}')
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: bins[0].capacity is missing
    >>> decode('{"bins": [], "items": [], "budget": {"move": 1}}')
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: budget.move is no field of it; known: moves, cost
    """
    try:
        # Python's reader also takes NaN and Infinity, so that they can be refused by name.
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the problem is not valid JSON: {error}", field="problem") from None
    problem = from_builtins(raw)
    check(problem)
    return problem


def from_builtins(raw: Any) -> Problem:
    """A problem from plain dicts and lists; the types are checked, not yet the values."""
    if not isinstance(raw, dict):
        raise InvalidInput("the problem must be an object with bins and items", field="problem")
    for part, kind in _PARTS.items():
        rows = raw.get(part, [])
        if part != "flows" and part not in raw:
            raise InvalidInput(f"{part} is missing", field=part)
        if not isinstance(rows, list):
            raise InvalidInput(f"{part} must be a list", field=part)
        for index, row in enumerate(rows):
            _convert(row, kind, f"{part}[{index}]")
    raw = {key: value for key, value in raw.items() if key not in _SINGLE or value is not None}
    for part, kind in _SINGLE.items():
        if part in raw:
            _convert(raw[part], kind, part)
    problem: Problem = _convert(raw, Problem, "")
    return problem


def encode(problem: Problem) -> bytes:
    """The problem as JSON that `decode` reads.

    >>> encode(Problem(bins=(), items=(), budget=Budget(moves=3)))[:24]
    b'{"bins":[],"items":[],"f'
    """
    return msgspec.json.encode(problem)


def _convert(raw: Any, kind: type[Any], where: str) -> Any:
    if isinstance(raw, dict) and issubclass(kind, msgspec.Struct):
        # Only here: what is kept of an older or newer version is read as far as it is known.
        known = [field.encode_name for field in msgspec.structs.fields(kind)]
        for key in raw:
            if key not in known:
                place = f"{where}.{key}".strip(".")
                text = f"{place} is no field of it; known: {', '.join(known)}"
                raise InvalidInput(text, field=place)
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        place = (where + path.rstrip("`")).strip(".") or "problem"
        missing = re.match(r"Object missing required field `(.+)`", message)
        if missing:
            place = f"{place}.{missing[1]}"
            raise InvalidInput(f"{place} is missing", field=place) from None
        text = message[0].lower() + message[1:]
        raise InvalidInput(f"{place}: {text}", field=place) from None
