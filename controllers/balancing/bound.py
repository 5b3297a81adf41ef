"""A lower bound on the load distance that any plan within the budget can reach.

The linear relaxation says 0 and nothing else. This one counts touches. To come
within d points of the mean, an overloaded bin has to give items away and an
underloaded one has to get some, and each move is one giving and one getting. For
every bin take the least number of givings a, of gettings b and of both together
that can bring it into the band; a plan of B moves needs

    sum(a) <= B,  sum(b) <= B,  sum(a + b) <= 2 B

and the smallest d for which all three hold is the bound. It is found by
bisection, as the three sums only fall with d.
"""
# numba's decorator has no types, so nothing under it can have any for mypy.
# mypy: allow-untyped-decorators, allow-untyped-defs, allow-untyped-calls

import numpy as np
from numba import njit

from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Remaining, in_time

_ROUNDS = 60
_MOST_WORK = 100_000  # for one bin in one round; what is not excluded by then counts as reachable
_FINE = 1e-5  # points


def lower_bound(arrays: Arrays, remaining_s: Remaining | None = None) -> float:
    """No plan within the budget has a smaller load distance (in points).

    Where the time ends it is lower than it could be, and still a bound.

    >>> from weir.controllers.balancing.problem import Bin, Budget, Item, Problem
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=10.0), Bin(name="b", capacity=10.0)),
    ...     items=tuple(Item(name=f"i{k}", load=1.0, bin="a") for k in range(6)),
    ...     budget=Budget(moves=1),
    ... )
    >>> round(lower_bound(Arrays.of(problem)), 3)  # 5 + 1, where 3 + 3 is even
    20.0
    """
    if not arrays.keep.any() or not len(arrays.load):
        return 0.0
    most = _affordable(arrays)
    before = arrays.distance(arrays.home)
    if most == 0 or before == 0.0:
        return before
    ranked = np.argsort(-arrays.load, kind="stable")
    ranked = ranked[arrays.movable[ranked]]
    size, home = arrays.load[ranked], arrays.home[ranked]
    args = (
        size,
        home,
        _by_bin(home, len(arrays.capacity)),
        arrays.bin_load(arrays.home),
        arrays.capacity,
        arrays.keep,
        arrays.target,
        most,
        np.concatenate([[0.0], np.cumsum(size)]),
    )
    low, high = 0.0, before
    if _enough(0.0, *args):
        return 0.0
    for _ in range(_ROUNDS):
        if not in_time(remaining_s):
            break
        middle = (low + high) / 2.0
        if _enough(middle, *args):
            high = middle
        else:
            low = middle
        if high - low < _FINE:
            break
    return low


def _affordable(arrays: Arrays) -> int:
    """The most moves that the budget can pay for: the cheapest ones."""
    cheapest = np.cumsum(np.sort(arrays.cost[arrays.movable]))
    by_cost = int(np.searchsorted(cheapest, arrays.max_cost * (1 + 1e-9), side="right"))
    return min(arrays.max_moves, by_cost)


def _by_bin(home: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of every bin's items, largest first, one bin after the other, and where each begins."""
    by_bin = np.argsort(home, kind="stable")
    start = np.searchsorted(home[by_bin], np.arange(bins + 1))
    return by_bin, start


@njit(cache=True)
def _enough(d, size, home, by_bin_and_start, raw, capacity, keep, target, most, largest):
    """Whether the counts of touches allow every kept bin to come within d."""
    by_bin, start = by_bin_and_start
    givings, gettings, touches, under = 0, 0, 0, 0
    needs = np.empty(len(capacity))  # of bins that have to get: how much,
    gets = np.empty(len(capacity), dtype=np.int64)  # in at least how many items,
    pure = np.empty(len(capacity), dtype=np.bool_)  # and whether getting alone may do
    for b in range(len(capacity)):
        if not keep[b]:
            continue
        mine = by_bin[start[b] : start[b + 1]]
        slack = 1e-9 * (abs(raw[b]) + capacity[b] * target)
        low = raw[b] - (target + d / 100.0) * capacity[b] - slack  # at least this must go
        high = raw[b] - (target - d / 100.0) * capacity[b] + slack
        give, get, both = _touches(low, high, b, mine, size, home, 2 * most)
        givings += give
        gettings += get
        touches += both
        if givings > most or gettings > most or touches > 2 * most:
            return False
        if get > 0:
            needs[under], gets[under], pure[under] = -high, get, both == get
            under += 1
    more_gettings, more_touches = _rivals(needs[:under], gets[:under], pure[:under], largest)
    return gettings + more_gettings <= most and touches + more_touches <= 2 * most


@njit(cache=True)
def _rivals(needs, gets, pure, largest):
    """Gettings and touches to add because an item can go to one bin only.

    Alone, each bin could have the largest items of all. Of the bins that need k
    of these, only as many can do with k as the largest items together fill; each
    of the others needs one more.
    """
    more_gettings, more_touches = 0, 0
    order = np.argsort(needs)
    for k in range(1, gets.max() + 1 if len(gets) else 0):
        bins, alone, served, filled = 0, 0, 0, 0.0
        for at in order:
            if gets[at] != k:
                continue
            bins += 1
            alone += int(pure[at])
            filled += needs[at]
            if k * bins < len(largest) and filled <= largest[k * bins]:
                served = bins
        more_gettings += bins - served
        more_touches += max(0, alone - served)
    return more_gettings, more_touches


@njit(cache=True)
def _touches(low, high, b, mine, size, home, most):
    """Least givings, gettings and both together that bring a net loss into [low, high]."""
    if low <= 0.0 <= high:
        return 0, 0, 0
    n = len(mine)
    others = len(size) - n
    give, get, moved = 0, 0, 0.0
    if low > 0.0:  # whatever comes in, this much has to go out first
        while moved < low and give < n:
            moved += size[mine[give]]
            give += 1
    else:
        k = 0
        while moved < -high and k < len(size):
            if home[k] != b:
                moved += size[k]
                get += 1
            k += 1
    if moved < max(low, -high):
        return most + 1, most + 1, most + 1
    work = 0
    for total in range(give + get, most + 1):
        for out in range(give, min(total - get, n) + 1):
            work += total + 1
            if work > _MOST_WORK:
                return give, get, total
            if total - out <= others and _reachable(
                out, total - out, low, high, b, mine, size, home
            ):
                return give, get, total
    return give, get, most + 1


@njit(cache=True)
def _reachable(give, get, low, high, b, mine, size, home):
    """Whether giving and getting that many items can lose a net amount within [low, high].

    One giving or one getting is checked exactly; more by the range between the
    smallest and the largest that can go and come.
    """
    n = len(mine)
    if give == 1 and get == 0:
        fits = False
        for k in range(n):
            fits = fits or low <= size[mine[k]] <= high
        return fits
    if give == 0 and get == 1:
        first, last = 0, len(size)  # sizes fall: skip those that are too large
        while first < last:
            middle = (first + last) // 2
            if size[middle] > -low:
                first = middle + 1
            else:
                last = middle
        while first < len(size) and size[first] >= -high:
            if home[first] != b:
                return True
            first += 1
        return False
    most_out, least_out, most_in, least_in = 0.0, 0.0, 0.0, 0.0
    for k in range(give):
        most_out += size[mine[k]]
        least_out += size[mine[n - 1 - k]]
    k, found = 0, 0
    while found < get:
        if home[k] != b:
            most_in += size[k]
            found += 1
        k += 1
    k, found = len(size) - 1, 0
    while found < get:
        if home[k] != b:
            least_in += size[k]
            found += 1
        k -= 1
    return most_out - least_in >= low and least_out - most_in <= high
