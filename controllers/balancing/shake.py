"""Ruin and recreate: undo the moves around the worst bin, and let swap-greedy try again.

Aims at a band that is a little narrower than the best found; a try that leaves less
outside of that band is kept, any other is rolled back. The sequence of tries depends on the seed alone, so more of them can
only lead to a better placement.
"""
# numba's decorator has no types, so nothing under it can have any for mypy.
# mypy: allow-untyped-decorators, allow-untyped-defs, allow-untyped-calls

import numpy as np
from numba import njit

# kernel.py e837eeef, see there
from weir.controllers.balancing.kernel import deviation, improve, is_allowed, price, relocate

AIM = 0.9  # of the way from the bound to the best found
KICKS = 3  # fewer than this many random relocations per try
FEW = 64  # bins; with more of them random relocations help less, so there are fewer
STEPS = 1000  # of one try
HEAT = 0.5  # how much worse, at most, a try may be that is still kept


@njit(cache=True)
def draw(random, n):
    """The next pseudo-random number below n (64-bit linear congruential)."""
    random[0] = random[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((random[0] >> np.uint64(33)) % np.uint64(n))


@njit(cache=True)
def outside(world, state, tau):
    """Sum of squares of what stands out of the band, the largest deviation, and whose."""
    total, most, worst = 0.0, 0.0, 0
    for b in range(len(state.raw)):
        if world.kept[b]:
            dev = abs(deviation(world, state, b))
            if dev > most:
                most, worst = dev, b
            if dev > tau:
                total += (dev - tau) ** 2
    return total, most, worst


@njit(cache=True)
def aim(bound, best):
    """The band to aim at."""
    return bound + AIM * (best - bound)


@njit(cache=True)
def shake(world, state, tries, bound, random, best, tau, best_place):
    """That many tries for the band `tau`; the best placement goes into `best_place`.

    Returns its distance and the band to go on with.
    """
    moved = np.empty(len(world.load), dtype=np.int64)
    ruined = np.zeros(len(state.raw), dtype=np.bool_)
    now, _, worst = outside(world, state, tau)
    for _ in range(tries):
        if best - bound < 1e-9:
            break
        state.log[0, 0] = 0
        found = 0
        for item in range(len(world.load)):
            if state.place[item] != world.home[item]:
                moved[found] = item
                found += 1
        ruined[:] = False
        ruined[worst] = True
        for _k in range(1 + draw(random, 3) if found else 0):
            item = moved[draw(random, found)]
            ruined[state.place[item] if draw(random, 2) == 0 else world.home[item]] = True
        _ruin(world, state, moved[:found], ruined)
        if draw(random, len(state.raw)) < FEW:
            for _k in range(draw(random, KICKS)):
                _kick(world, state, random, worst)
        improve(world, state, tau, tau, STEPS)
        after, most, candidate = outside(world, state, tau)
        if most < best - 1e-12:
            best = most
            best_place[:] = state.place
        if after <= now * (1.0 + HEAT * draw(random, 1024) / 1024.0):
            now, worst = after, candidate
        else:
            for entry in range(state.log[0, 0], 0, -1):
                state.log[0, 0] = 0
                relocate_back(world, state, entry)
        if now <= 0.0:
            tau = aim(bound, best)
            now, _, worst = outside(world, state, tau)
    return best, tau


@njit(cache=True)
def _ruin(world, state, moved, ruined):
    """Send home the moved items of these bins, where home is kept and has room."""
    for item in moved:
        home = world.home[item]
        if not (ruined[state.place[item]] or ruined[home]) or not world.kept[home]:
            continue
        if state.log[0, 0] + 3 < len(state.log) // 2 and is_allowed(
            world, state, state.place[item], item, home, -1
        ):
            relocate(world, state, item, home)


@njit(cache=True)
def _kick(world, state, random, worst):
    """A random item of the worst bin, or of any, to a random bin: greedy alone repeats itself."""
    item = draw(random, len(world.load))
    if draw(random, 2) == 0 and state.counts[worst] > 0:
        item = state.members[worst, draw(random, state.counts[worst])]
    source, target = state.place[item], draw(random, len(state.raw))
    if source == target or not world.movable[item] or not world.kept[target]:
        return
    more = price(world, state, item, target) * world.weight[item]
    if state.spent[0] + more <= world.max_moves and is_allowed(
        world, state, source, item, target, -1
    ):
        relocate(world, state, item, target)


@njit(cache=True)
def relocate_back(world, state, entry):
    """Take one noted relocation back; row 1 of the log is overwritten, so go from the end."""
    item, source = state.log[entry, 0], state.log[entry, 1]
    kept_item, kept_source = state.log[1, 0], state.log[1, 1]
    relocate(world, state, item, source)
    state.log[1, 0], state.log[1, 1] = kept_item, kept_source
