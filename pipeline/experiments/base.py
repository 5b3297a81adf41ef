"""What the work of an experiment is made of: parts that are done once each, and a conclusion.

A part gives a value that is kept as JSON. An experiment that was stopped goes on with the parts
that are missing, so a part is what one would not want to do twice, a few seconds or minutes.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct


class Bench:
    """What a part works with."""

    def __init__(
        self,
        quick: bool,
        folder: Path,
        runs: Path,
        tell: Callable[[str, float], None] = lambda said, share: None,
    ) -> None:
        self.quick = quick
        self.folder = folder  # scratch, of this experiment
        self.runs = runs  # where live runs are recorded
        self.tell = tell  # what it does now, and how much of the part is done, 0 to 1
        self.open = ExitStack()  # what parts share and is closed at the end, e.g. Spark
        self.shared: dict[str, Any] = {}


class Step(Struct, frozen=True):
    """One step of an experiment."""

    key: str  # a file's name
    says: str
    run: Callable[[Bench], Any]
    weight: float = 1.0  # its share of the time, beside the other parts


class Work(Struct, frozen=True, kw_only=True):
    """How an experiment is done."""

    parts: Callable[[bool], Sequence[Step]]  # of the quick or of the full size
    conclude: Callable[[bool, Mapping[str, Any]], Any]  # the values by key -> an Outcome
