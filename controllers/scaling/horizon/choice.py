"""Which way to hold executors: the one that would have cost least so far."""

import numpy as np
from numba import njit

from weir.controllers.scaling.horizon.trials import (
    ACTIONS,
    HOURS,
    OVER,
    SPARK,
    WAYS,
    Floats,
)

FADE_H = 24.0
PRIOR_H = 3.0  # hours of experience that a change of way must outweigh
_CALM = 0.85  # share of the actions allowed that a way may take: the rest is for surprises
MISSES_PER_H = 40.0  # a miss takes a minute and a half: so many make an hour
_MARGIN = 0.5  # to stay below Spark's time over target, in standard errors of its count
LEAST_OVER = 0.0002  # share of the time that is not worth a thought
WORSE_OVER = 0.7  # price of twice the time over target that is left, in all executor-hours
WORST_OVER = 3.0  # times too much: what is worse costs no more than that
BETTER_HOURS, WORSE_HOURS = 0.8, 4.0  # share of Spark's hours, and the price of more
PRICE = 0.005  # of the time over target that is allowed, in all executor-hours
_BUSY = 0.05  # price of all actions that are allowed, in all executor-hours


def _prior() -> Floats:
    """Nothing known: a little room, and one executor of ten goes after two hours."""
    room, patience = WAYS.T
    return np.asarray(0.4 * np.abs(room - 0.1) + 0.05 * np.abs(np.log(patience / 12.0)))


PRIOR = _prior()


def budget_per_day(state: Floats, weight_h: float, set_per_day: float) -> float:
    """Actions per day to get by with: as set, or as many as Spark's allocation makes."""
    if weight_h <= 0.0:
        return set_per_day
    return max(set_per_day, 0.95 * float(state[SPARK, ACTIONS]) * 24.0 / max(weight_h, 3.0))


def best_way(
    state: Floats, weight_h: float, need_h: float, probability: float, set_per_day: float, now: int
) -> int:
    """The way with the least cost per executor-hour that nobody could do without.

    Time over the target has a price, the higher the more sure one wants to be. Being worse
    than Spark's allocation costs far more, and the fewer misses were seen, the further
    below its count a way must stay to be thought better.
    """
    if weight_h <= 0.0 or need_h <= 0.0:
        return int(np.argmin(PRIOR))
    budget = budget_per_day(state, weight_h, set_per_day)
    price = PRICE / (1.0 - probability)
    total = _costs(state, PRIOR, weight_h, need_h, price, _CALM * budget)
    best = int(np.argmin(total))
    if 0 <= now < len(total) and total[now] <= total[best] + 0.01:
        return now
    return best


@njit(cache=True)
def _costs(
    state: Floats, prior: Floats, weight_h: float, need_h: float, price: float, budget: float
) -> Floats:
    total = np.empty(len(prior))
    spark = state[len(prior)]
    spark_over, spark_hours = spark[OVER] / weight_h, spark[HOURS] / need_h
    known = 1.0 - _MARGIN / np.sqrt(1.0 + MISSES_PER_H * spark[OVER])
    most_over = known * spark_over + LEAST_OVER
    for i in range(len(prior)):
        over, hours = state[i, OVER] / weight_h, state[i, HOURS] / need_h
        per_day = state[i, ACTIONS] * 24.0 / max(weight_h, 3.0)
        cost = hours + price * over + _BUSY * per_day / budget
        excess = min(max(0.0, over / most_over - 1.0), WORST_OVER)
        cost += WORSE_OVER * excess
        cost += WORSE_HOURS * max(0.0, hours - BETTER_HOURS * spark_hours)
        cost += 2.0 * max(0.0, per_day / budget - 1.0)
        total[i] = (weight_h * cost + PRIOR_H * prior[i]) / (weight_h + PRIOR_H)
    return total
