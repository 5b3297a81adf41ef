"""The way that would have been best so far, applied to the cluster as it is."""

from math import exp

import numpy as np
from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Prediction, Reason, Scale
from weir.controllers.model.words import either, latency, number_of, quantity, span
from weir.controllers.scaling.answers import because, scale_to, stay
from weir.controllers.scaling.base import Scaler
from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.horizon.batches import SAFE, hottest, latency_s
from weir.controllers.scaling.horizon.choice import FADE_H, best_way, budget_per_day
from weir.controllers.scaling.horizon.outlook import HorizonMemory, Sight, encode_trials, measure
from weir.controllers.scaling.horizon.settings import HorizonSettings
from weir.controllers.scaling.horizon.trials import (
    WAYS,
    Floats,
    fresh,
    step,
    wanted_executors,
)

_LEAST_BATCHES, _LEAST_S = 3, 30.0
_BAND = 1.65  # errors on each side: 19 of 20


class Horizon(Scaler[HorizonSettings, HorizonMemory]):
    """Asks for the fewest executors with which the target is kept until a change takes effect.

    Latency is foreseen by the batch model for the time that executors need to come, with
    what arrives, what waits and how far loads have jumped before. How much room to keep
    and how long to hold executors is learned: every way to do it runs in the shadow on the
    cluster's own load, beside Spark's allocation, and the cheapest one that misses the
    target less often is followed.

    >>> HorizonSettings().target_latency_s
    30.0
    """

    name = "horizon"
    title = "Fewest executors for the target"
    settings_type = HorizonSettings
    memory_type = HorizonMemory

    def judge(
        self, facts: ClusterFacts, memory: HorizonMemory, now: float
    ) -> tuple[Decision, HorizonMemory]:
        """Measure, let every way take its step, follow the best."""
        if not facts.complete:
            return stay("The rates are not known.", "no data"), memory
        if memory.since is not None and now <= memory.at:
            return stay("Nothing is new since the last look.", "no data"), memory
        passed_s = 0.0 if memory.since is None else min(now - memory.at, 3600.0)
        sight, memory = measure(facts, memory, self.settings.executor_start_s, now)
        if not memory.costs:
            return stay(
                "No operator has processed anything, so no cost is known.", "no data"
            ), memory
        figures = self._figures(facts, sight, memory)
        memory = self._try_ways(facts, sight, memory, figures, passed_s)
        assert memory.since is not None
        watched_s = now - memory.since
        if memory.counted < _LEAST_BATCHES or watched_s < _LEAST_S:
            return stay(
                f"Too early to tell: {number_of(memory.counted, 'batch')} in {span(watched_s)}; "
                f"{number_of(_LEAST_BATCHES, 'batch')} and {span(_LEAST_S)} are needed.",
                "too early",
                batches=memory.counted,
            ), memory
        return self._answer(facts, sight, memory, figures, now)

    def _figures(self, facts: ClusterFacts, sight: Sight, memory: HorizonMemory) -> Floats:
        """What every way is told, in the order in which `wanted_executors` reads it."""
        s = self.settings
        aim = SAFE * s.target_latency_s
        start_s = s.executor_start_s if memory.start_s is None else memory.start_s
        return np.array(
            [
                sight.fixed_s,
                sight.stretch,
                sight.trigger_s,
                hottest(sight.fixed_s, sight.trigger_s, aim),
                aim,
                s.target_latency_s,
                start_s,
                facts.cores,
                max(facts.low, 1),
                max(facts.high, 1),
                facts.snapshot.period_s,
            ]
        )

    def _try_ways(
        self,
        facts: ClusterFacts,
        sight: Sight,
        memory: HorizonMemory,
        figures: Floats,
        passed_s: float,
    ) -> HorizonMemory:
        """Every way has taken its step, and the best is chosen."""
        s = self.settings
        state = memory.state()
        if state is None:
            state = fresh(max(facts.executors, 1))
            memory = replace(memory, weight_h=0.0, need_h=0.0)
        if passed_s > 0.0:
            fade = exp(-passed_s / 3600.0 / FADE_H)
            need = min(max(sight.load * sight.stretch / facts.cores, facts.low, 0.1), facts.high)
            memory = replace(
                memory,
                weight_h=fade * memory.weight_h + passed_s / 3600.0,
                need_h=fade * memory.need_h + need * passed_s / 3600.0,
            )
            minutes, mean_need = memory.loads(), memory.mean_need
            step(state, WAYS, minutes, mean_need, sight.load, passed_s, fade, figures)
        per_day = budget_per_day(state, memory.weight_h, s.actions_per_day)
        left = min(memory.actions_left + per_day * passed_s / 86_400.0, max(6.0, per_day / 4.0))
        way = best_way(
            state, memory.weight_h, memory.need_h, s.probability, s.actions_per_day, memory.way
        )
        return replace(memory, trials=encode_trials(state), way=way, actions_left=left)

    def _answer(
        self,
        facts: ClusterFacts,
        sight: Sight,
        memory: HorizonMemory,
        figures: Floats,
        now: float,
    ) -> tuple[Decision, HorizonMemory]:
        way = WAYS[memory.way]
        start_s = float(figures[6])
        quiet_s = float("inf") if memory.changed_at is None else now - memory.changed_at
        asked, present = facts.executors, facts.cluster.executors
        spare = self._spare(memory, asked, start_s + facts.snapshot.period_s)
        size = int(
            wanted_executors(
                way,
                sight.load,
                sight.queued,
                float(asked - spare),
                float(present),
                quiet_s >= max(2.0 * start_s, 60.0, 3.0 * sight.trigger_s),
                memory.loads(),
                memory.mean_need,
                figures,
            )
        )
        size += spare
        reason = self._reason(facts, sight, memory, figures, size)
        if size == asked:
            return stay(reason.text, "foreseen within the target", **reason.numbers), memory
        if size > asked and present < asked and quiet_s > max(60.0, 4.0 * start_s):
            late = asked - present
            text = f"{reason.text} But {late} that {'was' if late == 1 else 'were'} asked for "
            text += f"{'has' if late == 1 else 'have'} not come."
            return stay(text, "executors do not come", **reason.numbers), memory
        if size < asked and memory.actions_left < 1.0:
            text = f"{reason.text} The actions of the day are spent, so {asked} are kept."
            return stay(text, "actions spent", **reason.numbers), memory
        prediction = Prediction(latency_s=reason.numbers["foreseen_s"])
        decision = scale_to(facts, size, reason, prediction)
        if isinstance(decision, Scale):
            memory = replace(memory, actions_left=memory.actions_left - 1.0)
        return decision, memory

    def _spare(self, memory: HorizonMemory, executors: int, horizon_s: float) -> int:
        """Executors to have beyond the need because some are lost: one where it is likelier
        that one is lost within the horizon than the target may be missed."""
        expected = memory.lost_per_s * executors * horizon_s
        return 1 if 1.0 - exp(-expected) > 1.0 - self.settings.probability else 0

    def _reason(
        self, facts: ClusterFacts, sight: Sight, memory: HorizonMemory, figures: Floats, size: int
    ) -> Reason:
        """One sentence with the load, its band, and the latency foreseen with `size`."""
        horizon_s = float(figures[6] + figures[10])
        # Loads wander: the error grows with the root of the time, and was taken per minute.
        off = _BAND * memory.error * (max(horizon_s, 1.0) / 60.0) ** 0.5
        low, high = sight.load / (1.0 + off), sight.load * (1.0 + off)

        def foreseen(load: float) -> float:
            power = size * facts.cores / sight.stretch
            queued = max(0.0, sight.queued + (load - power) * horizon_s)
            return latency_s(
                load, queued, size * facts.cores, sight.fixed_s, sight.stretch, sight.trigger_s
            )

        least, middle, most = foreseen(low), foreseen(sight.load), foreseen(high)
        waits = ""
        if sight.queued >= 0.5:
            queued = round(sight.queued)
            waits = f" and {number_of(queued, 'core second')} {'waits' if queued == 1 else 'wait'}"
        loads, busy = either(f"{low:.1f}", f"{high:.1f}"), f"{sight.load:.1f}"
        times, foreseen_s = either(latency(least), latency(most)), latency(middle)
        rule = "foreseen > target" if size > facts.executors else "fewer keep the target"
        return because(
            f"{quantity(round(sight.rows_per_s))} rows/s keep {busy} cores busy"
            f"{'' if loads == busy else f' ({loads} in {span(horizon_s)})'}{waits}; "
            f"with {number_of(size, 'executor')} the latency foreseen is {foreseen_s}"
            f"{'' if times == foreseen_s else f' ({times})'}; "
            f"this scaler's target is {self.settings.target_latency_s:g} s.",
            rule,
            load_cores=sight.load,
            load_low_cores=low,
            load_high_cores=high,
            queued_core_s=sight.queued,
            foreseen_s=middle,
            foreseen_low_s=least,
            foreseen_high_s=most,
            target_s=self.settings.target_latency_s,
            horizon_s=horizon_s,
            room=float(WAYS[memory.way][0]),
            actions_left=max(0.0, memory.actions_left),
        )


def compile_horizon() -> None:
    """Let every kernel run once: the first time they compile for seconds.

    >>> compile_horizon()
    """
    figures = np.array([0.1, 1.0, 2.0, 0.9, 20.0, 30.0, 15.0, 1.0, 1.0, 4.0, 2.0])
    state, minutes = fresh(1), HorizonMemory().loads()
    step(state, WAYS, minutes, 1.0, 1.0, 2.0, 0.99, figures)
    wanted_executors(WAYS[0], 1.0, 0.0, 1.0, 1.0, True, minutes, 1.0, figures)
    best_way(state, 1.0, 1.0, 0.995, 24.0, 0)
