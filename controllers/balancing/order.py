"""The order in which moves are carried out, so that no bin is overfull on the way."""

from collections import defaultdict, deque

from weir.controllers.balancing.arrays import Arrays, Ints


def order_moves(arrays: Arrays, place: Ints) -> list[int]:
    """Positions of the moved items, in the order in which to move them.

    A move waits until its target has room, that is until the target stays within
    what it carries before or after the plan. Two bins that exchange items wait
    for each other; then the smallest waiting item goes first, as it hurts least.

    >>> import numpy as np
    >>> from weir.controllers.balancing.problem import Bin, Item, Problem
    >>> arrays = Arrays.of(Problem(
    ...     bins=tuple(Bin(name=n, capacity=1.0) for n in "abc"),
    ...     items=(Item(name="x", load=0.5, bin="a"), Item(name="y", load=0.6, bin="b"))))
    >>> order_moves(arrays, np.array([1, 2]))  # y must leave b before x comes in
    [1, 0]
    """
    moved = [int(i) for i in (place != arrays.home).nonzero()[0]]
    now = arrays.bin_load(arrays.home)
    room = [max(a, b) * (1 + 1e-9) for a, b in zip(now, arrays.bin_load(place), strict=True)]
    carries = [float(v) for v in now]
    into: dict[int, deque[int]] = defaultdict(deque)
    smallest_first = sorted(moved, key=lambda i: (arrays.load[i], i))
    for item in reversed(smallest_first):
        into[int(place[item])].append(item)
    ready = deque(sorted(into))
    waiting = deque(smallest_first)
    done: list[int] = []
    gone = set[int]()

    def go(item: int) -> None:
        source, target = int(arrays.home[item]), int(place[item])
        carries[source] -= arrays.load[item]
        carries[target] += arrays.load[item]
        done.append(item)
        gone.add(item)
        ready.append(source)  # it has more room now

    while len(done) < len(moved):
        while ready:
            target = ready.popleft()
            queue = into[target]
            while queue and (
                queue[0] in gone or carries[target] + arrays.load[queue[0]] <= room[target]
            ):
                item = queue.popleft()
                if item not in gone:
                    go(item)
        while waiting and waiting[0] in gone:
            waiting.popleft()
        if waiting:
            go(waiting.popleft())
    return done
