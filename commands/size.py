"""`size`: how many processors each operator of a problem needs, as JSON."""

import sys
from pathlib import Path

import msgspec

from controllers.model.errors import InvalidInput
from controllers.scaling.drs.sizing import read_problem, size


def run(
    problem_path: str,
    scaler: str = "drs",
    k_max: int | None = None,
    t_max_s: float | None = None,
    as_json: bool = True,
) -> int:
    """Print the answer to stdout and return 0; 2 and one sentence on stderr if there is none.

    `problem_path` "-" reads stdin. The output is JSON either way: on one line with
    `as_json`, else indented for a person.
    """
    try:
        raw = _read(problem_path)
        answer = size(read_problem(raw), scaler, k_max, t_max_s)
    except InvalidInput as error:
        print(str(error), file=sys.stderr)
        return 2
    text = msgspec.json.encode(answer)
    print((text if as_json else msgspec.json.format(text, indent=2)).decode())
    return 0


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"problem: {path} cannot be read ({error.strerror})", field="problem"
        ) from None
