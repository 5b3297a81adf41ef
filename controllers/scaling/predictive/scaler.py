"""Any scaler, looking at the near future instead of the present."""

from math import ceil
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, NoChange, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import OperatorSample
from weir.controllers.model.settings import setting
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import percent
from weir.controllers.scaling.base import Memory, Scaler, Scope
from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.predictive.forecast import Method
from weir.controllers.scaling.predictive.history import History, SizePlan

WEEK_S = 604_800
MOST_STEPS = 1000  # ahead
_BUSY = 0.85  # load per core from which on nothing is taken away


class PredictiveSettings(Struct, frozen=True, kw_only=True):
    """What to forecast, how far, and for whom."""

    inner: Annotated[str, setting("Scaler that decides on the forecast")] = "rate_based"
    inner_settings: Annotated[dict[str, Any], setting("Settings of that scaler")] = {}
    method: Annotated[Method, setting("How to forecast")] = Method.AUTO
    horizon_s: Annotated[
        float,
        setting(
            "How far to look ahead: the time a change takes and a margin", ge=1, le=WEEK_S, unit="s"
        ),
    ] = 300.0
    step_s: Annotated[
        float, setting("Length of one step of the series", ge=1, le=86_400, unit="s")
    ] = 300.0
    season_s: Annotated[
        float, setting("Length of a season, such as 86400 for a day; 0: as found", ge=0, unit="s")
    ] = 0.0
    keep_steps: Annotated[
        int, setting("Steps to remember; two seasons at least", ge=12, le=20_000, unit="steps")
    ] = 864
    refit_steps: Annotated[
        int, setting("Steps between two looks at which method is best", ge=1, unit="steps")
    ] = 24
    max_factor: Annotated[
        float, setting("The forecast counts for so many times the present at most", ge=1, le=100)
    ] = 3.0
    min_factor: Annotated[
        float, setting("Before a fall the forecast counts for so much at least", ge=0.1, le=1)
    ] = 0.75
    max_error: Annotated[
        float, setting("Do without a forecast whose median error is above this share", ge=0)
    ] = 0.5

    def __post_init__(self) -> None:
        if self.season_s and self.season_s * 2 > self.keep_steps * self.step_s:
            raise ValueError("keep_steps x step_s must hold at least two times season_s")
        if self.horizon_s > MOST_STEPS * self.step_s:
            raise ValueError(f"horizon_s must not be above {MOST_STEPS} x step_s")


class PredictiveMemory(Memory, frozen=True, kw_only=True):
    """The series and its forecast, and the memory of the scaler behind it."""

    history: History = History()
    factor: float = 1.0
    inner: dict[str, Any] | None = None
    inner_name: str = ""  # the scaler whose memory that is


