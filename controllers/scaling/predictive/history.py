"""Arrivals by steps of time, the forecast from them, and how far past forecasts were off."""

from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.scaling.predictive.choice import Chosen, choose_method
from weir.controllers.scaling.predictive.forecast import ForecastFit, Method, forecast

_JUDGED = 30  # forecasts whose errors are kept


class SizePlan(Struct, frozen=True):
    """How to forecast."""

    method: Method
    step_s: float
    steps: int  # ahead
    season: int  # steps; 0: to be found
    keep: int  # steps
    refit: int  # steps between two looks at the past
    least: int  # steps before the first forecast


class History(Struct, frozen=True, kw_only=True):
    """Mean arrivals of whole steps, and the step that is still filling."""

    values: tuple[float, ...] = ()
    step: int | None = None  # number of the step that is filling
    total: float = 0.0
    count: int = 0
    ahead: tuple[float, ...] = ()  # forecast of the next steps
    chosen: Chosen | None = None
    fit: ForecastFit | None = None
    since_fit: int = 0
    due: dict[int, float] = {}  # step -> what was forecast for it
    errors: tuple[float, ...] = ()  # of forecasts that came due, as a share

    @property
    def band(self) -> tuple[float, float, float] | None:
        """Rows per second expected at most within the horizon: low, likely and high."""
        if not self.ahead or self.chosen is None:
            return None
        likely = max(self.ahead)
        return likely * self.chosen.low, likely, likely * self.chosen.high

    @property
    def error(self) -> float | None:
        """Median error of the forecasts that came due; None before the first."""
        return median(self.errors) if self.errors else None

    def then(self, rows_per_s: float, now: float, plan: SizePlan) -> "History":
        """With one period more; a step that is over is closed and a forecast made.

        >>> plan = SizePlan(Method.SEASONAL_NAIVE, step_s=10.0, steps=1, season=2, keep=9,
        ...             refit=5, least=2)
        >>> h = History()
        >>> for at, rows in ((0, 1.0), (5, 3.0), (10, 5.0), (20, 2.0)):
        ...     h = h.then(rows, at, plan)
        >>> h.values, h.ahead
        ((2.0, 5.0), (2.0,))
        """
        step = int(now // plan.step_s)
        if self.step is None or step < self.step:
            return replace(self, step=step, total=rows_per_s, count=1)
        if step == self.step:
            return replace(self, total=self.total + rows_per_s, count=self.count + 1)
        mean = self.total / self.count
        # Steps without any period repeat the last one, so that seasons stay in place.
        missing = min(step - self.step, plan.keep)
        closed = replace(
            self._judge(mean),
            values=(*self.values, *(mean,) * missing)[-plan.keep :],
            step=step,
            total=rows_per_s,
            count=1,
        )
        return closed._forecast(plan, step)

    def _judge(self, mean: float) -> "History":
        assert self.step is not None
        said = self.due.get(self.step)
        errors = self.errors
        if said is not None:
            errors = (*errors, abs(said - mean) / max(mean, 1e-9))[-_JUDGED:]
        due = {k: v for k, v in self.due.items() if k > self.step}
        return replace(self, errors=errors, due=due)

    def _forecast(self, plan: SizePlan, step: int) -> "History":
        if len(self.values) < plan.least:
            return replace(self, ahead=())
        chosen, fit, since = self.chosen, self.fit, self.since_fit + 1
        # A short past is looked at more often: what it says changes with every step.
        if chosen is None or not chosen.errors or since >= min(plan.refit, len(self.values) // 4):
            chosen = choose_method(self.values, plan.steps, plan.method, plan.season)
            fit, since = None, 0  # to be found on all of the past
        ahead, fit = forecast(chosen.method, self.values, plan.steps, chosen.season, fit)
        # The forecast's first value is for the step that is filling now.
        due = {**self.due, step + len(ahead) - 1: ahead[-1]}
        return replace(self, ahead=tuple(ahead), chosen=chosen, fit=fit, since_fit=since, due=due)
