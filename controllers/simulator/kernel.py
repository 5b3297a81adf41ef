"""One operator alone on one cluster, from event to event, compiled.

The same rules as in `world`: what is fed, taken, planned, worked on and committed, and
when. The state is one array of figures; the queue is a line of parcels, one per period.
What a period shows goes into a row of its own, so that periods in which nobody decides pass
without Python.
"""

from math import ceil, cos, exp, floor, inf, log, pi, sin, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

(
    PHASE, AT, BEGAN, LEFT, SPEED, SINCE, FED, ARRIVED, COMMITTED, HEAD, TAIL, QUEUED,
    BATCH, FIRST, MEDIAN, BATCH_ID, BATCH_AT, BATCH_ROWS, PROCESSING, SCHEDULING, LATENCY,
    LATENCY_MAX, COST, RATE, PERIOD_ROWS, PERIOD_BATCHES, BUSY, BEFORE, DRAWN, COMMITS, OLDEST,
) = range(31)  # fmt: skip
FIGURES = 31
(
    TRIGGER, OVERHEAD, BATCH_WORK, STRETCH, PARALLELISM, MOST_ROWS, OFFSET, BEGIN, QUEUED_FIRST,
) = range(9)  # fmt: skip
"""Of the operator's model; parallelism and most rows are 0 where there is no limit."""
END, ROWS_PER_S, COST_S = range(3)
"""What is given for a period."""
(
    SEEN_RATE, SEEN_PROCESSED, SEEN_COST, SEEN_BUSY_S, SEEN_LENGTH_S, SEEN_QUEUE, SEEN_PROCESSING,
    SEEN_SCHEDULING, SEEN_LATENCY, SEEN_LATENCY_MAX, SEEN_BATCH_ID, SEEN_BATCH_AT,
    SEEN_BATCH_ROWS, SEEN_BATCHES, SEEN_ROWS, SEEN_ARRIVED,
) = range(16)  # fmt: skip
SEEN = 16
"""What is seen at the end of a period; a batch id below 0: no batch has ended yet."""

WAITING, PLANNING, WORKING = 0.0, 1.0, 2.0
_NOTHING = 1e-9
_POLL_S = 0.1


@njit(cache=True)
def usable(cores: float, parallelism: float) -> float:
    """As `model.usable_cores`."""
    if parallelism <= 0.0 or cores < 1.0:
        return cores
    return parallelism / ceil(parallelism / cores - 1e-9)


@njit(cache=True)
def boundary(at: float, interval_s: float) -> float:
    """The next whole multiple of the interval after a moment."""
    return (floor(at / interval_s + 1e-9) + 1.0) * interval_s


@njit(cache=True)
def feed(s: Floats, queue: Floats, rate: float, period: int, now: float) -> None:
    """Queue what has arrived since the last look; one parcel per period."""
    if rate > 0.0 and now > s[FED]:
        rows = rate * (now - s[FED])
        head, tail = int(s[HEAD]), int(s[TAIL])
        if tail > head and queue[tail - 1, 3] == period:
            queue[tail - 1, 0] += rows
            queue[tail - 1, 2] = now
        else:
            if tail == head:
                head = tail = 0
            queue[tail, 0], queue[tail, 1], queue[tail, 2] = rows, s[FED], now
            queue[tail, 3] = period
            s[HEAD], s[TAIL] = head, tail + 1
        s[QUEUED] += rows
        s[ARRIVED] += rows
    s[FED] = now


@njit(cache=True)
def take(s: Floats, queue: Floats, most: float) -> bool:
    """A batch from the front of the line; False where nothing waits."""
    head, tail = int(s[HEAD]), int(s[TAIL])
    left = s[QUEUED] if most <= 0.0 or most >= s[QUEUED] else most
    if left <= _NOTHING or head >= tail:
        return False
    total, half = left, left / 2.0
    first = queue[head, 1]
    median = end = first
    found = False
    while left > _NOTHING and head < tail:
        rows, since, until = queue[head, 0], queue[head, 1], queue[head, 2]
        if rows <= left + _NOTHING:
            head += 1
            used, end = rows, until
        else:
            used, end = left, since + (until - since) * left / rows
            queue[head, 0], queue[head, 1] = rows - left, end
        if not found:
            if half <= used:
                median, found = since + (end - since) * half / used, True
            else:
                half -= used
        left -= used
    s[HEAD] = head
    s[QUEUED] = max(0.0, s[QUEUED] - total) if head < tail else 0.0
    s[BATCH], s[FIRST], s[MEDIAN] = total, first, median if found else end
    return True


