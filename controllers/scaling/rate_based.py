"""Rate-based scaling: true processing rates, as DS2 and the Flink autoscaler use them."""

from math import ceil
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Reason, Scale
from weir.controllers.model.settings import setting
from weir.controllers.model.words import are, number_of, percent
from weir.controllers.scaling.answers import because, cannot_tell, not_now, scale_to, stay
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.rates import demands


class RateSettings(Struct, frozen=True, kw_only=True):
    """Utilisation to aim at, its band, catching up, and checks."""

    target_utilisation: Annotated[
        float, setting("Busy share of the cores to aim at", ge=0.05, le=1, unit="share")
    ] = 0.7
    max_utilisation: Annotated[
        float, setting("Scale out above this", ge=0.05, le=1, unit="share")
    ] = 0.9
    min_utilisation: Annotated[float, setting("Scale in below this", ge=0, le=1, unit="share")] = (
        0.4
    )
    catch_up_s: Annotated[
        float, setting("Time in which a queue is to be worked off", ge=1, unit="s")
    ] = 60.0
    restart_s: Annotated[
        float,
        setting(
            "Time until a change takes effect, while rows go on arriving",
            ge=0,
            le=86_400,
            unit="s",
        ),
    ] = 5.0
    periods: Annotated[
        int, setting("Periods to average; begun anew after a change", ge=1, le=100, unit="periods")
    ] = 2
    max_scale_up_factor: Annotated[
        float, setting("Most executors added, as a multiple of those there", ge=0.01, le=100_000)
    ] = 10.0
    max_scale_down_factor: Annotated[
        float,
        setting("Most executors removed, as a share of those there", ge=0.01, le=1, unit="share"),
    ] = 0.6
    observed_lag_s: Annotated[
        float,
        setting(
            "With a queue of so many seconds the observed rate is the capacity", ge=0, unit="s"
        ),
    ] = 10.0
    observed_switch: Annotated[
        float,
        setting(
            "Correct when observed and computed capacity differ by this share", ge=0, unit="share"
        ),
    ] = 0.15
    effectiveness_threshold: Annotated[
        float,
        setting(
            "Least share of the expected gain for a change to count as effective",
            ge=0,
            le=1,
            unit="share",
        ),
    ] = 0.1
    ineffective_hold_s: Annotated[
        float, setting("No more scaling out for so long after an ineffective one", ge=0, unit="s")
    ] = 300.0

    def __post_init__(self) -> None:
        if not self.min_utilisation < self.target_utilisation <= self.max_utilisation:
            raise ValueError("it must be min_utilisation < target_utilisation <= max_utilisation")


class OperatorWork(Struct, frozen=True):
    """One operator over one period."""

    rows_per_s: float
    catch_up_rows_per_s: float
    processed_rows_per_s: float
    busy_cores: float
    lag_rows: float
    cost_s: float | None = None  # measured over whole batches


class ScaledOut(Struct, frozen=True):
    """The last scaling out, to see whether it helped."""

    at: float
    executors: int
    rate_before: float  # true processing rate of the cluster
    rate_expected: float


class RateMemory(Memory, frozen=True, kw_only=True):
    """The last periods by operator, the last scaling out, and a hold."""

    work: dict[str, tuple[OperatorWork, ...]] = {}
    scaled_out: ScaledOut | None = None
    hold_until: float | None = None


