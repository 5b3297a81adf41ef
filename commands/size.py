"""`size`: how many processors each operator of a problem needs, as JSON."""

import sys
from math import isfinite
from pathlib import Path

import msgspec

from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.drs.sizing import read_problem, size


def run(
    problem_path: str,
    scaler: str = "drs",
    k_max: int | str | None = None,
    t_max_s: float | str | None = None,
    as_json: bool = True,
) -> int:
    """Print the answer to stdout and return 0; 2 and one sentence on stderr if there is none.

    `problem_path` "-" reads stdin; `k_max` and `t_max_s` may come as a person typed them.
    The output is JSON either way: on one line with `as_json`, else indented for a person.
    """
    try:
        raw = _read(problem_path)
        answer = size(read_problem(raw), scaler, _count(k_max), _seconds(t_max_s))
    except InvalidInput as error:
        print(str(error), file=sys.stderr)
        return 2
    text = msgspec.json.encode(answer)
    print((text if as_json else msgspec.json.format(text, indent=2)).decode())
    return 0


def _count(k_max: int | str | None) -> int | None:
    try:
        count = None if k_max is None else int(k_max)
    except ValueError:
        count = 0
    if count is not None and count < 1:
        raise InvalidInput(f"k_max: {k_max} is not a whole number of at least 1", field="k_max")
    return count


def _seconds(t_max_s: float | str | None) -> float | None:
    try:
        seconds = None if t_max_s is None else float(t_max_s)
    except ValueError:
        seconds = 0.0
    if seconds is not None and not (isfinite(seconds) and seconds > 0.0):
        raise InvalidInput(f"t_max: {t_max_s} is not a number of seconds above 0", field="t_max")
    return seconds


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"problem: {path} cannot be read ({error.strerror})", field="problem"
        ) from None
