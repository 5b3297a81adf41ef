"""QSpark, experiments 1 to 8: one setting of Q-learning at a time, simulated on two workloads.

As in the thesis: 4 to 24 executors, batches of 10 s, one hour that begins with 4 executors, a
target of 30 s. Its two hours of smart plugs are not to be had, so both workloads are made up:
W1 jumps between levels, W2 climbs to a peak and falls again; several seeds of each.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from weir.controllers.model.trace import Trace
from weir.controllers.simulator.model import WorldModel
from weir.controllers.simulator.run import make_scaler, simulate
from weir.controllers.simulator.scenario import Scenario, world_of
from weir.metrics.lab.outcome import (
    ClaimVerdict,
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work

HOUR_S, STEP_S = 3600.0, 10.0
TARGET_S = 30.0
MOST, LEAST = 24, 4
WORKLOADS = ("W1", "W2")
THESIS: dict[str, Any] = {
    "executor_granularity": 1, "window_s": 120.0, "decision_interval_s": 60.0,
    "initialisation_mode": "optimised", "latency_granularity_s": 10.0, "learning_factor": 0.7,
    "discount_factor": 0.9, "policy": "greedy", "reward": "prefer_scale_in",
    "executor_strategy": "queue_aware", "max_latency_s": 300.0,
}  # fmt: skip
"""What the thesis holds constant, from experiment 2 on."""


class Variant(Struct, frozen=True, kw_only=True):
    """One line of an experiment's table."""

    label: str
    settings: dict[str, Any]
    target_s: float = TARGET_S
    training_s: float = 0.0  # on other data, before the hour that counts


