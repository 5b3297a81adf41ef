"""One simulation: a world, a policy for the cluster in question, and what came of it."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from weir.controllers.model.decision import Scale
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scaler, Scope
from weir.controllers.scaling.registry import create, scaler_type
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.quick import QuickWorld, fits
from weir.controllers.simulator.run_types import (
    OperatorRun,
    SimulatedAction,
    SimulatedSeries,
    SimulationOutcome,
)
from weir.controllers.simulator.world import SimulatedWorld

__all__ = [
    "OnPeriod",
    "OperatorRun",
    "SimulatedAction",
    "SimulatedSeries",
    "SimulationOutcome",
    "make_scaler",
    "simulate",
]

OnPeriod = Callable[[int], None]
"""Told how many periods are over."""
_TOLD_EVERY = 256  # periods


def make_scaler(
    name: str,
    settings: Mapping[str, Any],
    cluster: str,
    seed: int = 0,
    target_latency_s: float | None = None,
) -> Any:
    """The scaler of that name; seed and target are the simulation's unless they were set.

    >>> made = make_scaler("qlearning", {}, "a", target_latency_s=12.0)
    >>> made.settings.target_latency_s, make_scaler("drs", {"t_max_s": 9}, "a").settings.t_max_s
    (12.0, 9.0)
    """
    fields = scaler_type(name).settings_type.__struct_fields__
    known = {key: value for key, value in aims(target_latency_s, seed).items() if key in fields}
    if "t_max_s" in settings:  # the lower bound that goes with another upper one is its own
        known.pop("t_min_s", None)
    return create(name, {**known, **settings}, Scope(cluster=cluster))


def aims(target_latency_s: float | None, seed: int) -> dict[str, Any]:
    """What scalers call the latency to stay below, and their seed."""
    if target_latency_s is None:
        return {"seed": seed}
    return {
        "seed": seed,
        "target_latency_s": target_latency_s,
        "t_max_s": target_latency_s,
        "t_min_s": 0.4 * target_latency_s,
    }


def simulate(
    model: WorldModel,
    scaler: Scaler[Any, Any] | None = None,
    *,
    seed: int = 0,
    memory: Any = None,
    on_period: OnPeriod | None = None,
    quick: bool = True,
) -> SimulationOutcome:
    """Step through all periods; without a scaler every cluster does as recorded.

    A scaler's decision takes effect at the end of the period on which it was made, and
    executors then take their time to come and go. One operator alone on one cluster is
    simulated by `QuickWorld`, unless `quick` is off.

    >>> from weir.controllers.simulator.scenario import Scenario, world_of
    >>> from weir.controllers.model.trace import Trace
    >>> trace = Trace(times=(0.0, 60.0), rows_per_s=(100.0, 100.0))
    >>> world = world_of(trace, Scenario(cost_s_per_row=0.005, max_executors=4))
    >>> outcome = simulate(world, make_scaler("fixed", {"executors": 3}, world.focus))
    >>> outcome.series.executors[0], outcome.series.executors[-1], len(outcome.actions)
    (1, 3, 1)
    """
    if quick and fits(model):
        return _quickly(model, scaler, seed, memory, on_period)
    world = SimulatedWorld(model, seed)
    recorder = _Recorder(model)
    focus = next(i for i, c in enumerate(model.clusters) if c.name == model.focus)
    if scaler is not None and memory is None:
        memory = scaler.fresh()
    for i in range(model.periods):
        for number in range(len(model.clusters)):
            if number != focus or scaler is None:
                _ask_as_recorded(world, number, i)
        snapshot = world.step()
        recorder.add(snapshot, world)
        if scaler is not None:
            decision, memory = scaler.decide(snapshot, memory, world.now)
            if isinstance(decision, Scale) and decision.cluster == model.focus:
                before = world.fleets[focus].wanted
                world.scale(focus, decision.executors)
                recorder.record_action(world.now, before, world.fleets[focus].wanted)
        if on_period is not None and not i % _TOLD_EVERY:
            on_period(i)
    if on_period is not None:
        on_period(model.periods)
    return recorder.outcome(world, memory)


def _quickly(
    model: WorldModel,
    scaler: Scaler[Any, Any] | None,
    seed: int,
    memory: Any,
    on_period: OnPeriod | None,
) -> SimulationOutcome:
    world = QuickWorld(model, seed)
    if scaler is None:
        _as_recorded(world, on_period)
        return world.outcome(memory)
    if memory is None:
        memory = scaler.fresh()
    for i in range(model.periods):
        decision, memory = scaler.decide(world.step(), memory, world.now)
        if isinstance(decision, Scale) and decision.cluster == model.focus:
            world.scale(decision.executors)
        if on_period is not None and not i % _TOLD_EVERY:
            on_period(i)
    if on_period is not None:
        on_period(model.periods)
    return world.outcome(memory)


def _as_recorded(world: QuickWorld, on_period: OnPeriod | None) -> None:
    """All periods; Python is needed only where the executors that were recorded change."""
    periods, cluster, fleet = world.model.periods, world.model.clusters[0], world.fleet
    series = np.array(cluster.asked or cluster.recorded or (fleet.wanted,) * periods)
    changes = {0, periods, *(np.flatnonzero(np.diff(series)) + 1).tolist()}
    for first, last in pairwise(sorted(changes | {*range(0, periods, _TOLD_EVERY)})):
        if on_period is not None and not first % _TOLD_EVERY:
            on_period(first)
        if cluster.asked:
            if cluster.asked[first] != fleet.wanted:
                world.scale(cluster.asked[first])
        elif cluster.recorded and cluster.recorded[first] != fleet.present:
            world.put(cluster.recorded[first])
        world.pass_until(last)
    world.actions.clear()
    if on_period is not None:
        on_period(periods)


def _ask_as_recorded(world: SimulatedWorld, number: int, period: int) -> None:
    """Ask for what was asked for; where only what was there is known, have just that."""
    cluster, fleet = world.model.clusters[number], world.fleets[number]
    if cluster.asked:
        if cluster.asked[period] != fleet.wanted:
            world.scale(number, cluster.asked[period])
    elif cluster.recorded and cluster.recorded[period] != fleet.present:
        world.put(number, cluster.recorded[period])


class _Recorder:
    """Collects what the cluster in question shows, period by period."""

    def __init__(self, model: WorldModel) -> None:
        self._focus = model.focus
        self._rows: list[tuple[float, float | None, float, int, float, float]] = []
        self._actions: list[SimulatedAction] = []
        self._operators: dict[str, list[tuple[float | None, float | None, int]]] = {
            o.name: [] for o in model.operators
        }

    def add(self, snapshot: Snapshot, world: SimulatedWorld) -> None:
        cluster = snapshot.cluster(self._focus)
        assert cluster is not None
        latency: float | None = None
        queue = arrivals = load = 0.0
        seen = self._operators
        for operator in snapshot.operators:
            own = operator.latency_s
            seen[operator.name].append((operator.processing_s, own, operator.queue_rows or 0))
            if operator.cluster == self._focus:
                if own is not None and (latency is None or own > latency):
                    latency = own
                queue += operator.queue_rows or 0
                arrivals += operator.arrival_rows_per_s
                load += operator.load
        if len(snapshot.operators) < len(seen):  # some do not run now
            present = {o.name for o in snapshot.operators}
            for name in seen.keys() - present:
                seen[name].append((None, None, 0))
        load /= max(cluster.capacity, 1)
        self._rows.append((world.now, latency, queue, cluster.executors, load, arrivals))

    def record_action(self, at: float, before: int, after: int) -> None:
        if before != after:
            self._actions.append(SimulatedAction(at, before, after))

    def outcome(self, world: SimulatedWorld, memory: Any) -> SimulationOutcome:
        time, latency, queue, executors, load, arrivals = zip(*self._rows, strict=True)
        return SimulationOutcome(
            series=SimulatedSeries(
                time=time,
                latency_s=latency,
                queue_rows=queue,
                executors=executors,
                load=load,
                arrivals=arrivals,
            ),
            actions=tuple(self._actions),
            operators=tuple(self._operator(world, i) for i in range(len(world.stations))),
            memory=memory,
        )

    def _operator(self, world: SimulatedWorld, number: int) -> OperatorRun:
        station = world.stations[number]
        rows = self._operators[station.model.name]
        oldest = station.batch.first_at if station.batch else station.queue.oldest_at
        return OperatorRun(
            name=station.model.name,
            arrived_rows=station.arrived,
            committed_rows=station.committed,
            queued_rows=station.queue_rows,
            commits=np.array(station.track.commits).reshape(-1, 3),
            first_at=np.array(station.track.first_at),
            waiting_since=oldest,
            processing_s=tuple(r[0] for r in rows),
            latency_s=tuple(r[1] for r in rows),
            queue_rows=tuple(r[2] for r in rows),
        )
