"""The same input under another policy: what would have happened?"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import ClusterSample
from weir.controllers.scaling.registry import scalers
from weir.controllers.simulator.accuracy import Errors, errors_of, held_out_errors, without_jitter
from weir.controllers.simulator.calibrate import calibrate_world
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.policy import InForce, RecordedPolicy
from weir.controllers.simulator.recording import LEAST_PERIODS, read_recording, recorded_series
from weir.controllers.simulator.run import (
    OnPeriod,
    SimulatedAction,
    SimulatedSeries,
    make_scaler,
    simulate,
)
from weir.controllers.simulator.summary import SimulationSummary, summarise

RECORDED = "recorded"
"""What was done: executors as they were asked for."""
AS_SET = "as_set"
"""The scaler that was followed, with the settings of each moment, deciding anew."""

Range = tuple[float, float]


class Calibrated(Struct, frozen=True, kw_only=True):
    """A world to ask, and how far it can be trusted. A trace has nothing to be held against."""

    world: WorldModel
    errors: Errors | None = None  # on the half that it was not fitted on
    fit_errors: Errors | None = None  # on all of the recording
    recorded: SimulatedSeries | None = None
    policy: tuple[InForce, ...] = ()  # how the cluster was scaled, where that was recorded
    policy_errors: Errors | None = None  # of the policy deciding anew, where it acted by itself


class Band(Struct, frozen=True, kw_only=True):
    """Ranges of the summary's figures by the simulator's own error."""

    latency: float | None
    queue: float | None
    executors: float | None
    held_out: bool  # False: judged on what it was fitted on, the run being too short to be split
    no_executors: str = ""  # why there is no band around the executors
    latency_p50_s: Range | None = None
    latency_p95_s: Range | None = None
    latency_p99_s: Range | None = None
    executor_hours: Range | None = None


class WhatIf(Struct, frozen=True, kw_only=True):
    """What would have happened."""

    summary: SimulationSummary
    series: SimulatedSeries
    actions: tuple[SimulatedAction, ...]
    settings: dict[str, Any]
    target_latency_s: float
    band: Band | None = None
    memory: Any = None  # of the scaler at the end; a learned table, say


def calibrate(
    samples: Sequence[ClusterSample],
    cluster: str | None = None,
    policy_of: Callable[[str], tuple[InForce, ...]] = lambda cluster: (),
) -> Calibrated:
    """A world from the samples of a recorded run, with its error against the recording.

    Without a name, the cluster that had most to do is the one in question; the others
    do as they did. `policy_of` says how a cluster was scaled: where its scaler acted by
    itself, the same policy decides anew and is held against the recording too.
    """
    recording = read_recording(samples, cluster)
    world = calibrate_world(recording)
    fit = errors_of(simulate(without_jitter(world)), recording)
    judged = held_out_errors(recording) if recording.periods >= 2 * LEAST_PERIODS else None
    policy = policy_of(recording.focus)
    anew = None
    if judged is not None and any(p.acts for p in policy):
        # Where people decided, their requests are made again: that says nothing of the policy.
        anew = held_out_errors(
            recording, lambda rest: RecordedPolicy(rest, policy), lambda at: _has_acted(policy, at)
        )
    return Calibrated(
        world=world,
        errors=judged,
        fit_errors=fit,
        recorded=recorded_series(recording),
        policy=policy,
        policy_errors=anew if anew and anew.judged_periods else None,
    )


def what_if(
    calibrated: Calibrated,
    scaler: str = RECORDED,
    settings: Mapping[str, Any] | None = None,
    *,
    target_latency_s: float = 30.0,
    seed: int = 0,
    memory: Any = None,
    on_period: OnPeriod | None = None,
) -> WhatIf:
    """What a scaler would have done, and what would have come of it.

    `scaler` "recorded" does what was done; "as_set" is the policy that was in force then,
    with its settings, deciding anew. A scaler that aims at a latency aims at
    `target_latency_s` unless its settings say otherwise. `memory` is what it begins with;
    None: a fresh one.

    >>> from weir.controllers.simulator.scenario import Scenario, world_of
    >>> from weir.controllers.model.trace import Trace
    >>> trace = Trace(times=(0.0, 300.0, 600.0), rows_per_s=(100.0, 700.0, 700.0))
    >>> world = world_of(trace, Scenario(cost_s_per_row=0.01, max_executors=9))
    >>> found = what_if(Calibrated(world=world), "rate_based")
    >>> found.summary.executors_peak, found.summary.served_share > 0.9
    (9, True)
    """
    given = dict(settings or {})
    focus = calibrated.world.focus
    made: Any = None
    if scaler == AS_SET:
        if not calibrated.policy:
            raise InvalidInput("scaler: the settings of then were not recorded", field="scaler")
        made = RecordedPolicy(calibrated.world, calibrated.policy)
    elif scaler != RECORDED:
        made = make_scaler(scaler, given, focus, seed, target_latency_s)
    outcome = simulate(calibrated.world, made, seed=seed, memory=memory, on_period=on_period)
    summary = summarise(scaler, outcome, calibrated.world, target_latency_s)
    return WhatIf(
        summary=summary,
        series=outcome.series,
        actions=outcome.actions,
        settings=given,
        target_latency_s=target_latency_s,
        band=band_of(summary, calibrated),
        memory=outcome.memory,
    )


def band_of(summary: SimulationSummary, calibrated: Calibrated) -> Band | None:
    """The summary's figures, wider by the errors; None: there is nothing to judge by.

    Requests that are made again as they were say nothing of how many executors a policy
    asks for: around its executors stands the error of the recorded policy deciding anew.
    """
    errors = calibrated.errors or calibrated.fit_errors
    if errors is None:
        return None
    deciding = errors if summary.scaler == RECORDED else calibrated.policy_errors
    executors = deciding.executors if deciding else None

    def around(value: float, error: float | None) -> Range | None:
        return None if error is None else (value * max(0.0, 1.0 - error), value * (1.0 + error))

    return Band(
        latency=errors.latency,
        queue=errors.queue,
        executors=executors,
        held_out=calibrated.errors is not None,
        no_executors=_why_no_executors(calibrated) if executors is None else "",
        latency_p50_s=around(summary.latency_p50_s, errors.latency),
        latency_p95_s=around(summary.latency_p95_s, errors.latency),
        latency_p99_s=around(summary.latency_p99_s, errors.latency),
        executor_hours=around(summary.executor_hours, executors),
    )


def _has_acted(policy: Sequence[InForce], at: float) -> bool:
    """Whether the scaler decided by itself at a moment."""
    number = bisect_right(policy, at, key=lambda p: p.since) - 1
    return number >= 0 and policy[number].acts


def _why_no_executors(calibrated: Calibrated) -> str:
    if not calibrated.policy:
        return "no band: the settings of then were not recorded"
    if not any(p.acts for p in calibrated.policy):
        return "no band: people decided, so no scaler can be held against the recording"
    if calibrated.policy_errors is None:
        return "no band: the policy did not decide by itself in a half that could be judged"
    return "no band: the recording has no executors to compare with"


def scaler_names() -> list[str]:
    """Every scaler that can be asked about."""
    return list(scalers())
