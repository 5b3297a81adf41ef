"""How long a row waits in a cluster that several operators share: the model that plans look into.

A batch begins with the trigger or right after the one before it, takes a fixed time and the
work of its rows on the cores that the other operators leave:

    batch  = fixed + load * period / free cores        period = max(trigger, batch)
    latency of the median row = period / 2 + batch

Without free cores for the load no period is long enough: the queue grows, and latency with it.
"""

import math

from msgspec import Struct

NEVER = math.inf


class Timing(Struct, frozen=True, kw_only=True):
    """What the latency of one operator depends on beside load."""

    trigger_s: float = 0.0
    fixed_s: float = 0.0  # of a batch, whatever its size


def latency_s(load: float, others: float, cores: float, timing: Timing) -> float:
    """Latency of the median row, with `load` and the `others`' load in cores.

    >>> latency_s(0.5, 0.0, 1.0, Timing(trigger_s=2.0, fixed_s=0.5))
    2.5
    >>> latency_s(0.75, 0.0, 1.0, Timing(trigger_s=2.0, fixed_s=1.0))  # batch after batch
    6.0
    >>> latency_s(0.8, 0.3, 1.0, Timing())
    inf
    """
    free = cores - others
    if load >= free or free <= 0.0:
        return NEVER
    busy = load / free
    batch_s = timing.fixed_s + busy * timing.trigger_s
    period_s = timing.trigger_s
    if batch_s > timing.trigger_s:
        batch_s = period_s = timing.fixed_s / (1.0 - busy)
    return period_s / 2.0 + batch_s


def timing_of(load: float, others: float, cores: float, trigger_s: float, batch_s: float) -> Timing:
    """The timing by which a batch takes as long as was measured.

    >>> timing_of(0.5, 0.0, 1.0, trigger_s=2.0, batch_s=1.5)
    Timing(trigger_s=2.0, fixed_s=0.5)
    """
    free = cores - others
    busy = min(load / free, 0.95) if free > 0.0 else 0.95
    period_s = max(trigger_s, batch_s)
    return Timing(trigger_s=trigger_s, fixed_s=max(0.0, batch_s - busy * period_s))
