"""How long a batch takes, and how hot a cluster may run for a target.

    latency = wait for the trigger + queue before it + fixed time + work / cores

The fixed time and how well cores are used are fitted to the batches that were seen:
time of a batch = fixed + stretch x core seconds of its rows / cores.
"""

from msgspec import Struct

_FADE = 0.99  # weight that a batch keeps when the next one comes: a hundred are remembered
_PRIOR = 3.0  # batches that speak for "cores are used fully, nothing is fixed"
SAFE = 0.6  # share of the target that is aimed at: what is measured and predicted is off a little
HOTTEST = 0.91  # times of batches vary: hotter, queues grow by chance alone


class BatchTimes(Struct, frozen=True):
    """A fading straight line through (ideal time, time) of batches.

    >>> seen = BatchTimes()
    >>> for ideal in (2.0, 4.0, 6.0, 3.0, 5.0) * 20: seen = seen.plus(ideal, 0.5 + 1.2 * ideal)
    >>> round(seen.fixed_s, 1), round(seen.stretch, 1)
    (0.7, 1.1)
    """

    count: float = 0.0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def plus(self, ideal_s: float, took_s: float) -> "BatchTimes":
        """With one batch more; `ideal_s` is its work over the cores that were there."""
        f = _FADE
        return BatchTimes(
            f * self.count + 1.0,
            f * self.x + ideal_s,
            f * self.y + took_s,
            f * self.xx + ideal_s * ideal_s,
            f * self.xy + ideal_s * took_s,
        )

    @property
    def stretch(self) -> float:
        """Time on the clock over core seconds / cores; drawn towards 1 while little is known."""
        if not self.count:
            return 1.0
        mean = self.x / self.count
        spread = max(0.0, self.xx - self.x * mean)
        tie = _PRIOR * max(mean * mean, 1e-12)
        slope = (self.xy - mean * self.y + tie) / (spread + tie)
        return min(max(slope, 0.7), 4.0)

    @property
    def fixed_s(self) -> float:
        """Time of a batch without rows."""
        if not self.count:
            return 0.0
        return max(0.0, (self.y - self.stretch * self.x) / self.count)


def hottest(fixed_s: float, trigger_s: float, target_s: float) -> float:
    """The highest busy share of the cores at which a steady input stays below the target.

    Below 1 - fixed / trigger every batch ends before the next trigger; above it batches
    grow until fixed / length is what is left idle, and the median row waits half of that.

    >>> round(hottest(0.5, 10.0, 24.0), 2), round(hottest(0.5, 30.0, 24.0), 2)
    (0.91, 0.28)
    >>> round(hottest(2.0, 0.0, 24.0), 3)
    0.875
    """
    share = 0.0
    if trigger_s > 0.0:
        share = min(1.0 - fixed_s / trigger_s, (target_s - trigger_s / 2.0 - fixed_s) / trigger_s)
    late = 1.0 - 1.5 * fixed_s / target_s  # batches follow one another without a pause
    if late > share and fixed_s >= (1.0 - late) * trigger_s:
        share = late
    return min(max(share, 0.1), HOTTEST)


def latency_s(
    load: float, queued: float, cores: float, fixed_s: float, stretch: float, trigger_s: float
) -> float:
    """Latency of the median row, with `load` cores of work arriving and so many core seconds
    queued beyond what a batch always finds.

    >>> latency_s(5.0, 0.0, 10.0, 0.5, 1.0, 10.0), latency_s(5.0, 100.0, 10.0, 0.5, 1.0, 10.0)
    (10.5, 20.5)
    """
    cores = max(cores, 1e-9)
    busy = min(stretch * load / cores, 1.0)
    length = max(trigger_s, fixed_s / max(1.0 - busy, 0.03))
    return length / 2.0 + fixed_s + busy * length + stretch * queued / cores
