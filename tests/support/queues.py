"""A network of queues with a clock of its own, in place of `LiveNetwork`: no Spark, no Redis."""

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from weir.pipeline.experiments.drs_rows import Arrival, Row, Served


class Clock:
    """A time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class IdealNetwork:
    """Queues and processors that lose no time."""

    def __init__(self, clock: Clock, operators: Sequence[str], allocation: Sequence[int]) -> None:
        self.operators = tuple(operators)
        self.began = 0.0
        self._clock = clock
        self._has = tuple(allocation)
        self._free = dict(zip(operators, allocation, strict=True))
        self._waiting: dict[str, deque[Any]] = {o: deque() for o in operators}
        self._events: list[Any] = []
        self._order = itertools.count()
        self._served: list[Served] = []

    @property
    def allocation(self) -> tuple[int, ...]:
        return self._has

    def give(self, allocation: Sequence[int], wait: bool = True) -> None:
        self._run()
        for operator, had, has in zip(self.operators, self._has, allocation, strict=True):
            self._free[operator] += has - had
        self._has = tuple(allocation)
        for operator in self.operators:
            self._begin(operator, self._clock.now())

    def feed(self, arrivals: Sequence[Arrival]) -> None:
        self.began = self._clock.now()
        for number, arrival in enumerate(arrivals):
            self._at(self.began + arrival.at, (number, arrival.row, None))

    def served(self) -> list[Served]:
        self._run()
        found, self._served = self._served, []
        return found

    def _at(self, time: float, what: tuple[int, Row, Any]) -> None:
        heapq.heappush(self._events, (time, next(self._order), what))

    def _begin(self, operator: str, time: float) -> None:
        waiting = self._waiting[operator]
        while self._free[operator] > 0 and waiting:
            number, row, came = waiting.popleft()
            self._free[operator] -= 1
            self._at(time + row.work_s, (number, row, (came, time)))

    def _run(self) -> None:
        while self._events and self._events[0][0] <= self._clock.now():
            time, _, (number, row, times) = heapq.heappop(self._events)
            if times is None:
                self._waiting[row.operator].append((number, row, time))
            else:
                self._free[row.operator] += 1
                sent = dict(Counter(r.operator for r in row.then))
                came, begun = times
                self._served.append(Served(number, row.operator, came, begun, time, sent))
                for then in row.then:
                    self._at(time, (number, then, None))
            self._begin(row.operator, time)


def through(
    arrivals: Sequence[Arrival], operators: Sequence[str], allocation: Sequence[int]
) -> Any:
    """All rows through one allocation; the network, and what was served."""
    clock = Clock()
    network = IdealNetwork(clock, operators, allocation)
    network.feed(arrivals)
    clock.sleep(1e6)
    return network, network.served()
