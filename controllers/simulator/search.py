"""The search itself: Optuna proposes settings, the simulator judges them.

Trials are asked for in batches, so that whoever evaluates them may use one process,
several, or a cluster; they are told in the order in which they were asked for, so that
the same seed and batch size find the same settings. The first trial is the defaults.

Reference: Akiba et al., "Optuna: a next-generation hyperparameter optimization
framework", KDD 2019; the sampler is the tree-structured Parzen estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.run import make_scaler, simulate
from weir.controllers.simulator.space import Dimension, SearchSpace, default_settings
from weir.controllers.simulator.summary import SimulationSummary, summarise
from weir.controllers.simulator.tuning import Importance, Trial

if TYPE_CHECKING:
    import optuna


_TOLERABLE = 0.05
"""Settings that miss the target for more of the time than this, and twice as often as the
defaults, save by serving nobody: they are on the front, but not worth a search."""


class TuneJob(Struct, frozen=True, kw_only=True):
    """Settings to try."""

    scaler: str
    settings: dict[str, Any]
    target_latency_s: float
    seed: int = 0
    table: Any = None  # Q-table to begin with


class TuneResult(Struct, frozen=True, kw_only=True):
    """What came of a job."""

    summary: SimulationSummary
    table: Any = None  # learned Q-table


Evaluate = Callable[[Sequence[TuneJob]], Sequence[TuneResult]]
OnTrials = Callable[[int, Sequence[Trial]], None]


def evaluate(world: WorldModel, job: TuneJob) -> TuneResult:
    """Simulate one job."""
    from msgspec.structs import replace

    scaler = make_scaler(job.scaler, job.settings, world.focus, job.seed, job.target_latency_s)
    memory = scaler.fresh()
    if job.table is not None and hasattr(memory, "table"):
        memory = replace(memory, table=job.table)
    outcome = simulate(world, scaler, seed=job.seed, memory=memory)
    summary = summarise(job.scaler, outcome, world, job.target_latency_s)
    return TuneResult(summary=summary, table=getattr(outcome.memory, "table", None))


def open_study(storage: optuna.storages.BaseStorage | None, name: str, seed: int) -> optuna.Study:
    """A study, new or as it was left; trials that were cut off are given up."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        study_name=name, storage=storage, directions=["minimize", "minimize"], load_if_exists=True
    )
    for trial in study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING]):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    # Resumed, it must not draw again what it has drawn before.
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    return study


def check(space: SearchSpace, trials: int) -> None:
    """Say what keeps a search from beginning."""
    if trials < 1:
        raise InvalidInput("trials must be at least 1", field="trials")
    if not space.dimensions:
        raise InvalidInput(f"scaler: {space.scaler} has no settings to tune", field="scaler")


def search(
    study: optuna.Study,
    space: SearchSpace,
    trials: int,
    evaluate: Evaluate,
    *,
    target_latency_s: float,
    seed: int = 0,
    batch: int = 1,
    on_trials: OnTrials = lambda count, found: None,
) -> list[Trial]:
    """Go on until the study holds so many complete trials; Ctrl-C keeps those that it has."""
    check(space, trials)
    found = completed_trials(study, space)
    if not found:
        study.enqueue_trial(space.unscale(default_settings(space.scaler)))
    on_trials(len(found), found)
    while len(found) < trials:
        asked = [_ask(study, space) for _ in range(min(batch, trials - len(found)))]
        jobs = [
            TuneJob(scaler=space.scaler, settings=s, target_latency_s=target_latency_s, seed=seed)
            for _, s in asked
        ]
        for (trial, _), result in zip(asked, evaluate(jobs), strict=True):
            s = result.summary
            default = found[0].share_over_target if found else s.share_over_target
            trial.set_constraint("of use", s.share_over_target - max(_TOLERABLE, 2.0 * default))
            study.tell(trial, [s.share_over_target, s.executor_hours])
        found = completed_trials(study, space)
        on_trials(len(found), found)
    return found


def completed_trials(study: optuna.Study, space: SearchSpace) -> list[Trial]:
    """The trials that have ended, in order."""
    import optuna

    return [
        Trial(
            number=t.number,
            share_over_target=t.values[0],
            executor_hours=t.values[1],
            settings=space.settings(t.params),
        )
        for t in study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
    ]


def importances(study: optuna.Study, space: SearchSpace) -> tuple[Importance, ...]:
    """How much each setting matters for either objective; empty where too few were tried."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    shares: list[dict[str, float]] = []
    for objective in (0, 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shares.append(
                    get_param_importances(
                        study,
                        evaluator=PedAnovaImportanceEvaluator(),
                        target=lambda t, o=objective: t.values[o],  # type: ignore[misc]
                    )
                )
        except (ValueError, RuntimeError, ZeroDivisionError):
            shares.append({})
    keys = [d.key for d in space.dimensions if any(d.key in s for s in shares)]
    rows = [
        Importance(
            key=k, over_target=_finite(shares[0].get(k)), executor_hours=_finite(shares[1].get(k))
        )
        for k in keys
    ]
    return tuple(sorted(rows, key=lambda r: -(r.over_target + r.executor_hours)))


def _ask(study: optuna.Study, space: SearchSpace) -> tuple[optuna.trial.Trial, dict[str, Any]]:
    """The next settings to try."""
    trial = study.ask()
    return trial, space.settings({d.key: _draw(trial, d) for d in space.dimensions})


def _draw(trial: optuna.trial.Trial, d: Dimension) -> Any:
    if d.kind == "choice":
        return trial.suggest_categorical(d.key, d.choices)
    if d.kind == "int":
        return trial.suggest_int(d.key, round(d.low), round(d.high), log=d.log)
    return trial.suggest_float(d.key, d.low, d.high, log=d.log)


def _finite(value: float | None) -> float:
    return value if value is not None and value == value else 0.0