def rates(workload: str, seed: int, length_s: float) -> np.ndarray:
    """Rows per second, every ten seconds; a rate of 100 keeps 24 executors busy."""
    chance = np.random.default_rng([seed, WORKLOADS.index(workload)])
    count = int(length_s / STEP_S)
    if workload == "W1":
        every = int(chance.integers(20, 40))
        level = np.repeat(chance.uniform(15.0, 75.0, count // every + 1), every)[:count]
    else:
        along = np.linspace(0.0, np.pi * length_s / HOUR_S, count)
        level = 20.0 + 60.0 * np.abs(np.sin(along))
    return np.asarray(level * np.exp(chance.normal(0.0, 0.12, count)))


def world(workload: str, seed: int, training_s: float = 0.0) -> WorldModel:
    """The hour, after what is trained on, which has another seed."""
    found = rates(workload, seed, HOUR_S)
    if training_s:
        found = np.concatenate([rates(workload, seed + 1000, training_s), found])
    trace = Trace(
        times=tuple((STEP_S * np.arange(len(found))).tolist()), rows_per_s=tuple(found.tolist())
    )
    return world_of(
        trace,
        Scenario(
            cost_s_per_row=MOST / 100.0, min_executors=LEAST, max_executors=MOST, executors=LEAST,
            executor_start_s=10.0, period_s=STEP_S, trigger_s=10.0, jitter=0.1,
        ),
    )  # fmt: skip


def hour(variant: Variant, workload: str, seed: int) -> dict[str, Any]:
    """One simulated hour: series, and what they come to."""
    model = world(workload, seed, variant.training_s)
    scaler = make_scaler(
        "qlearning", {**THESIS, **variant.settings}, model.focus, seed, variant.target_s
    )
    series = simulate(model, scaler, seed=seed).series
    skip = int(variant.training_s / STEP_S)
    # Before the first batch there is no latency; later None means the batch before still runs.
    latency = np.array([np.nan if v is None else v for v in series.latency_s[skip:]], dtype=float)
    executors = np.array(series.executors[skip:], dtype=float)
    known = latency[np.isfinite(latency)]
    steps = [b - a for a, b in pairwise(executors.tolist()) if a != b]
    turns = sum(a * b < 0 for a, b in pairwise(steps))
    return {
        "latency": [None if np.isnan(v) else float(v) for v in latency[::6]],
        "executors": executors[::6].tolist(), "mean_s": float(known.mean()),
        "p90_s": float(np.percentile(known, 90)), "over": float((known > variant.target_s).mean()),
        "used": float(executors.mean()), "turns": turns,
    }  # fmt: skip


def averaged(hours: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of several seeds."""
    scalars = {
        k: float(np.mean([h[k] for h in hours]))
        for k in ("mean_s", "p90_s", "over", "used", "turns")
    }
    lengths = min(len(h["executors"]) for h in hours)
    rows = np.array([[np.nan if v is None else v for v in h["latency"][:lengths]] for h in hours])
    with np.errstate(all="ignore"):
        some = np.isfinite(rows).any(axis=0)
        means = np.where(
            some, np.nansum(rows, axis=0) / np.maximum(np.isfinite(rows).sum(axis=0), 1), np.nan
        )
    executors = np.mean([h["executors"][:lengths] for h in hours], axis=0)
    return {
        **scalars, "latency": [None if np.isnan(v) else float(v) for v in means],
        "executors": executors.tolist(),
    }  # fmt: skip


Found = Mapping[str, Mapping[str, Any]]
"""By workload, then by variant's label."""
Judge = Callable[[Mapping[str, Found]], tuple[ClaimVerdict, str]]


def experiment(variants: tuple[Variant, ...], judge: Judge) -> Work:
    """The work of one experiment."""

    def parts(quick: bool) -> list[Step]:
        seeds = 3 if quick else 20

        def part(number: int, workload: str) -> Step:
            variant = variants[number]

            def run(bench: Bench) -> Any:
                found = []
                for seed in range(seeds):
                    bench.tell(f"{workload}, {variant.label}, seed {seed}", seed / seeds)
                    found.append(hour(variant, workload, seed))
                return averaged(found)

            return Step(f"{workload}-{number}", f"{workload}, {variant.label}", run)

        return [part(n, w) for w in WORKLOADS for n in range(len(variants))]

    def conclude(_quick: bool, found: Mapping[str, Any]) -> Conclusion:
        by = {w: {v.label: found[f"{w}-{n}"] for n, v in enumerate(variants)} for w in WORKLOADS}
        verdict, reason = judge(by)
        return Conclusion(
            verdict=verdict,
            reason=f"{reason} Simulated, and on made-up workloads: the thesis's data are not public.",
            numbers=tuple(
                ComparedFigure(name=f"{w}, {label}: {name}", ours=scale * f[key], unit=unit)
                for w in WORKLOADS for label, f in by[w].items()
                for name, key, unit, scale in (
                    ("time over target", "over", "%", 100.0), ("executors, mean", "used", "", 1.0),
                )
            ),
            charts=tuple(
                ResultChart(
                    title=f"{w}: {title}, mean of the seeds", x_title="minute", y_title=unit,
                    x=tuple(float(m) for m in range(len(next(iter(by[w].values()))[key]))),
                    series=tuple(PlotSeries(name=label, y=tuple(f[key])) for label, f in by[w].items()),
                )
                for w in WORKLOADS
                for title, key, unit in (("latency", "latency", "s"), ("executors", "executors", "executors"))
            ),
            tables=(
                table(
                    "Every variant",
                    ("workload", "variant", "latency, mean, s", "latency, p90, s",
                     "time over target, %", "executors, mean", "turns of direction an hour"),
                    [(w, label, f["mean_s"], f["p90_s"], 100 * f["over"], f["used"], f["turns"])
                     for w in WORKLOADS for label, f in by[w].items()],
                ),
            ),
        )  # fmt: skip

    return Work(parts=parts, conclude=conclude)


def least(found: Mapping[str, Any], key: str) -> str:
    """The label with the smallest figure."""
    return min(found, key=lambda label: (round(float(found[label][key]), 4), label))


def claimed(*claims: tuple[bool, str]) -> tuple[ClaimVerdict, str]:
    """The verdict, and each claim with whether it holds."""
    said = " ".join(f"{text} ({'holds' if holds else 'does not hold'})." for holds, text in claims)
    return verdict_of(*(holds for holds, _ in claims)), said
