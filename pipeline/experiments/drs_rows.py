"""What goes through DRS's two applications in its experiments: rows, and the rows they lead to.

What follows from a frame or a message is worked out ahead by the applications' own code: how many
features a frame has, which of them match a logo, which patterns a message makes frequent. A row
holds how long its processor works on it and what it sends on, so every allocation of processors
gets exactly the same work at the same times.
"""

from collections import Counter, deque
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct

from weir.pipeline.workloads.frames import frames, logo_features, pixels_of
from weir.pipeline.workloads.frequent_patterns import ENOUGH, WINDOW, smaller
from weir.pipeline.workloads.item_sets import item_sets, patterns
from weir.pipeline.workloads.vision import features, match

FRAMES, CHUNK = 96, 5
"""Frames of the video, which is shown again and again; features in a row for the matcher."""


class Row(Struct, frozen=True, array_like=True):
    """One row: for which operator, how long a processor works on it, and what follows."""

    operator: str
    work_s: float
    then: "tuple[Row, ...]" = ()

    @property
    def rows(self) -> int:
        """This one and all that follow."""
        return 1 + sum(r.rows for r in self.then)

    @property
    def total_s(self) -> float:
        """The work of this one and all that follow."""
        return self.work_s + sum(r.total_s for r in self.then)

    def faster(self, by: float) -> "Row":
        """With all of its times divided."""
        return Row(self.operator, self.work_s / by, tuple(r.faster(by) for r in self.then))


class Arrival(Struct, frozen=True, array_like=True):
    """A row from outside, and when it comes, in seconds from the start."""

    at: float
    row: Row

    def faster(self, by: float) -> "Arrival":
        """The same with all times divided."""
        return Arrival(self.at / by, self.row.faster(by))


class Queued(Struct, frozen=True, array_like=True):
    """A row in a queue: from which arrival it stems and when it came."""

    arrival: int
    at: float
    row: Row


class Served(Struct, frozen=True, array_like=True):
    """A row that is done; times are of one clock that all processes of the machine share."""

    arrival: int
    operator: str
    came: float
    begun: float
    done: float
    sent: dict[str, int]  # rows passed on, by operator


class VideoCost(Struct, frozen=True, kw_only=True):
    """Mean seconds that a processor works on a frame, on a chunk of features, on one's matches."""

    extract_s: float
    match_s: float
    aggregate_s: float


class PatternCost(Struct, frozen=True, kw_only=True):
    """Mean seconds for a message, a pattern and a report."""

    generate_s: float
    detect_s: float
    report_s: float


VIDEO = ("extract", "match", "aggregate")
PATTERNS = ("generate", "detect", "report")


@cache
def seen() -> tuple[tuple[int, int], ...]:
    """Features of each frame, and how many match a logo, by the application's own code."""
    found = []
    for text in frames(0, FRAMES):
        described = features(pixels_of(text.as_py())[1])
        names = match(described, *logo_features())
        found.append((len(described), int((names >= 0).sum())))
    return tuple(found)


def video(times: np.ndarray, cost: VideoCost) -> list[Arrival]:
    """A frame at each of these times.

    To find features takes a quarter of its time anyway and the rest by their number.
    """
    counts = seen()
    mean = float(np.mean([n for n, _ in counts]))
    shown = []
    for number, at in enumerate(times.tolist()):
        count, near = counts[number % len(counts)]
        chunks = []
        for first in range(0, count, CHUNK):
            size = min(CHUNK, count - first)
            decided = (Row("aggregate", cost.aggregate_s),) if first < near else ()
            chunks.append(Row("match", cost.match_s * size / CHUNK, decided))
        work_s = cost.extract_s * (0.25 + 0.75 * count / mean)
        shown.append(Arrival(at, Row("extract", work_s, tuple(chunks))))
    return shown


def messages(times: np.ndarray, cost: PatternCost) -> list[Arrival]:
    """A message at each of these times; by turns one enters the window and the oldest leaves."""
    texts = [t.as_py().split(",")[1].split() for t in item_sets(0, WINDOW + len(times))]
    held = deque(texts[:WINDOW])
    state = _Detector()
    for items in held:
        state.take(items, 1)
    mean = float(np.mean([len(patterns(t)) for t in texts]))
    made, coming = [], iter(texts[WINDOW:])
    for number, at in enumerate(times.tolist()):
        if number % 2:
            items, change = held.popleft(), -1
        else:
            items, change = next(coming), 1
            held.append(items)
        found = state.take(items, change)
        work_s = cost.generate_s * len(found) / mean
        rows = tuple(_detected(reports, loops, cost) for reports, loops in found)
        made.append(Arrival(at, Row("generate", work_s, rows)))
    return made


class _Detector:
    """Which patterns are frequent, and what is said when one begins or ceases to be."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._larger: Counter[str] = Counter()
        self._reported: set[str] = set()

    def take(self, items: list[str], change: int) -> list[tuple[int, tuple[int, ...]]]:
        """For each pattern of a message: its reports, and those of each row through the loop."""
        found = []
        for pattern in patterns(items):
            was = self._count[pattern] >= ENOUGH
            self._count[pattern] += change
            loops: list[int] = []
            if (self._count[pattern] >= ENOUGH) != was:
                for below in smaller(pattern):
                    self._larger[below] += -1 if was else 1
                    loops.append(self._reports(below))
            found.append((self._reports(pattern), tuple(loops)))
        return found

    def _reports(self, pattern: str) -> int:
        """1 if it is now reported as maximal and was not, or the other way round."""
        now = self._count[pattern] >= ENOUGH and self._larger[pattern] <= 0
        if now == (pattern in self._reported):
            return 0
        (self._reported.add if now else self._reported.discard)(pattern)
        return 1


def _detected(reports: int, loops: tuple[int, ...], cost: PatternCost) -> Row:
    said = Row("report", cost.report_s)
    back = tuple(Row("detect", cost.detect_s, (said,) * n) for n in loops)
    return Row("detect", cost.detect_s, back + (said,) * reports)


def even(length_s: float, slot_s: float, rates: Any) -> np.ndarray:
    """Times at one rate in each slot, evenly within it."""
    times, owed = [], 0.0
    for slot, rate in enumerate(rates):
        begin = slot * slot_s
        if begin >= length_s:
            break
        while owed < rate * slot_s:
            times.append(begin + owed / rate)
            owed += 1.0
        owed -= rate * slot_s
    found = np.array(times)
    return found[found < length_s]


def varied(length_s: float, least: float, most: float, slot_s: float, seed: int) -> np.ndarray:
    """Times at a rate that is drawn uniformly for each slot."""
    chance = np.random.default_rng(seed)
    return even(length_s, slot_s, chance.uniform(least, most, int(length_s / slot_s) + 1))


def poisson(length_s: float, rate: float, seed: int) -> np.ndarray:
    """Times of a Poisson process."""
    chance = np.random.default_rng(seed)
    gaps = chance.exponential(1.0 / rate, int(2 * rate * length_s) + 20)
    times = np.cumsum(gaps)
    return np.asarray(times[times < length_s])
