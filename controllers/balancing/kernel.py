"""Swap-greedy: the best single move or swap for the worst bin, again and again.

Compiled by numba and kept on disk, so that cost is paid once. Bins are compared
by their deviation, load in points minus the mean, and a kept bin costs

    max(0, deviation - over)^2 + max(0, -deviation - under)^2 + SMALL * deviation^2

A search with a band (over, under) thus spends nothing on bins that are within it, and
among steps that are equal there it takes the one that evens out more. A bin to
be emptied costs DRAIN * points^2: it gives whenever that does not hurt, and its
load never takes precedence over a kept bin that is far out.

What numba keeps of a file holds until that file changes. `shake.py` and `flux.py` have
these functions compiled into theirs, so each states this file's checksum: after a change
here the checks ask for the new one.
"""
# numba's decorator has no types, so nothing under it can have any for mypy.
# mypy: allow-untyped-decorators, allow-untyped-defs, allow-untyped-calls

import numpy as np
from numba import njit

SMALL = 1e-3
DRAIN = 1e-2
EPS = 1e-10
FINE = 1e-13  # of the points involved: what is smaller may be rounding, and is no gain
TIES = 32  # partners looked at because items were exchanged with them
FAR = 1e6  # sorts the bins to be emptied behind all others


@njit(cache=True)
def bin_cost(dev, kept, over, under):
    """What a bin at that deviation costs."""
    if not kept:
        return DRAIN * dev * dev
    out = dev - over if dev > 0.0 else -dev - under
    return SMALL * dev * dev + (out * out if out > 0.0 else 0.0)


@njit(cache=True)
def deviation(world, state, b):
    """Points above the mean; for a bin to be emptied, its points."""
    return state.raw[b] * world.scale[b] - (world.mean if world.kept[b] else 0.0)


@njit(cache=True)
def first_at_least(world, state, b, value):
    """Position of the bin's first item that is at least as large."""
    lo, hi = 0, state.counts[b]
    while lo < hi:
        mid = (lo + hi) // 2
        if world.load[state.members[b, mid]] < value:
            lo = mid + 1
        else:
            hi = mid
    return lo


@njit(cache=True)
def price(world, state, item, target):
    """1 if the item counts as moved by it, 0 if it did before, -1 if it goes back home."""
    return int(target != world.home[item]) - int(state.place[item] != world.home[item])


@njit(cache=True)
def add_exactly(total, rest, more):
    """`more` on top of `total + rest`: the sum rounded once, and what that rounded away.

    A budget that is met exactly must not be missed by costs that were added one by one.
    """
    high = total + more
    part = high - total
    rest += (total - (high - part)) + (more - part)
    rounded = high + rest
    return rounded, rest - (rounded - high)


@njit(cache=True)
def relocate(world, state, item, target):
    """Put the item on another bin, keep account, and note where it was."""
    source, size = state.place[item], world.load[item]
    more = price(world, state, item, target)
    members, count = state.members, state.counts
    at = first_at_least(world, state, source, size)
    while members[source, at] != item:
        at += 1
    for k in range(at, count[source] - 1):
        members[source, k] = members[source, k + 1]
    count[source] -= 1
    at = first_at_least(world, state, target, size)
    for k in range(count[target], at, -1):
        members[target, k] = members[target, k - 1]
    members[target, at] = item
    count[target] += 1
    state.spent[0] += more * world.weight[item]
    state.spent[1], state.spent[2] = add_exactly(
        state.spent[1], state.spent[2], more * world.cost[item]
    )
    state.raw[source] -= size
    state.raw[target] += size
    for r in range(world.use.shape[1]):
        state.used[source, r] -= world.use[item, r]
        state.used[target, r] += world.use[item, r]
    state.place[item] = target
    state.log[0, 0] += 1
    entry = state.log[0, 0]
    state.log[entry, 0] = item
    state.log[entry, 1] = source


@njit(cache=True)
def is_allowed(world, state, a, x, b, y):
    """Whether x may go from a to b and y from b to a (-1: none), by cost, room and resources."""
    of_x = price(world, state, x, b) * world.cost[x] if x >= 0 else 0.0
    of_y = price(world, state, y, a) * world.cost[y] if y >= 0 else 0.0
    if of_x + of_y > 0.0:
        total, rest = add_exactly(state.spent[1], state.spent[2], of_x)
        if add_exactly(total, rest, of_y)[0] > world.max_cost:
            return False
    room = state.members.shape[1] - 1
    if (y < 0 and state.counts[b] >= room) or (x < 0 and state.counts[a] >= room):
        return False
    for r in range(world.use.shape[1]):
        out = world.use[x, r] if x >= 0 else 0.0
        back = world.use[y, r] if y >= 0 else 0.0
        if out > back and state.used[b, r] + out - back > world.limit[b, r]:
            return False
        if back > out and state.used[a, r] + back - out > world.limit[a, r]:
            return False
    return True


