"""States and actions: a latency bin and whether the workload rises; in, none, out.

With the trained table a state also knows the risk of fewer executors, by how often loads have
jumped above what they could do, and whether it is time to save.
"""

from bisect import bisect_left
from collections.abc import Sequence
from enum import IntEnum
from math import ceil

import numpy as np
from msgspec import Struct

from weir.controllers.scaling.qlearning.settings import QSettings

JUMPS = (0.0, 5.0, 15.0), (0.0, 5.0, 15.0, 35.0, 75.0)
"""Jumps in the last hour and in the last six that bound the levels of risk, each by what scaling
in would save: the same jumps are worth waiting for where one of two executors would go, and not
where one of twenty would."""
RISKS = 2 * (len(JUMPS[0]) + 1) * (len(JUMPS[1]) + 1)
HOUR = 60  # minutes
_CALM = 0.9  # of the cores: a load that came from below that jumped


class Action(IntEnum):
    """What can be done; the value is the column of the table."""

    IN = 0
    NONE = 1
    OUT = 2


class State(Struct, frozen=True):
    """Where the cluster stands."""

    index: int  # row of the table
    bin: int
    rising: bool
    risk: int = 0


class StateSpace(Struct, frozen=True):
    """All states: bins of equal width up to the highest latency, twice, for every level of risk;
    the last bin is open.

    >>> space = StateSpace(bins=7, width_s=10.0)
    >>> space.bins, len(space), space.state(34.9, rising=True)
    (7, 14, State(index=7, bin=3, rising=True, risk=0))
    >>> space.state(1e9, rising=False).bin, space.latency_s(3)
    (6, 35.0)
    """

    bins: int
    width_s: float
    risks: int = 1

    @classmethod
    def of(cls, settings: QSettings) -> "StateSpace":
        """Bins up to the highest latency, and an open one beyond it."""
        bins = ceil(settings.longest_s / settings.bin_s - 1e-9) + 1
        return cls(bins, settings.bin_s, RISKS if settings.sees_risk else 1)

    def __len__(self) -> int:
        return 2 * self.bins * self.risks

    def state(self, latency_s: float, rising: bool, risk: int = 0) -> State:
        """The state of a latency, a direction and a risk."""
        bin = min(int(latency_s / self.width_s), self.bins - 1)
        return self.at(2 * (risk * self.bins + bin) + int(rising))

    def at(self, index: int) -> State:
        """The state of a row."""
        risk, bin = divmod(index // 2, self.bins)
        return State(index, bin, bool(index % 2), risk)

    def latency_s(self, bin: int) -> float:
        """The latency that stands for a bin: its middle."""
        return (bin + 0.5) * self.width_s


def rises(rows_per_s: float, before_rows_per_s: float, granularity: float) -> bool:
    """The workload is in a higher step than in the window before; 0: a twentieth higher.

    >>> rises(109.0, 101.0, 10.0), rises(111.0, 109.0, 10.0), rises(106.0, 100.0, 0.0)
    (False, True, True)
    """
    if not granularity:
        return rows_per_s > 1.05 * before_rows_per_s
    return int(rows_per_s / granularity) > int(before_rows_per_s / granularity)


def risk_of(minutes: Sequence[float], cores: float, saved: float, thrifty: bool = False) -> int:
    """The level of risk of having so many cores: how often the load of a minute jumped above
    them, over what they save as a share of the mean load. What rises slowly is no risk, as
    executors come in time. Twice as many levels: each also for one who must save.

    >>> risk_of([1.0, 3.0] * 180, 2.0, 0.2), risk_of([1.0, 3.0] + [1.0] * 300, 2.0, 0.2)
    (46, 2)
    >>> risk_of([0.1 * i for i in range(100)], 2.0, 0.2)
    0
    """
    loads = np.asarray(minutes[-6 * HOUR :])
    before = np.concatenate([loads[:1], loads[:-1]])
    calm = np.minimum(before, np.concatenate([before[:1], before[:-1]])) <= _CALM * cores
    jumps = (loads > cores) & (before <= cores) & calm
    hour, six = jumps[-HOUR:].sum() / saved, jumps.sum() / saved
    jumped = bisect_left(JUMPS[0], hour) * (len(JUMPS[1]) + 1) + bisect_left(JUMPS[1], six)
    return 2 * jumped + int(thrifty)


def risk_text(risk: int) -> str:
    """A level of risk in words.

    >>> risk_text(0), risk_text(46), risk_text(3)
    ('no jumps', 'jumps at level 3 of 3 in an hour and 5 of 5 in six', 'jumps at level 0 of 3 in an hour and 1 of 5 in six, saving')
    """
    jumped, saving = divmod(risk, 2)
    hour, six = divmod(jumped, len(JUMPS[1]) + 1)
    text = (
        f"jumps at level {hour} of {len(JUMPS[0])} in an hour and {six} of {len(JUMPS[1])} in six"
    )
    return ("no jumps" if not jumped else text) + (", saving" if saving else "")
