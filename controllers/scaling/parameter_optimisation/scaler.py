"""Thresholds that are searched again whenever the workload has changed."""

from random import Random
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Prediction, Scale
from weir.controllers.model.settings import setting
from weir.controllers.model.words import number_of, percent
from weir.controllers.scaling.answers import because, cannot_tell, scale_to, stay
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.parameter_optimisation.cost import (
    Prices,
    SimulatedCluster,
    ThresholdPair,
    cost,
    wanted_executors,
)
from weir.controllers.scaling.parameter_optimisation.search import Coordinates, search
from weir.controllers.scaling.parameter_optimisation.window import cut_index


class OptimisationSettings(Struct, frozen=True, kw_only=True):
    """Prices, the window, and the effort of the search."""

    target_latency_s: Annotated[
        float, setting("Latency beyond which a second is late", ge=0.1, unit="s")
    ] = 10.0
    executor_price: Annotated[
        float, setting("Price of an executor for one second", ge=0, le=1e9)
    ] = 1.0
    late_price: Annotated[
        float, setting("Price of one second at the target latency", ge=0, le=1e9)
    ] = 10.0
    change_price: Annotated[float, setting("Price of one change", ge=0, le=1e9)] = 5.0
    window: Annotated[int, setting("Most periods to remember", ge=10, le=2000, unit="periods")] = (
        240
    )
    confidence: Annotated[
        float, setting("Chance of seeing a change that is none (ADWIN's delta)", ge=1e-6, le=0.5)
    ] = 0.05
    least_breaches: Annotated[
        int,
        setting("Fewest periods beyond a threshold before acting", ge=1, le=1000, unit="periods"),
    ] = 1
    most_breaches: Annotated[
        int, setting("Most periods beyond a threshold before acting", ge=1, le=1000, unit="periods")
    ] = 12
    evaluations: Annotated[int, setting("Simulations per search", ge=10, le=10_000)] = 120
    seed: Annotated[int, setting("Seed of the search")] = 0

    def __post_init__(self) -> None:
        if self.least_breaches > self.most_breaches:
            raise ValueError("least_breaches must not be above most_breaches")


class OptimisationMemory(Memory, frozen=True, kw_only=True):
    """The window of the load, the thresholds in force, and how often they are broken."""

    load_cores: tuple[float, ...] = ()
    thresholds: ThresholdPair = ThresholdPair()
    above: int = 0
    below: int = 0
    searches: int = 0
    searched_at: float | None = None
    cost: float | None = None  # of the thresholds in force, on the window they were found on


class ParameterOptimisation(Scaler[OptimisationSettings, OptimisationMemory]):
    """When the load's window shows a change, searches the thresholds that would have
    been cheapest on it; in between, acts by the thresholds in force.

    >>> OptimisationMemory().thresholds.upper
    0.8
    """

    name = "parameter_optimisation"
    title = "Online parameter optimisation"
    settings_type = OptimisationSettings
    memory_type = OptimisationMemory

    def judge(
        self, facts: ClusterFacts, memory: OptimisationMemory, now: float
    ) -> tuple[Decision, OptimisationMemory]:
        """Remember, search if the workload has changed, act if a threshold is broken."""
        load_cores, load = facts.load_cores, facts.load
        if load_cores is None or load is None:
            return cannot_tell("The load is not known."), memory
        memory = self._optimise(facts, memory, load_cores, now)
        t = memory.thresholds
        # A queue is work too: without it a cluster that is behind would look just busy.
        latency_s = facts.own_latency_s or 0.0
        behind = latency_s > self.settings.target_latency_s and load > t.lower
        above = memory.above + 1 if load > t.upper or behind else 0
        below = memory.below + 1 if load < t.lower and not behind else 0
        memory = replace(memory, above=above, below=below)
        numbers = {
            "load": load,
            "upper_load": t.upper,
            "lower_load": t.lower,
            "above": above,
            "below": below,
            "upper_breaches": t.upper_breaches,
            "lower_breaches": t.lower_breaches,
            "latency_s": latency_s,
        }
        size = SimulatedCluster(facts.executors, facts.cores, facts.low, facts.high)
        if above >= t.upper_breaches:
            target = max(wanted_executors(load_cores, t, size), facts.executors + int(behind))
            if load > t.upper:
                text = f"The load of {percent(load)} was above {percent(t.upper)}"
                rule = "load > upper for upper_breaches"
            else:
                target_s = self.settings.target_latency_s
                text = f"The latency of {latency_s:.1f} s was above this scaler's {target_s:g} s"
                rule = "latency > target for upper_breaches"
            text += f" for {number_of(above, 'period')}."
        elif below >= t.lower_breaches:
            target = min(wanted_executors(load_cores, t, size), facts.executors)
            text = (
                f"The load of {percent(load)} was below {percent(t.lower)} "
                f"for {number_of(below, 'period')}."
            )
            rule = "load < lower for lower_breaches"
        else:
            text = (
                f"The load of {percent(load)} is between {percent(t.lower)} and "
                f"{percent(t.upper)}, or has not been outside for long."
            )
            return stay(text, "lower <= load <= upper", **numbers), memory
        decision = scale_to(
            facts, target, because(text, rule, **numbers), Prediction(cost=memory.cost)
        )
        if isinstance(decision, Scale):
            memory = replace(memory, above=0, below=0)
        return decision, memory

    def _optimise(
        self, facts: ClusterFacts, memory: OptimisationMemory, load_cores: float, now: float
    ) -> OptimisationMemory:
        s = self.settings
        values = (*memory.load_cores, load_cores)[-s.window :]
        drop = cut_index(values, s.confidence)
        memory = replace(memory, load_cores=values[drop:])
        if not drop or facts.snapshot.period_s <= 0:
            return memory
        prices = Prices(s.executor_price, s.late_price, s.change_price, s.target_latency_s)
        size = SimulatedCluster(facts.executors, facts.cores, facts.low, facts.high)
        # The change itself is what the thresholds must master: simulate the whole
        # window, the old part included.
        point, found = search(
            lambda p: cost(values, facts.snapshot.period_s, self.thresholds(p), prices, size),
            4,
            Random(f"search {s.seed} {memory.searches}"),
            start=self.point(memory.thresholds),
            evaluations=s.evaluations,
        )
        return replace(
            memory,
            thresholds=self.thresholds(point),
            searches=memory.searches + 1,
            searched_at=now,
            cost=found,
            above=0,
            below=0,
        )

    def thresholds(self, point: Coordinates) -> ThresholdPair:
        """A point of the unit cube as thresholds; the lower one stays well below the upper."""
        s = self.settings
        upper = 0.5 + 0.45 * point[0]
        span = s.most_breaches - s.least_breaches
        return ThresholdPair(
            upper,
            upper * (0.1 + 0.5 * point[1]),
            s.least_breaches + round(point[2] * span),
            s.least_breaches + round(point[3] * span),
        )

    def point(self, thresholds: ThresholdPair) -> Coordinates:
        """The inverse of `thresholds`, within the unit cube."""
        s, t = self.settings, thresholds
        span = max(1, s.most_breaches - s.least_breaches)
        raw = (
            (t.upper - 0.5) / 0.45,
            (t.lower / t.upper - 0.1) / 0.5,
            (t.upper_breaches - s.least_breaches) / span,
            (t.lower_breaches - s.least_breaches) / span,
        )
        return tuple(min(1.0, max(0.0, v)) for v in raw)