@njit(cache=True)
def best_step(world, state, w, over, under, partners):
    """The single move or swap of bin w with a partner that gains most per move.

    Returns (gain, item from w or -1, partner, item to w or -1). For every partner
    the net transfer that evens the two out best is known, so only items next to
    it are looked at; a partner with which even that would gain less is skipped.
    """
    # Fields are taken out once: each access to a tuple of arrays counts references.
    load, home, movable, kept, scale, weight = (
        world.load,
        world.home,
        world.movable,
        world.kept,
        world.scale,
        world.weight,
    )
    members, count, raw = state.members, state.counts, state.raw
    mean, free = world.mean, world.max_moves - state.spent[0]
    best, best_x, best_j, best_y = EPS, -1, -1, -1
    kept_w, sw, n_w = kept[w], scale[w], count[w]
    dev_w = raw[w] * sw - (mean if kept_w else 0.0)
    cost_w = bin_cost(dev_w, kept_w, over, under)
    for j in partners:
        if j == w:
            continue
        kept_j, sj, n_j = kept[j], scale[j], count[j]
        dev_j = raw[j] * sj - (mean if kept_j else 0.0)
        before = cost_w + bin_cost(dev_j, kept_j, over, under)
        least = FINE * (abs(raw[w]) * sw + abs(raw[j]) * sj + mean) * (abs(dev_w) + abs(dev_j))
        both = sw * sw + sj * sj
        if both <= 0.0:  # of such capacities that no load is a point
            continue
        ideal = (dev_w * sw - dev_j * sj) / both
        if before - bin_cost(dev_w - ideal * sw, kept_w, over, under) - bin_cost(
            dev_j + ideal * sj, kept_j, over, under
        ) <= max(best, least):
            continue
        at = 0
        for i in range(-1, n_w):
            x, size_x, moves_x = -1, 0.0, 0.0
            if i >= 0:
                x = members[w, i]
                if not movable[x] or (j != home[x] and not kept_j):
                    continue
                size_x = load[x]
                moves_x = (int(j != home[x]) - int(w != home[x])) * weight[x]
            wanted = size_x - ideal
            while at < n_j and load[members[j, at]] < wanted:
                at += 1
            for side in range(3):
                # The item just below the wanted one, the one just above, or none.
                y, size_y, moves = -1, 0.0, moves_x
                if side < 2:
                    k = at - 1 + side
                    while 0 <= k < n_j and not movable[members[j, k]]:
                        k += 2 * side - 1
                    if k < 0 or k >= n_j:
                        continue
                    y = members[j, k]
                    if w != home[y] and not kept_w:
                        continue
                    size_y = load[y]
                    moves += (int(w != home[y]) - int(j != home[y])) * weight[y]
                if moves > free:
                    continue
                t = size_x - size_y
                gain = (
                    before
                    - bin_cost(dev_w - t * sw, kept_w, over, under)
                    - bin_cost(dev_j + t * sj, kept_j, over, under)
                )
                if moves > 1.0:
                    gain /= moves
                if gain > max(best, least) and x + y > -2 and is_allowed(world, state, w, x, j, y):
                    best, best_x, best_j, best_y = gain, x, j, y
    return (best if best_j >= 0 else 0.0), best_x, best_j, best_y


@njit(cache=True)
def improve(world, state, over, under, most):
    """Steps for the worst bin until all are within the band or the worst cannot be helped.

    At most that many; whether it is done. It is done as well when the log is full: every
    step writes there, and between two steps every bin gets stuck at most once.

    The partners looked at are those farthest out on the other side and those that
    items were exchanged with. Bins to be emptied give when the kept ones are done.
    """
    bins = len(state.raw)
    dev, key = np.empty(bins), np.empty(bins)
    for b in range(bins):
        dev[b] = deviation(world, state, b)
        key[b] = dev[b] if world.kept[b] else dev[b] + FAR
    order = np.argsort(key)
    partners = np.empty(world.near + TIES, dtype=np.int64)
    stuck = np.zeros(bins, dtype=np.bool_)
    while state.log[0, 0] + 3 < len(state.log):
        if most <= 0:
            return False
        w, worst = -1, 0.0
        for b in range(bins):
            if world.kept[b]:
                out = dev[b] - over if dev[b] > 0.0 else -dev[b] - under
                if out > worst:
                    w, worst = b, out
        if w < 0 or stuck[w]:
            w, worst = -1, 0.0
            for b in range(bins):
                if not world.kept[b] and not stuck[b] and dev[b] > worst:
                    w, worst = b, dev[b]
            if w < 0:
                return True
        gives = dev[w] > 0.0 or not world.kept[w]
        for k in range(world.near):
            partners[k] = order[k] if gives else order[bins - 1 - k]
        found = _add_ties(world, state, w, partners, world.near)
        gain, x, j, y = best_step(world, state, w, over, under, partners[:found])
        if gain <= 0.0:
            stuck[w] = True
            continue
        most -= 1
        if x >= 0:
            relocate(world, state, x, j)
        if y >= 0:
            relocate(world, state, y, w)
        for b in (w, j):
            dev[b] = deviation(world, state, b)
            key[b] = dev[b] if world.kept[b] else dev[b] + FAR
            stuck[b] = False
            _resort(order, key, b)
    return True


@njit(cache=True)
def _add_ties(world, state, w, partners, found):
    """Bins that w has exchanged items with: taking another item instead costs no move."""
    for k in range(state.counts[w]):
        home = world.home[state.members[w, k]]
        if home != w and found < len(partners):
            partners[found] = home
            found += 1
    for k in range(world.first[w], world.first[w + 1]):
        place = state.place[world.by_home[k]]
        if place != w and found < len(partners):
            partners[found] = place
            found += 1
    return found


@njit(cache=True)
def _resort(order, key, b):
    """Bring one bin back to its place in the order."""
    at = 0
    while order[at] != b:
        at += 1
    while at > 0 and key[order[at - 1]] > key[b]:
        order[at] = order[at - 1]
        at -= 1
        order[at] = b
    while at < len(order) - 1 and key[order[at + 1]] < key[b]:
        order[at] = order[at + 1]
        at += 1
        order[at] = b