class Predictive(Scaler[PredictiveSettings, PredictiveMemory]):
    """Forecasts the cluster's arrivals and hands the busier near future to another scaler.

    The highest forecast within the horizon, over what arrives now, is the factor by
    which rates, load and batch times are raised; batch times in proportion, which is
    the least that they grow. While no core is short it may be below 1: executors that came
    before the rise go before the fall is over. Methods compete on the cluster's own past; forecasts are checked when
    they come due, and while their median error is too large they are not used.

    >>> PredictiveSettings().inner
    'rate_based'
    """

    name = "predictive"
    title = "Forecast before another scaler"
    settings_type = PredictiveSettings
    memory_type = PredictiveMemory

    def __init__(self, settings: PredictiveSettings, scope: Scope) -> None:
        super().__init__(settings, scope)
        # It imports every scaler, this one too.
        from weir.controllers.scaling.registry import create, scalers

        if settings.inner == self.name:
            raise InvalidInput("inner: a forecast of a forecast makes no sense", field="inner")
        try:
            self.inner: Scaler[Any, Any] = create(settings.inner, settings.inner_settings, scope)
        except InvalidInput as error:
            field = "inner_settings" if settings.inner in scalers() else "inner"
            raise InvalidInput(f"{field}: {error}", field=field) from None

    def judge(
        self, facts: ClusterFacts, memory: PredictiveMemory, now: float
    ) -> tuple[Decision, PredictiveMemory]:
        """Forecast, raise the snapshot, ask the other scaler."""
        s = self.settings
        rows_per_s = facts.arrival_rows_per_s
        history = memory.history
        if facts.complete:  # a gap in the figures is no fall of the load
            history = history.then(rows_per_s, now, self._plan())
        error = history.error
        factor = 1.0
        if rows_per_s > 0 and (error is None or error <= s.max_error):
            factor = self._factor(facts, history, rows_per_s)
        decision, kept = self.inner.decide(
            busier(facts.snapshot, self.scope.cluster, factor),
            self._wrapped_memory(memory),
            now,
        )
        plain = msgspec.json.decode(msgspec.json.encode(kept))  # exactly as it will be stored
        memory = PredictiveMemory(
            history=history, factor=factor, inner=plain, inner_name=self.inner.name
        )
        return _explain(decision, factor, history, s), memory

    def _factor(self, facts: ClusterFacts, history: History, rows_per_s: float) -> float:
        """How much busier, or calmer, the cluster will be within the horizon."""
        s, band = self.settings, history.band
        if band is None:
            return 1.0
        _, likely, _ = band
        growth = min(likely / rows_per_s, s.max_factor)
        if facts.load is None or facts.load > _BUSY:
            return max(1.0, growth)
        return max(growth, s.min_factor)

    def _wrapped_memory(self, memory: PredictiveMemory) -> Any:
        """What the other scaler remembers; another one than last time begins anew."""
        if memory.inner_name != self.inner.name:
            return self.inner.fresh()
        try:
            return self.inner.remember(memory.inner)
        except InvalidInput:
            return self.inner.fresh()

    def _plan(self) -> SizePlan:
        s = self.settings
        season = round(s.season_s / s.step_s)
        return SizePlan(
            s.method,
            s.step_s,
            ceil(s.horizon_s / s.step_s) + 1,
            season,
            s.keep_steps,
            s.refit_steps,
            least=max(12, season),
        )


def busier(snapshot: Snapshot, cluster: str, factor: float) -> Snapshot:
    """The snapshot with `factor` times the work at one cluster."""
    if factor == 1.0:
        return snapshot

    def raise_load(o: OperatorSample) -> OperatorSample:
        def times(value: float | None) -> float | None:
            return None if value is None else value * factor

        return replace(
            o,
            arrival_rows_per_s=o.arrival_rows_per_s * factor,
            processed_rows_per_s=o.processed_rows_per_s * factor,
            load=o.load * factor,
            busy_cores=o.busy_cores * factor,
            processing_s=times(o.processing_s),
            latency_p50_s=times(o.latency_p50_s),
        )

    here = {o.name for o in snapshot.operators if o.cluster == cluster}
    return replace(
        snapshot,
        operators=tuple(raise_load(o) if o.name in here else o for o in snapshot.operators),
        edges=tuple(
            replace(e, rows_per_s=e.rows_per_s * factor) if e.target in here else e
            for e in snapshot.edges
        ),
    )


def _explain(
    decision: Decision, factor: float, history: History, settings: PredictiveSettings
) -> Decision:
    """The decision with what the forecast had to do with it."""
    if not isinstance(decision, Scale | NoChange):
        return decision
    reason, error, band = decision.reason, history.error, history.band
    text = reason.text
    if factor != 1.0:
        change = abs(round(100.0 * (factor - 1.0)))
        way = f"{change} % {'more' if factor > 1.0 else 'less'} than now" if change else "as now"
        text = f"Arrivals within {settings.horizon_s:g} s are forecast{_by_method(history)}: {way}. {text}"
    elif error is not None and error > settings.max_error:
        off = f"{percent(error)}" if error < 10 else "far more than it says"
        text = f"The forecast is off by {off} and not used. {text}"
    numbers = {**reason.numbers, "forecast_factor": factor}
    if band is not None:
        names = ("forecast_low", "forecast", "forecast_high")
        numbers |= {f"{n}_rows_per_s": v for n, v in zip(names, band, strict=True)}
    if history.chosen is not None:
        numbers["forecast_season_s"] = history.chosen.season * settings.step_s
        numbers |= {f"error_of_{m}": e for m, e in history.chosen.errors.items()}
    if error is not None:
        numbers["forecast_error"] = min(error, 1e6)
    return replace(decision, reason=replace(reason, text=text, numbers=numbers))


def _by_method(history: History) -> str:
    return f" ({history.chosen.method.value.replace('_', ' ')})" if history.chosen else ""
