"""States and actions: a latency bin and whether the workload rises; in, none, out."""

from enum import IntEnum
from math import ceil

from msgspec import Struct

from weir.controllers.scaling.qlearning.settings import QSettings


class Action(IntEnum):
    """What can be done; the value is the column of the table."""

    IN = 0
    NONE = 1
    OUT = 2


class State(Struct, frozen=True):
    """Where the cluster stands."""

    bin: int
    rising: bool

    @property
    def index(self) -> int:
        """Row of the table."""
        return 2 * self.bin + int(self.rising)


class StateSpace(Struct, frozen=True):
    """All states: bins of equal width up to the highest latency, twice; the last bin is open.

    >>> space = StateSpace.of(QSettings(max_latency_s=60.0, latency_granularity_s=10.0))
    >>> space.bins, len(space), space.state(34.9, rising=True)
    (7, 14, State(bin=3, rising=True))
    >>> space.state(1e9, rising=False).bin, space.latency_s(3)
    (6, 35.0)
    """

    bins: int
    width_s: float

    @classmethod
    def of(cls, settings: QSettings) -> "StateSpace":
        """Bins up to the highest latency, and an open one beyond it."""
        return cls(ceil(settings.longest_s / settings.bin_s - 1e-9) + 1, settings.bin_s)

    def __len__(self) -> int:
        return 2 * self.bins

    def state(self, latency_s: float, rising: bool) -> State:
        """The state of a latency and a direction."""
        return State(min(int(latency_s / self.width_s), self.bins - 1), rising)

    def at(self, index: int) -> State:
        """The state of a row."""
        return State(index // 2, bool(index % 2))

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
