"""DRS as a scaler: MinProcessors when the latency leaves its band."""

from math import ceil
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Prediction, Reason, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import setting
from weir.controllers.model.words import number_of, span
from weir.controllers.scaling.answers import because, cannot_tell, not_now, scale_to, stay
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.drs.allocate import LARGEST, assign_processors, min_processors
from weir.controllers.scaling.drs.measure import (
    MeasuredFigure,
    Smoothing,
    StationTrack,
    cost_of,
    network_of,
    stations,
)
from weir.controllers.scaling.drs.network import Network
from weir.controllers.scaling.facts import ClusterFacts


class DrsSettings(Struct, frozen=True, kw_only=True):
    """T_max, T_min, T_ra, smoothing, and how the model sees a cluster.

    The paper's infinite T_ra is `recommend_only`.
    """

    t_max_s: Annotated[float, setting("Scale out above this latency", ge=0.001, unit="s")] = 10.0
    t_min_s: Annotated[float, setting("Scale in below this latency", ge=0, unit="s")] = 4.0
    t_ra_s: Annotated[float, setting("Least time between two changes", ge=0, unit="s")] = 30.0
    recommend_only: Annotated[
        bool, setting("Say what it would do and do nothing, as if t_ra_s were infinite")
    ] = False
    smoothing: Annotated[Smoothing, setting("Mean over a window, or fading by alpha")] = (
        Smoothing.WINDOW
    )
    window: Annotated[int, setting("Periods in the window", ge=1, le=1000, unit="periods")] = 6
    alpha: Annotated[float, setting("Weight of the past in fading", ge=0, le=0.999)] = 0.7
    variability: Annotated[
        bool, setting("Use the measured variability (GI/G/k) instead of M/M/k")
    ] = True
    share_cores: Annotated[
        bool, setting("Operators share all cores, as in Spark; off: each has cores of its own")
    ] = True
    max_utilisation: Annotated[
        float, setting("Never plan for busier cores than this", ge=0.05, le=1, unit="load")
    ] = 0.9

    def __post_init__(self) -> None:
        if self.t_min_s >= self.t_max_s:
            raise ValueError(f"t_min_s ({self.t_min_s}) must be below t_max_s ({self.t_max_s})")


class DrsMemory(Memory, frozen=True, kw_only=True):
    """Smoothed measurements, and when the allocation was last changed."""

    tracks: dict[str, StationTrack] = {}
    latency: MeasuredFigure = MeasuredFigure()
    overhead: tuple[float, ...] = ()  # measured less modelled, newest last
    changed_at: float | None = None
    model_s: float | None = None  # the model's latency at the present size
    predicted_s: float | None = None  # that and the overhead known before the last measurement
    wanted: int | None = None  # executors by the model
    executors: int | None = None  # at the last look