class RateBased(Scaler[RateSettings, RateMemory]):
    """Sizes the cluster for the rates that its operators will have to meet.

    The true cost of a row is the task time that whole batches took for it, or else busy
    cores / processed rate, whatever the load is now.
    Needed: sum of cost x (rate / utilisation + queue / catch-up time + what arrives
    until the change takes effect / catch-up time). One step should do; where the
    cores cannot be kept busy though rows wait, the observed rate corrects the cost.

    References: Kalavri et al., "Three steps is all you need" (DS2), OSDI 2018;
    Apache Flink Kubernetes operator, autoscaler.

    >>> RateSettings().target_utilisation
    0.7
    """

    name = "rate_based"
    title = "Rate-based (DS2)"
    settings_type = RateSettings
    memory_type = RateMemory

    def judge(
        self, facts: ClusterFacts, memory: RateMemory, now: float
    ) -> tuple[Decision, RateMemory]:
        """Average, compare the need with the capacity, check the last change."""
        s = self.settings
        if not facts.complete:
            return cannot_tell("The rates are not known."), memory
        memory = self._measure(facts, memory)
        means = {name: _mean(work) for name, work in memory.work.items()}
        if any(len(w) < s.periods for w in memory.work.values()) or not means:
            return not_now(
                f"Fewer than {number_of(s.periods, 'period')} since the last change.", "window"
            ), memory
        costs = self._costs(facts, means)
        if not costs:
            return cannot_tell("No operator has processed anything, so no cost is known."), memory
        if _too_early(means, facts.capacity):
            return stay(
                "Too few rows were processed yet to tell what the rates to meet will cost.",
                "processed rows << rows to process",
            ), memory
        capacity = facts.executors * facts.cores
        most, least = (
            self._need(means, costs, s.max_utilisation),
            self._need(means, costs, s.min_utilisation),
        )
        need = self._need(means, costs, s.target_utilisation)
        wanted = ceil(need / facts.cores - 1e-9)
        rate = _true_rate(means, costs, facts.capacity)
        if most > capacity:
            reason = self._reason("need at max_utilisation > capacity", need, capacity, rate)
            held = self._ineffective(memory, facts, rate, now)
            if held is not None:
                text = (
                    f"{reason.text} But the last scaling out brought less than "
                    f"{percent(s.effectiveness_threshold)} of what it should."
                )
                return stay(text, "gain < threshold x expected", **reason.numbers), held
            ceiling = facts.executors + ceil(max(1, facts.executors) * s.max_scale_up_factor)
            decision = scale_to(facts, min(wanted, ceiling), reason)
            if isinstance(decision, Scale):
                expected = rate * decision.executors * facts.cores / facts.capacity
                out = ScaledOut(now, decision.executors, rate, expected)
                memory = replace(memory, work={}, scaled_out=out)
            return decision, memory
        if least < capacity:
            reason = self._reason("need at min_utilisation < capacity", need, capacity, rate)
            floor = ceil(facts.executors * (1.0 - s.max_scale_down_factor))
            decision = scale_to(facts, max(wanted, floor, 1), reason)
            if isinstance(decision, Scale):
                memory = replace(memory, work={}, scaled_out=None)
            return decision, memory
        reason = self._reason("within the band", need, capacity, rate)
        return stay(reason.text, reason.rule, **reason.numbers), memory

    def _measure(self, facts: ClusterFacts, memory: RateMemory) -> RateMemory:
        s = self.settings
        asked = demands(facts.snapshot, s.catch_up_s)
        work = {}
        for o in facts.operators:
            demand = asked[o.name]
            seen = OperatorWork(
                demand.rows_per_s,
                demand.catch_up_rows_per_s,
                o.processed_rows_per_s,
                o.busy_cores,
                demand.lag_rows,
                o.cost_s_per_row,
            )
            work[o.name] = (*memory.work.get(o.name, ()), seen)[-s.periods :]
        return replace(memory, work=work)

    def _costs(self, facts: ClusterFacts, means: dict[str, OperatorWork]) -> dict[str, float]:
        """Core seconds per row, corrected where rows wait and cores are idle all the same."""
        s = self.settings
        costs = {n: cost for n, w in means.items() if (cost := _cost(w)) is not None}
        busy = sum(w.busy_cores for w in means.values())
        behind = any(w.lag_rows > s.observed_lag_s * w.rows_per_s for w in means.values())
        if behind and busy > 0 and facts.capacity / busy > 1.0 + s.observed_switch:
            return {n: c * facts.capacity / busy for n, c in costs.items()}
        return costs

    def _need(
        self, means: dict[str, OperatorWork], costs: dict[str, float], utilisation: float
    ) -> float:
        """Cores needed; operators without a known cost are left out."""
        s = self.settings
        total = 0.0
        for name, cost in costs.items():
            w = means[name]
            restart = w.rows_per_s * s.restart_s / s.catch_up_s if w.catch_up_rows_per_s else 0.0
            steady = w.rows_per_s / utilisation if utilisation else float("inf")
            total += cost * (steady + w.catch_up_rows_per_s + restart)
        return total

    def _ineffective(
        self, memory: RateMemory, facts: ClusterFacts, rate: float, now: float
    ) -> RateMemory | None:
        """Memory with a hold where the last scaling out did not raise the true rate."""
        if memory.hold_until is not None and now < memory.hold_until:
            return memory
        out = memory.scaled_out
        if out is None or facts.cluster.executors < out.executors:
            return None  # nothing to judge, or not all of it is there yet
        gain, expected = rate - out.rate_before, out.rate_expected - out.rate_before
        if gain >= self.settings.effectiveness_threshold * expected:
            return None
        hold = now + self.settings.ineffective_hold_s
        return replace(memory, hold_until=hold, scaled_out=None)

    def _reason(self, rule: str, need: float, capacity: int, rate: float) -> Reason:
        s = self.settings
        return because(
            f"The rates to meet need {need:.2f} cores at {percent(s.target_utilisation)} "
            f"utilisation; {capacity} {are(capacity)} there.",
            rule,
            need_cores=need,
            capacity_cores=capacity,
            true_rows_per_s=rate,
            target_utilisation=s.target_utilisation,
        )


def _too_early(means: dict[str, OperatorWork], capacity: int) -> bool:
    """A batch of a few rows is nearly all overhead: its cost per row says nothing about many.
    So it is right after a start, when cores idle and hardly a row has been processed."""
    asked = sum(w.rows_per_s + w.catch_up_rows_per_s for w in means.values())
    done = sum(w.processed_rows_per_s for w in means.values())
    busy = sum(w.busy_cores for w in means.values())
    return done * 10 < asked and busy < capacity / 2


def _cost(work: OperatorWork) -> float | None:
    """What a row costs. A batch may outlast the window: then tasks were busy and nothing was
    committed, or the other way round, so the cost over whole batches goes first."""
    if work.cost_s is not None:
        return work.cost_s
    if work.processed_rows_per_s > 0 and work.busy_cores > 0:
        return work.busy_cores / work.processed_rows_per_s
    return None


def _mean(work: tuple[OperatorWork, ...]) -> OperatorWork:
    n = len(work)
    return OperatorWork(
        sum(w.rows_per_s for w in work) / n,
        work[-1].catch_up_rows_per_s,  # a queue is as long as it is now
        sum(w.processed_rows_per_s for w in work) / n,
        sum(w.busy_cores for w in work) / n,
        work[-1].lag_rows,
        work[-1].cost_s,
    )


def _true_rate(means: dict[str, OperatorWork], costs: dict[str, float], cores: int) -> float:
    """Rows per second of all operators in their present mix, if every core were busy."""
    rows = sum(means[n].rows_per_s for n in costs)
    work = sum(means[n].rows_per_s * c for n, c in costs.items())
    return cores * rows / work if work > 0 else 0.0
