"""DoDo's provisioning: bring the mean load per core back to a bound in one step."""

from math import ceil
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Scale
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.settings import setting
from weir.controllers.model.words import percent, span
from weir.controllers.scaling.answers import because, cannot_tell, not_now, scale_to, stay
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.facts import ClusterFacts

_TOLERANCE = 1e-9  # 3 * 0.8 / 0.8 must give 3, not 4


class DodoScalerSettings(Struct, frozen=True, kw_only=True):
    """Bounds of the mean load, and how long a change takes."""

    max_load: Annotated[
        float, setting("Scale out above this mean load per core", ge=0.01, le=1, unit="load")
    ] = 0.8
    min_load: Annotated[
        float, setting("Scale in below this mean load per core", ge=0, le=1, unit="load")
    ] = 0.3
    ideal_share: Annotated[
        float, setting("Load after scaling in, as a share of max_load", ge=0.01, le=1)
    ] = 0.75
    launch_s: Annotated[
        float, setting("Hold after scaling out, until executors are up", ge=0, unit="s")
    ] = 30.0
    shutdown_s: Annotated[float, setting("Hold after scaling in", ge=0, unit="s")] = 30.0
    periods: Annotated[int, setting("Periods in the mean", ge=1, le=1000, unit="periods")] = 5

    def __post_init__(self) -> None:
        if self.min_load >= self.max_load * self.ideal_share:
            raise ValueError("min_load must be below max_load * ideal_share, or it never settles")


class DodoMemory(Memory, frozen=True, kw_only=True):
    """Load of the last periods in cores, and until when to hold."""

    load_cores: LoadSeries = LoadSeries()
    hold_until: float | None = None


class DodoScaler(Scaler[DodoScalerSettings, DodoMemory]):
    """Out when E > max_load, to ceil(I E / max_load); in when E < min_load and
    I > 2, to ceil(I E / (ideal_share max_load)); then hold.

    I is the number of executors and E the mean load per core. Each cluster is
    judged by itself. The load is remembered in cores, so that a change of I does
    not falsify the mean.

    Reference: DoDo (load-adaptive stream processing on S4), chapter 7, algorithm 2.
    Printed there, the actions stand outside the loop over clusters, scaling in
    removes every executor, and truncation never adds the first one.

    >>> target(executors=10, load=0.2, bound=0.75 * 0.8)
    4
    >>> target(executors=1, load=0.9, bound=0.8)
    2
    """

    name = "dodo"
    title = "DoDo provisioning"
    settings_type = DodoScalerSettings
    memory_type = DodoMemory

    def judge(
        self, facts: ClusterFacts, memory: DodoMemory, now: float
    ) -> tuple[Decision, DodoMemory]:
        """Compare the mean load with both bounds."""
        s = self.settings
        if facts.load_cores is None:
            return cannot_tell("The load is not known."), memory
        series = memory.load_cores.appended(facts.load_cores, s.periods)
        memory = replace(memory, load_cores=series)
        executors = max(1, facts.executors)
        load = series.mean / (executors * facts.cores)
        if memory.hold_until is not None and now < memory.hold_until:
            left = memory.hold_until - now
            text = f"The last change has another {span(left)} to take hold; the mean load is {percent(load)}."
            return not_now(text, "now < hold_until", load=load, left_s=left), memory
        if load > s.max_load:
            reason = because(
                f"The mean load of {percent(load)} is above {percent(s.max_load)}.",
                "load > max_load",
                load=load,
                max_load=s.max_load,
            )
            wanted = target(executors, load, s.max_load)
            return self._hold(scale_to(facts, wanted, reason), memory, now + s.launch_s)
        if load < s.min_load and executors > 2:
            ideal = s.ideal_share * s.max_load
            reason = because(
                f"The mean load of {percent(load)} is below {percent(s.min_load)}.",
                "load < min_load and executors > 2",
                load=load,
                min_load=s.min_load,
                ideal_load=ideal,
            )
            wanted = max(1, target(executors, load, ideal))
            return self._hold(scale_to(facts, wanted, reason), memory, now + s.shutdown_s)
        text = (
            f"The mean load of {percent(load)} is within its bounds, or too few executors are left."
        )
        rule = "min_load <= load <= max_load or executors <= 2"
        return stay(text, rule, load=load, min_load=s.min_load, max_load=s.max_load), memory

    @staticmethod
    def _hold(decision: Decision, memory: DodoMemory, until: float) -> tuple[Decision, DodoMemory]:
        if isinstance(decision, Scale):
            memory = replace(memory, hold_until=until)
        return decision, memory


def target(executors: int, load: float, bound: float) -> int:
    """Executors at which the same work gives a load of at most `bound` per core."""
    return ceil(executors * load / bound - _TOLERANCE)
