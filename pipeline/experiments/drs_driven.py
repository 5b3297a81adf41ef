"""Networks that are looked at once a minute, as DRS does, and changed while they run.

Several stand side by side and get the same rows at the same times. A minute of the paper is a few
seconds here.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec import Struct

from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.drs_figures import Allocation, sojourns, words
from weir.pipeline.experiments.drs_live import POLL_S, LiveNetwork, session
from weir.pipeline.experiments.drs_rows import Arrival, Served

DRAIN_S = 30.0


class Driven(Protocol):
    """What is driven: `LiveNetwork`, or one that stands for it."""

    operators: tuple[str, ...]
    began: float

    @property
    def allocation(self) -> Allocation: ...

    def give(self, allocation: Sequence[int], wait: bool = True) -> None: ...

    def feed(self, arrivals: Sequence[Arrival]) -> None: ...

    def served(self) -> list[Served]: ...


class Minute(Struct, frozen=True, kw_only=True):
    """What is known when a minute has passed."""

    number: int  # the first is 1
    ends: float  # on the clock of `Served`
    length_s: float
    served: Sequence[Served]  # all so far
    allocation: Allocation

    def last(self, minutes: int) -> list[Served]:
        """What was done in the last minutes."""
        since = self.ends - minutes * self.length_s
        return [s for s in self.served if since <= s.done < self.ends]


Choose = Callable[[Minute], Allocation | None]
"""Another allocation, or None to stay."""


def drive(
    networks: Mapping[str, tuple[Driven, Choose]],
    arrivals: Sequence[Arrival],
    minutes: int,
    minute_s: float,
    tell: Callable[[float], None] = lambda share: None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, dict[str, Any]]:
    """All of them through the same rows; what each was given and how long rows took, by minute."""
    for network, _ in networks.values():
        network.feed(arrivals)
    total = sum(a.row.rows for a in arrivals)
    served: dict[str, list[Served]] = {name: [] for name in networks}
    changes: dict[str, list[dict[str, Any]]] = {name: [] for name in networks}

    def poll() -> None:
        for name, (network, _) in networks.items():
            served[name] += network.served()

    for number in range(1, minutes + 1):
        ends = max(n.began for n, _ in networks.values()) + number * minute_s
        while now() < ends:
            sleep(max(0.001, min(POLL_S, ends - now())))
            poll()
            tell((number - 1) / minutes)
        for name, (network, choose) in networks.items():
            minute = Minute(
                number=number, ends=network.began + number * minute_s, length_s=minute_s,
                served=served[name], allocation=network.allocation,
            )  # fmt: skip
            chosen = choose(minute)
            if chosen is not None and chosen != network.allocation:
                was = words(network.allocation)
                changes[name].append({"minute": number, "from": was, "to": words(chosen)})
                network.give(chosen, wait=False)
    until = now() + DRAIN_S
    while now() < until and any(len(s) < total for s in served.values()):
        sleep(POLL_S)
        poll()
    return {
        name: {
            "minutes": by_minute(served[name], network.operators[0], network.began, minute_s, minutes),
            "changes": changes[name], "allocation": words(network.allocation),
            "left": total - len(served[name]),
        }
        for name, (network, _) in networks.items()
    }  # fmt: skip


def by_minute(
    served: Sequence[Served], first: str, began: float, minute_s: float, minutes: int
) -> list[float | None]:
    """Mean time until fully processed, of the arrivals of each minute; None where none came."""
    at, complete, _ = sojourns(served, first)
    number = np.floor((at - began) / minute_s).astype(int)
    return [
        float(complete[number == m].mean()) if (number == m).any() else None for m in range(minutes)
    ]


def side_by_side(
    bench: Bench,
    name: str,
    operators: Sequence[str],
    starts: Mapping[str, tuple[Allocation, Choose]],
    arrivals: Sequence[Arrival],
    minutes: int,
    minute_s: float,
    said: str,
) -> dict[str, dict[str, Any]]:
    """Drive live networks on one Spark, each from its own allocation."""
    spark, url = session(bench, name)
    networks = {label: LiveNetwork(spark, url, operators) for label in starts}
    try:
        for label, (allocation, _) in starts.items():
            bench.tell(f"{said}: processors start", 0.0)
            networks[label].give(allocation)
        driven = {label: (networks[label], choose) for label, (_, choose) in starts.items()}
        return drive(driven, arrivals, minutes, minute_s, lambda share: bench.tell(said, share))
    finally:
        for network in networks.values():
            network.close()