@njit(cache=True)
def work(s: Floats, stretch: float, now: float) -> None:
    """Take off what was done since the last look."""
    if now > s[SINCE]:
        done = s[SPEED] * (now - s[SINCE])
        s[LEFT] -= done
        s[BUSY] += done / stretch
    s[SINCE] = now


@njit(cache=True)
def share(s: Floats, m: Floats, cores: float, now: float) -> None:
    """The cores that there are now work on the batch."""
    if s[PHASE] != WORKING:
        return
    work(s, m[STRETCH], now)
    s[SPEED] = usable(cores, m[PARALLELISM])
    if s[LEFT] <= 1e-12:
        s[AT] = now
    else:
        s[AT] = now + s[LEFT] / s[SPEED] if s[SPEED] > 0.0 else inf


@njit(cache=True)
def commit(s: Floats, m: Floats, commits: Floats, cost: float, now: float) -> None:
    """The batch at work is done."""
    work(s, m[STRETCH], now)
    rows, began = s[BATCH], s[BEGAN]
    s[BATCH], s[LEFT], s[SPEED] = -1.0, 0.0, 0.0
    s[COMMITTED] += rows
    previous = began if s[BATCH_ID] < 0.0 else s[BATCH_AT]
    s[RATE] = rows / max(now - previous, now - began, 1e-3)
    s[BEFORE] = s[BATCH_AT] if s[BATCH_ID] >= 0.0 else -1.0
    s[BATCH_ID] += 1.0
    s[BATCH_AT], s[BATCH_ROWS], s[PROCESSING] = now, rows, now - began
    s[SCHEDULING] = max(0.0, began - s[MEDIAN] + m[OFFSET])
    s[LATENCY] = s[SCHEDULING] + s[PROCESSING]
    s[LATENCY_MAX] = max(s[LATENCY], now - s[FIRST] + m[OFFSET])
    s[COST] = cost + m[BATCH_WORK] / rows
    s[PERIOD_ROWS] += rows
    s[PERIOD_BATCHES] += 1.0
    at = int(s[COMMITS])
    commits[at, 0], commits[at, 1], commits[at, 2] = now, s[LATENCY], rows
    commits[at, 3] = s[FIRST]
    s[COMMITS] = at + 1
    s[PHASE] = WAITING
    due = boundary(began, m[TRIGGER]) if m[TRIGGER] > 0.0 else now
    s[AT] = max(now, due)


@njit(cache=True)
def run(
    s: Floats, m: Floats, queue: Floats, commits: Floats, factors: Floats, rate: float,
    cost: float, cores: float, period: int, until: float,
) -> bool:  # fmt: skip
    """All events before a moment; False where room for commits or factors ran out."""
    while s[AT] < until:
        now = s[AT]
        if s[PHASE] == WAITING:
            if s[DRAWN] >= len(factors):
                return False
            feed(s, queue, rate, period, now)
            if not take(s, queue, m[MOST_ROWS]):
                s[AT] = boundary(now, m[TRIGGER]) if m[TRIGGER] > 0.0 else now + _POLL_S
                continue
            factor = factors[int(s[DRAWN])]
            s[DRAWN] += 1.0
            s[BEGAN] = now
            s[LEFT] = (m[BATCH_WORK] + s[BATCH] * cost) * m[STRETCH] * factor
            s[PHASE], s[AT] = PLANNING, now + m[OVERHEAD] * factor
        elif s[PHASE] == PLANNING:
            s[PHASE], s[SINCE] = WORKING, now
            share(s, m, cores, now)
        else:
            if s[COMMITS] >= len(commits):
                return False
            commit(s, m, commits, cost, now)
    return True


