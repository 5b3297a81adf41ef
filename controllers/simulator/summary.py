"""What a simulation comes to, in the figures that policies are compared by."""

import numpy as np
from msgspec import Struct

from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.recording import Floats
from weir.controllers.simulator.run import OperatorRun, SimulatedAction, SimulationOutcome


class SimulationSummary(Struct, frozen=True, kw_only=True):
    """One policy on one input."""

    scaler: str
    latency_p50_s: float
    latency_p95_s: float
    latency_p99_s: float
    share_over_target: float  # of the time
    executors_mean: float
    executors_peak: int
    executor_hours: float
    actions: int
    settle_steps: int  # most changes in a row before the executors came to rest
    served_share: float  # rows committed / rows arrived


def summarise(
    scaler: str, outcome: SimulationOutcome, model: WorldModel, target_latency_s: float
) -> SimulationSummary:
    """The figures of a simulation.

    A batch's latency counts for all the time since the commit before it in which its rows
    waited, and rows that are never committed count with their age at the end: a cluster
    that hangs in one endless batch does not look fast.
    """
    ends = np.array(model.ends)
    lengths = np.diff(np.concatenate([[model.begin], ends]))
    latency = covering_latency(outcome, model)
    known = latency[np.isfinite(latency)]
    if not known.size:
        known = np.zeros(1)
    p50, p95, p99 = np.percentile(known, [50, 95, 99])
    executors = np.array(outcome.series.executors, dtype=float)
    here = _here(outcome, model)
    arrived = sum(o.arrived_rows for o in here)
    return SimulationSummary(
        scaler=scaler,
        latency_p50_s=float(p50),
        latency_p95_s=float(p95),
        latency_p99_s=float(p99),
        share_over_target=float((known > target_latency_s).mean()),
        executors_mean=float((executors * lengths).sum() / lengths.sum()),
        executors_peak=int(executors.max()),
        executor_hours=float((executors * lengths).sum() / 3600.0),
        actions=len(outcome.actions),
        settle_steps=settle_steps(outcome.actions, _rest_s(model)),
        served_share=sum(o.committed_rows for o in here) / arrived if arrived else 1.0,
    )


def covering_latency(outcome: SimulationOutcome, model: WorldModel) -> Floats:
    """Latency of the slowest operator in question by period, as `summarise` counts it."""
    ends = np.array(model.ends)
    number = next(i for i, c in enumerate(model.clusters) if c.name == model.focus)
    slowest = np.full(len(ends), np.nan)
    for run, operator in zip(outcome.operators, model.operators, strict=True):
        age = 0.0 if run.waiting_since is None else float(ends[-1]) - run.waiting_since
        if len(run.commits):
            times, latencies = run.commits[:, 0], run.commits[:, 1]
            after = np.searchsorted(times, ends)
            tail = age if run.waiting_since is not None else latencies[-1]
            own = np.concatenate([latencies, [tail]])[after]
            # No row waits before the batch's first has come.
            came = np.concatenate([run.first_at, [-np.inf]])[after]
            own = np.where(came > ends, 0.0, own)
        elif run.waiting_since is not None:
            own = np.full(len(ends), age)
        else:
            continue
        if operator.place:
            own = np.where(np.array(operator.place) == number, own, np.nan)
        slowest = np.fmax(slowest, own)
    return slowest


def settle_steps(actions: tuple[SimulatedAction, ...], rest_s: float) -> int:
    """Most changes in a row, each within `rest_s` of the one before.

    After a step of the load that is the number of decisions that it took to settle.

    >>> settle_steps(tuple(SimulatedAction(at, 1, 2) for at in (0.0, 10.0, 20.0, 500.0)), rest_s=60.0)
    3
    """
    most = row = 0
    before = -np.inf
    for action in actions:
        row = row + 1 if action.at - before <= rest_s else 1
        most, before = max(most, row), action.at
    return most


def _rest_s(model: WorldModel) -> float:
    """How long nothing must change for the executors to be at rest."""
    period_s = (model.ends[-1] - model.begin) / model.periods
    return max(5.0 * period_s, 3.0 * model.cluster.executor_start_s, 60.0)


def _here(outcome: SimulationOutcome, model: WorldModel) -> list[OperatorRun]:
    number = next(i for i, c in enumerate(model.clusters) if c.name == model.focus)
    return [
        run
        for run, o in zip(outcome.operators, model.operators, strict=True)
        if not o.place or number in o.place
    ]
