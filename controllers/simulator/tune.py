"""Tune a scaler: search on one part of the input, judge on another.

world --first part--> search ------> front of trade-offs
      --second part-> judge the front, the defaults, and every other scaler
"""

from collections.abc import Callable, Sequence
from typing import Any

from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.registry import scaler_type, scalers
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.recording import LEAST_PERIODS
from weir.controllers.simulator.search import (
    Evaluate,
    OnTrials,
    TuneJob,
    TuneResult,
    importances,
    search,
)
from weir.controllers.simulator.space import SearchSpace
from weir.controllers.simulator.tuning import Candidate, Tuning, choose, front_of, verdict

MakeEvaluate = Callable[[WorldModel], Evaluate]
"""Whoever simulates: given a world, a function that runs jobs on it."""


def split(world: WorldModel, share: float = 0.5) -> tuple[WorldModel, WorldModel]:
    """The part to search on, and the part to judge on."""
    at = round(share * world.periods)
    if min(at, world.periods - at) < LEAST_PERIODS:
        raise InvalidInput(
            f"run: {world.periods} periods are too few to train on one part and judge on another",
            field="run",
        )
    return world.part(0, at), world.part(at, world.periods)


def tune(
    world: WorldModel,
    scaler: str,
    trials: int,
    *,
    study: Any,
    evaluator: MakeEvaluate,
    target_latency_s: float = 30.0,
    seed: int = 0,
    batch: int = 1,
    share: float = 0.5,
    judged_on: WorldModel | None = None,
    baselines: bool = True,
    on_trials: OnTrials = lambda count, found: None,
) -> Tuning:
    """Search a scaler's settings; the study may hold trials already and is gone on with.

    What a Q-table has learned on the first part is taken along to the second, for the
    tuned settings and the defaults alike. With `judged_on` all of the world is searched,
    and that one is judged on. Without `baselines` no other scaler is judged.
    """
    if trials < 1:
        raise InvalidInput("trials must be at least 1", field="trials")
    first, second = split(world, share) if judged_on is None else (world, judged_on)
    space = space_of(first, scaler, target_latency_s)  # what is judged on is not known yet
    train, judge = evaluator(first), evaluator(second)
    found = search(
        study,
        space,
        trials,
        train,
        target_latency_s=target_latency_s,
        seed=seed,
        batch=batch,
        on_trials=on_trials,
    )
    best = front_of(found)

    def job(name: str, settings: dict[str, Any], learned: TuneResult | None = None) -> TuneJob:
        return TuneJob(
            scaler=name,
            settings=settings,
            target_latency_s=target_latency_s,
            seed=seed,
            table=None if learned is None else learned.table,
        )

    searched = [("default", scaler, {}), *[(f"trial {t.number}", scaler, t.settings) for t in best]]
    others = _baselines(world) if baselines else []
    learners = [policy for policy in others if _learns(policy[1])]
    trained = dict(
        zip(
            [label for label, _, _ in (*searched, *learners)],
            train([job(name, settings) for _, name, settings in (*searched, *learners)]),
            strict=True,
        )
    )
    policies = [*searched, *others]
    judged = judge([job(name, given, trained.get(label)) for label, name, given in policies])
    points = [
        Candidate(
            label=label,
            scaler=name,
            settings=settings,
            trained=trained[label].summary if label in trained else None,
            judged=result.summary,
        )
        for (label, name, settings), result in zip(policies, judged, strict=True)
    ]
    default, front = points[0], tuple(points[1 : 1 + len(best)])
    chosen = choose([p.objectives for p in front], default.objectives)
    beats, sentence = verdict(None if chosen is None else front[chosen], default)
    return Tuning(
        scaler=scaler,
        target_latency_s=target_latency_s,
        seed=seed,
        trained_hours=first.hours,
        judged_hours=second.hours,
        trials=tuple(found),
        front=front,
        default=default,
        baselines=tuple(points[1 + len(best) :]),
        importance=importances(study, space),
        chosen=chosen,
        verdict=sentence,
        beats_default=beats,
    )


def space_of(world: WorldModel, scaler: str, target_latency_s: float) -> SearchSpace:
    """What there is to search for a scaler in this world."""
    arrivals = sum(sum(o.rows_per_s) for o in world.operators) / max(world.periods, 1)
    return SearchSpace.of(scaler, world.cluster.max_executors, target_latency_s, arrivals)


def _learns(scaler: str) -> bool:
    return "table" in scaler_type(scaler).memory_type.__struct_fields__


def _baselines(world: WorldModel) -> Sequence[tuple[str, str, dict[str, Any]]]:
    """Every scaler with its defaults, and fixed sizes across the range."""
    low, high = world.cluster.min_executors, world.cluster.max_executors
    sizes = sorted({max(1, low), max(1, round((low + high) / 2)), max(1, high)})
    return [
        *[(f"fixed {n}", "fixed", {"executors": n}) for n in sizes],
        *[(name, name, {}) for name in scalers() if name != "fixed"],
    ]