@njit(cache=True)
def periods(
    s: Floats, m: Floats, queue: Floats, commits: Floats, factors: Floats, given: Floats,
    seen: Floats, cores: float, first: int, last: int, until: float, average_s: float,
) -> int:  # fmt: skip
    """Whole periods from `first` on that end by a moment; which one is not over yet: `last`,
    or an earlier one where the moment came or room for commits or factors ran out."""
    for i in range(first, last):
        end, rate, cost = given[i, END], given[i, ROWS_PER_S], given[i, COST_S]
        if end > until or not run(s, m, queue, commits, factors, rate, cost, cores, i, end):
            return i
        feed(s, queue, rate, i, end)
        work(s, m[STRETCH], end)
        _look(s, m, given, seen, i, average_s)
    return last


@njit(cache=True)
def _look(s: Floats, m: Floats, given: Floats, seen: Floats, i: int, average_s: float) -> None:
    """What the period shows; the next one's counts begin."""
    now, row = given[i, END], seen[i]
    row[SEEN_ARRIVED] = s[ARRIVED]
    oldest = int(s[OLDEST])  # arrivals are averaged since the end of the period before this one
    while oldest < i and given[oldest, END] <= now - average_s:
        oldest += 1
    s[OLDEST] = oldest
    since = given[oldest - 1, END] if oldest else m[BEGIN]
    before = seen[oldest - 1, SEEN_ARRIVED] if oldest else m[QUEUED_FIRST]
    known = s[BATCH_ID] >= 0.0
    row[SEEN_RATE] = (s[ARRIVED] - before) / max(now - since, 1e-3)
    row[SEEN_PROCESSED] = _processed_rate(s, now) if known else 0.0
    row[SEEN_COST] = s[COST] if known else given[i, COST_S]
    row[SEEN_BUSY_S] = s[BUSY]
    row[SEEN_LENGTH_S] = now - (given[i - 1, END] if i else m[BEGIN])
    row[SEEN_QUEUE] = s[QUEUED] + max(s[BATCH], 0.0)
    row[SEEN_PROCESSING], row[SEEN_SCHEDULING] = s[PROCESSING], s[SCHEDULING]
    row[SEEN_LATENCY], row[SEEN_LATENCY_MAX] = s[LATENCY], s[LATENCY_MAX]
    row[SEEN_BATCH_ID], row[SEEN_BATCH_AT] = s[BATCH_ID], s[BATCH_AT]
    row[SEEN_BATCH_ROWS] = s[BATCH_ROWS]
    row[SEEN_BATCHES], row[SEEN_ROWS] = s[PERIOD_BATCHES], s[PERIOD_ROWS]
    s[BUSY] = s[PERIOD_ROWS] = s[PERIOD_BATCHES] = 0.0


@njit(cache=True)
def _processed_rate(s: Floats, now: float) -> float:
    """The last commit's rate; once the next commit is overdue, what is left of it."""
    usual_s = s[BATCH_AT] - s[BEFORE] if s[BATCH_ID] > 0.0 else 0.0
    silent_s = now - s[BATCH_AT]
    if usual_s <= 0.0 or silent_s <= max(1.5 * usual_s, 2.0):
        return float(s[RATE])
    return float(s[BATCH_ROWS] / silent_s)


@njit(cache=True)
def spread(draws: Floats, sigma: float) -> Floats:
    """Factors of chance from pairs of even draws, as `random.gauss` makes them.

    >>> from random import Random
    >>> chance, again = Random(1), Random(1)
    >>> found = spread(np.array([chance.random() for _ in range(4)]), 0.1)
    >>> bool(np.allclose(np.log(found), [again.gauss(0.0, 0.1) for _ in range(4)], rtol=1e-12))
    True
    """
    factors = np.empty(len(draws))
    for i in range(0, len(draws), 2):
        turn, far = 2.0 * pi * draws[i], sqrt(-2.0 * log(1.0 - draws[i + 1]))
        factors[i], factors[i + 1] = exp(cos(turn) * far * sigma), exp(sin(turn) * far * sigma)
    return factors
