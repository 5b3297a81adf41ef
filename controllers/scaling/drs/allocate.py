"""AssignProcessors and MinProcessors: one processor at a time to where it helps most.

The benefit of one more processor at a station falls with each one given, so the
greedy choice is optimal. Two things differ from the printed algorithms. The benefit
is taken from the waiting time alone: the service time 1/mu is the same before and
after, and subtracting two sums that contain it drowns the difference. And a heap
holds one offer per station, each a step of Erlang's recurrence further, so a
processor costs O(log stations) instead of a new sum over all servers of all stations.

Reference: Fu et al., "DRS: auto-scaling for real-time stream analytics",
IEEE/ACM Transactions on Networking 25 (2017), algorithms 1 and 2.
"""

from heapq import heapify, heapreplace
from math import inf

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.drs.network import Network, Station

LARGEST = 1_000_000  # processors; beyond it the question is a mistake


class Allocation(Struct, frozen=True):
    """Processors of each station, in the network's order."""

    processors: tuple[int, ...]

    @property
    def total(self) -> int:
        """Processors of all stations."""
        return sum(self.processors)


def assign_processors(network: Network, most: int) -> Allocation:
    """The allocation of at most `most` processors with the least sojourn time.

    Fewer than `most` are handed out only where none of the rest would help any more.

    >>> a = Station(name="a", arrivals=8.0, rate=1.0)
    >>> b = Station(name="b", arrivals=8.0, rate=4.0)
    >>> assign_processors(Network(stations=(a, b), external=8.0), most=14).processors
    (11, 3)
    """
    _check_enough(network, most)
    queues = [_Queue(s) for s in network.stations]
    offers = _offers(queues)
    for _ in range(min(most, LARGEST) - network.least):
        if not offers or offers[0][0] == 0.0:
            break
        _accept(offers, queues)
    return Allocation(tuple(q.servers for q in queues))


def min_processors(network: Network, target_s: float, most: int | None = None) -> Allocation:
    """The fewest processors with which the sojourn time is at most `target_s`.

    >>> a = Station(name="a", arrivals=8.0, rate=1.0)
    >>> min_processors(Network(stations=(a,), external=8.0), target_s=1.1).processors
    (11,)
    """
    bound = network.service_s
    if target_s <= bound:
        raise InvalidInput(
            f"t_max: {target_s:g} s cannot be reached, the work itself takes {bound:.6g} s "
            "however many processors there are",
            field="t_max",
        )
    _check_enough(network, LARGEST if most is None else most)
    queues = [_Queue(s) for s in network.stations]
    offers = _offers(queues)
    total = network.least
    # By Little, E[T] = service + rows waiting / external: compare on the rows.
    allowed = (target_s - bound) * network.external
    waiting = sum(q.waiting for q in queues)
    while waiting > allowed and offers[0][0] != 0.0:
        if total == most:
            raise InvalidInput(
                f"t_max: {target_s:g} s needs more than the {most} processors allowed",
                field="t_max",
            )
        if total > LARGEST:
            raise InvalidInput(
                f"t_max: {target_s:g} s needs more than {LARGEST} processors", field="t_max"
            )
        waiting += offers[0][0]
        _accept(offers, queues)
        total += 1
        if not waiting > allowed:  # what was added up is rounded
            waiting = sum(q.waiting for q in queues)
    return Allocation(tuple(q.servers for q in queues))


class _Queue:
    """One station with the servers it has, looking one server ahead."""

    __slots__ = ("ahead", "blocked", "factor", "offered", "servers", "waiting")

    def __init__(self, station: Station) -> None:
        self.servers = station.least - 1
        self.offered = offered = station.offered
        self.factor = station.variability
        blocked = 1.0
        for k in range(1, self.servers + 1):
            busy = offered * blocked
            blocked = busy / (k + busy)
        busy = offered * blocked
        self.blocked = busy / (self.servers + 1 + busy)  # Erlang B with one server more
        self.ahead = self._rows(self.servers + 1)  # rows waiting then
        self.waiting = inf  # with one less than the least the queue never ends

    def grow(self) -> float:
        """Take one server more; minus the rows that the next one would take off the queue."""
        self.servers += 1
        self.waiting = self.ahead
        busy = self.offered * self.blocked
        self.blocked = busy / (self.servers + 1 + busy)
        self.ahead = self._rows(self.servers + 1)
        return self.ahead - self.waiting

    def _rows(self, servers: int) -> float:
        """Mean rows waiting in GI/G/k: Erlang C times a / (k - a), times the variability."""
        spare = servers - self.offered
        busy = self.offered * self.blocked
        return self.factor * servers * busy / ((spare + busy) * spare)


def _offers(queues: list[_Queue]) -> list[tuple[float, int]]:
    """A heap of each station's offer; every station takes its least servers."""
    offers = [(q.grow(), i) for i, q in enumerate(queues)]
    heapify(offers)
    return offers


def _accept(offers: list[tuple[float, int]], queues: list[_Queue]) -> None:
    """Give a server to the best offer and replace that by the station's next one."""
    i = offers[0][1]
    heapreplace(offers, (queues[i].grow(), i))


def _check_enough(network: Network, most: int) -> None:
    least = network.least
    if most < least:
        raise InvalidInput(
            f"k_max: {most} processors cannot keep up with the load, at least {least} are needed",
            field="k_max",
        )