class Drs(Scaler[DrsSettings, DrsMemory]):
    """Compares the measured latency with T_max and T_min and sizes by the model.

    The model knows queueing and service. What a batch engine adds on top (waiting
    for the trigger, planning, commit) is the least difference between measured and
    modelled latency in the window, and is added to every prediction; the least,
    because a queue that built up earlier passes and overhead stays.

    Reference: Fu et al., "DRS: auto-scaling for real-time stream analytics",
    IEEE/ACM Transactions on Networking 25 (2017), section IV.

    >>> DrsSettings().t_max_s > DrsSettings().t_min_s
    True
    """

    name = "drs"
    title = "DRS queueing model"
    settings_type = DrsSettings
    memory_type = DrsMemory

    def judge(
        self, facts: ClusterFacts, memory: DrsMemory, now: float
    ) -> tuple[Decision, DrsMemory]:
        """Measure, model, compare; scale when the latency is out of its band."""
        s = self.settings
        known = min(memory.overhead, default=0.0)
        memory = replace(self._measure(facts, memory), model_s=None, predicted_s=None)
        if memory.executors not in (None, facts.executors):  # whoever changed it
            memory = replace(memory, changed_at=now, overhead=())
        memory = replace(memory, executors=facts.executors)
        network = network_of(facts, stations(memory.tracks, s.variability), s.share_cores)
        if network is None or not memory.latency.raw or not facts.complete:
            return cannot_tell("Rates or latency are not known yet."), memory
        measured = memory.latency.value
        modelled = _sojourn_s(network, facts.capacity)
        if modelled is not None:
            gap = max(0.0, measured - modelled)
            memory = replace(
                memory,
                overhead=(*memory.overhead, gap)[-s.window :],
                model_s=modelled,
                predicted_s=modelled + known,
            )
        overhead = min(memory.overhead, default=0.0)
        wanted, predicted = self._size(facts, network, overhead)
        memory = replace(memory, wanted=wanted)
        behind = modelled is None
        too_slow = behind or measured > s.t_max_s
        if too_slow:
            rule = "load > capacity" if behind else "latency > t_max"
        elif measured < s.t_min_s:
            rule = "latency < t_min"
        else:
            text = f"The latency of {measured:.2f} s is within {s.t_min_s:g} and {s.t_max_s:g} s."
            return stay(text, "t_min <= latency <= t_max", latency_s=measured), memory
        reason = self._reason(rule, measured, modelled, overhead, predicted, wanted)
        if (wanted > facts.executors) != too_slow:
            text = f"{reason.text} The model finds the present size right."
            return stay(text, rule, **reason.numbers), memory
        if s.recommend_only:
            text = f"{reason.text} Recommended: {number_of(wanted, 'executor')}; nothing is done."
            return stay(text, rule, **reason.numbers), memory
        if memory.changed_at is not None and now - memory.changed_at < s.t_ra_s:
            left = s.t_ra_s - (now - memory.changed_at)
            text = f"{reason.text} The last change is too recent, {span(left)} to go."
            return not_now(text, "now - changed_at < t_ra", left_s=left, **reason.numbers), memory
        decision = scale_to(facts, wanted, reason, Prediction(latency_s=predicted))
        if isinstance(decision, Scale):
            at = decision.executors * facts.cores
            reached = _sojourn_s(network, at)
            latency = None if reached is None else overhead + reached
            decision = replace(decision, prediction=replace(decision.prediction, latency_s=latency))
        return decision, memory

    def _measure(self, facts: ClusterFacts, memory: DrsMemory) -> DrsMemory:
        s = self.settings

        def then(figure: MeasuredFigure, value: float | None) -> MeasuredFigure:
            if value is None:
                return figure
            return figure.then(value, s.smoothing, s.window, s.alpha)

        tracks = {}
        for o in facts.operators:
            old = memory.tracks.get(o.name, StationTrack())
            tracks[o.name] = StationTrack(
                then(old.arrivals, o.arrival_rows_per_s),
                then(old.cost_s, cost_of(o)),
                then(old.batch_rows, o.batch_rows),
            )
        return replace(memory, tracks=tracks, latency=then(memory.latency, facts.own_latency_s))

    def _size(
        self, facts: ClusterFacts, network: Network, overhead: float
    ) -> tuple[int, float | None]:
        """Executors by MinProcessors, and the latency that they should bring."""
        s = self.settings
        if network.least > min(
            facts.high * facts.cores, LARGEST
        ):  # more than allowed: no need for the model
            return ceil(network.least / facts.cores), None
        for extra in (overhead, 0.0):  # where overhead alone exceeds T_max, do what can be done
            try:
                cores = min_processors(network, s.t_max_s - extra).total
                break
            except InvalidInput:
                cores = network.least
        offered = sum(st.offered for st in network.stations)
        cores = max(cores, ceil(offered / s.max_utilisation))
        executors = ceil(cores / facts.cores)
        sojourn = _sojourn_s(network, executors * facts.cores)
        return executors, None if sojourn is None else overhead + sojourn

    def _reason(
        self,
        rule: str,
        measured: float,
        modelled: float | None,
        overhead: float,
        predicted: float | None,
        wanted: int,
    ) -> Reason:
        s = self.settings
        texts = {
            "load > capacity": "More work arrives than the cores can do.",
            "latency > t_max": f"The latency of {measured:.2f} s is above {s.t_max_s:g} s.",
            "latency < t_min": f"The latency of {measured:.2f} s is below {s.t_min_s:g} s.",
        }
        return because(
            texts[rule],
            rule,
            latency_s=measured,
            model_s=modelled,
            overhead_s=overhead,
            predicted_s=predicted,
            t_max_s=s.t_max_s,
            t_min_s=s.t_min_s,
            recommended=wanted,
        )


def _sojourn_s(network: Network, cores: int) -> float | None:
    """The model's latency with that many cores; None where they cannot keep up."""
    if cores < network.least or network.least > LARGEST:
        return None
    return network.sojourn_s(assign_processors(network, cores).processors)
