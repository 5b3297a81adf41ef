"""What the helper process does for the what-if page: calibrate once, then simulate."""

from typing import Any

from msgspec import Struct

from weir.components.pages.replay import child as replay_child
from weir.controllers.simulator import (
    AS_SET,
    RECORDED,
    Band,
    Calibrated,
    Errors,
    InForce,
    SimulatedSeries,
    SimulationSummary,
    calibrate,
    what_if,
)
from weir.metrics.runs.replay import RecordedRun

_KEPT = 3
_calibrated: dict[tuple[object, ...], tuple[Calibrated, float]] = {}  # of this process


class Policy(Struct, frozen=True, kw_only=True):
    """A scaler with settings, under the name that the page gives it."""

    label: str
    scaler: str
    settings: dict[str, Any] = {}


class Simulated(Struct, frozen=True, kw_only=True):
    """What a policy would have come to."""

    policy: Policy
    summary: SimulationSummary
    series: SimulatedSeries
    band: Band | None


class WhatIfAnswer(Struct, frozen=True, kw_only=True):
    """Everything that the page shows."""

    cluster: str
    target_latency_s: float
    began_at: float
    hours: float
    whole: bool  # all of the run, not only its last part
    errors: Errors | None  # on the half that the simulator was not fitted on
    fit_errors: Errors | None
    recorded: SimulatedSeries
    replayed: Simulated  # what was done, simulated
    policy: tuple[InForce, ...]  # how the cluster was scaled; empty: not recorded
    policy_errors: Errors | None  # of the same policy deciding anew
    others: tuple[Simulated, ...]


def what_if_of(
    run_id: str, cluster: str | None, target_latency_s: float, policies: tuple[Policy, ...]
) -> WhatIfAnswer:
    """The same input under these policies; what was done is always among them."""
    run = replay_child.run_of(run_id)
    calibrated, since = _world(run, cluster)
    assert calibrated.recorded is not None
    series = calibrated.recorded

    def ask(policy: Policy) -> Simulated:
        found = what_if(
            calibrated, policy.scaler, policy.settings, target_latency_s=target_latency_s
        )
        return Simulated(policy=policy, summary=found.summary, series=found.series, band=found.band)

    return WhatIfAnswer(
        cluster=calibrated.world.focus,
        target_latency_s=target_latency_s,
        began_at=series.time[0],
        hours=(series.time[-1] - series.time[0]) / 3600,
        whole=since <= run.info.first_at,
        errors=calibrated.errors,
        fit_errors=calibrated.fit_errors,
        recorded=series,
        replayed=ask(Policy(label="what was done", scaler=RECORDED)),
        policy=calibrated.policy,
        policy_errors=calibrated.policy_errors,
        others=tuple(ask(policy) for policy in (*policies_in_force(calibrated), *policies)),
    )


def policies_in_force(calibrated: Calibrated) -> list[Policy]:
    """The policy that was in force, where the cluster was left to it at some time."""
    if not any(p.acts for p in calibrated.policy):
        return []
    return [Policy(label="as it was set, deciding anew", scaler=AS_SET)]


def _world(run: RecordedRun, cluster: str | None) -> tuple[Calibrated, float]:
    key = (run.info.id, run.info.last_at, cluster)
    if key not in _calibrated:
        samples, since = run.last_samples()
        _calibrated[key] = calibrate(samples, cluster, run.settings.policy), since
        while len(_calibrated) > _KEPT:
            _calibrated.pop(next(iter(_calibrated)))
    return _calibrated[key]
