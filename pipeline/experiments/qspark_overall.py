"""QSpark, experiment 9: Q-learning beside static sizes, Spark's allocation, OPO and thresholds.

Live, with the thesis's executors divided by four and its times by five: 1, 2, 3 or 6 executors,
batches of 2 s, a target of 6 s. A minute here stands for five there.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.controllers.model.decision import Scale
from weir.controllers.model.sample import ClusterSample
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create
from weir.metrics.lab.outcome import (
    ComparedFigure,
    Conclusion,
    PlotSeries,
    ResultChart,
    table,
    verdict_of,
)
from weir.pipeline.experiments.base import Bench, Step, Work
from weir.pipeline.experiments.qspark import THESIS
from weir.pipeline.experiments.qspark_cluster import CLUSTER, OPERATOR, Cluster, held

MOST, TRIGGER_S, TARGET_S, COST_S, BY = 6, 2.0, 6.0, 0.01, 5.0
MAX_ROWS = 1200
W1, W2 = "W1", "W2"
WORKLOADS: dict[str, tuple[tuple[float, float], ...]] = {
    W1: (
        (0, 70),
        (0.2, 70),
        (0.21, 190),
        (0.55, 190),
        (0.56, 110),
        (0.75, 110),
        (0.76, 230),
        (1, 230),
    ),
    W2: ((0, 60), (0.5, 260), (0.6, 260), (1, 60)),
}
"""Rows per second at shares of the run: W1 jumps between levels, W2 climbs and falls."""
STATIC = {f"static {n}": n for n in (1, 2, 3, 6)}
Q, SPARK, OPO, THRESHOLDS = "Q-learning", "Spark's allocation", "OPO", "thresholds"
PUBLISHED = {
    (Q, "over"): "a better result than Spark's allocation",
    ("static 3", "mean_s"): "from 8 to 12 executors it drops significantly",
    ("static 6", "mean_s"): "24 executors are no better than 12",
}
_QUICK = ("static 2", "static 3", Q, SPARK)


def scalers(workload: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Label -> scaler and settings: those of the thesis's table 5.10, its times divided by five."""
    thesis = {
        **THESIS, "window_s": 120.0 / BY, "latency_granularity_s": 10.0 / BY,
        "max_latency_s": 300.0 / BY, "target_latency_s": TARGET_S,
        "decision_interval_s": (120.0 if workload == W1 else 60.0) / BY,
    }  # fmt: skip
    ratios = {"scaling_up_ratio": 0.6, "scaling_down_ratio": 0.3, "batch_interval_s": TRIGGER_S}
    return {
        **{label: ("fixed", {"executors": n}) for label, n in STATIC.items()},
        Q: ("qlearning", thesis),
        SPARK: ("spark_streaming", {"scaling_interval_s": 60.0 / BY, **ratios}),
        OPO: ("parameter_optimisation",
              {"target_latency_s": TARGET_S, "least_breaches": 2, "most_breaches": 128}),
        THRESHOLDS: ("thresholds", {"grace_s": 30.0 / BY}),
    }  # fmt: skip


def sizes(quick: bool) -> tuple[tuple[str, ...], tuple[str, ...], float]:
    """Workloads, variants and the seconds of each run."""
    return ((W2,), _QUICK, 40.0) if quick else ((W1, W2), tuple(scalers(W1)), 54.0)


def rate_at(workload: str, share: float) -> float:
    """Rows per second at a share of the run.

    >>> rate_at("W2", 0.25), rate_at("W1", 0.9)
    (160.0, 230.0)
    """
    corners = WORKLOADS[workload]
    return float(np.interp(share, [c[0] for c in corners], [c[1] for c in corners]))


def figures(
    samples: Sequence[ClusterSample], began: float, ended: float, actions: int
) -> dict[str, Any]:
    """One run's latency, weighted by the time that it held, and its executors."""
    batches = [
        b for s in samples for b in s.batches
        if b.operator == OPERATOR and b.rows and b.committed_at > began
    ]  # fmt: skip
    seconds, latencies = held(batches, began, ended)
    over = sum(s for s, v in zip(seconds, latencies, strict=True) if v > TARGET_S)
    p50, p90 = np.quantile(latencies, (0.5, 0.9), weights=seconds, method="inverted_cdf")
    times = np.cumsum(seconds)
    at = np.arange(0.0, ended - began, TRIGGER_S)
    there = {s.at - began: s.cluster.executors for s in samples}
    sizes_at = np.interp(at, list(there), list(there.values())) if there else np.zeros(len(at))
    return {
        "mean_s": float(np.average(latencies, weights=seconds)),
        "p50_s": float(p50), "p90_s": float(p90), "over": over / (ended - began),
        "used": float(np.mean(list(there.values()))) if there else 0.0,
        "actions": actions, "batches": len(batches), "at": at.tolist(),
        "latency": [latencies[min(int(np.searchsorted(times, t)), len(times) - 1)] for t in at],
        "executors": [round(float(v), 2) for v in sizes_at],
    }  # fmt: skip


def one(bench: Bench, workload: str, label: str, length_s: float) -> dict[str, Any]:
    """One variant through one workload."""
    if "cluster" not in bench.shared:
        bench.shared["cluster"] = Cluster(bench, MOST, TRIGGER_S, COST_S, MAX_ROWS)
    cluster: Cluster = bench.shared["cluster"]
    said = f"{workload}, {label}"
    cluster.settle(STATIC.get(label, 1), lambda text: bench.tell(f"{said}: {text}", 0.0))
    name, settings = scalers(workload)[label]
    scaler = create(name, settings, Scope(cluster=CLUSTER))
    memory: Any = scaler.fresh()
    began, actions, last_at = time.time(), 0, 0.0
    while (second := time.time() - began) < length_s:
        cluster.rate(rate_at(workload, second / length_s))
        snapshot = cluster.snapshot()
        newest = max(s.at for s in cluster.store.latest())
        if newest > last_at:  # once per period
            last_at = newest
            decision, memory = scaler.decide(snapshot, memory, time.time())
            if isinstance(decision, Scale):
                cluster.scale(decision.executors)
                actions += 1
        bench.tell(said, second / length_s)
        time.sleep(0.2)
    ended = time.time()
    cluster.rate(0.0)
    return figures(cluster.samples(began, ended), began, ended, actions)


def parts(quick: bool) -> list[Step]:
    """One for each variant on each workload; the first also starts Spark."""
    workloads, labels, length_s = sizes(quick)

    def part(workload: str, number: int, label: str) -> Step:
        def run(bench: Bench) -> Any:
            return one(bench, workload, label, length_s)

        return Step(f"{workload}-{number}", f"{workload}, {label}", run)

    return [part(w, n, label) for w in workloads for n, label in enumerate(labels)]


def conclude(quick: bool, found: Mapping[str, Any]) -> Conclusion:
    """Where the latency drops, and whether Q-learning beats Spark and fixed sizes."""
    workloads, labels, length_s = sizes(quick)
    by = {w: {label: found[f"{w}-{n}"] for n, label in enumerate(labels)} for w in workloads}
    claims, said = [], []
    decides = {int(length_s / scalers(w)[Q][1]["decision_interval_s"]) for w in workloads}
    for workload, rows in by.items():
        two, three, learned, spark = (rows[k] for k in ("static 2", "static 3", Q, SPARK))
        drop = three["mean_s"] < 0.7 * two["mean_s"]
        better = (learned["over"], learned["used"]) < (spark["over"], spark["used"])
        beaten = [
            k for k in STATIC if k in rows
            and not (rows[k]["over"] <= learned["over"] and rows[k]["used"] <= learned["used"])
        ]  # fmt: skip
        fixed = [k for k in STATIC if k in rows]
        claims += [drop, better, beaten == fixed]
        said.append(
            f"{workload}: from 2 to 3 executors the mean latency goes from {two['mean_s']:.1f} to "
            f"{three['mean_s']:.1f} s. Q-learning is over the target {100 * learned['over']:.0f} % "
            f"of the time with {learned['used']:.1f} executors, Spark's allocation "
            f"{100 * spark['over']:.0f} % with {spark['used']:.1f}; {len(beaten)} of the "
            f"{len(fixed)} fixed sizes are not better than Q-learning in both."
        )
        if "static 6" in rows:
            six = rows["static 6"]
            claims.append(three["mean_s"] <= six["mean_s"])
            said.append(
                f"With 6 executors it is {six['mean_s']:.1f} s, "
                f"{'no better' if three['mean_s'] <= six['mean_s'] else 'better'} than with 3."
            )
    return Conclusion(
        verdict=verdict_of(*claims),
        reason=(
            f"{' '.join(said)} Each run is {length_s:.0f} s, which stand for "
            f"{length_s * BY / 60:.1f} minutes of the thesis's hour, so "
            f"Q-learning, which begins with one executor, decides "
            f"{' or '.join(str(n) for n in sorted(decides))} times only; one run each, and "
            "the executors of this machine start in seconds while its batches were shortened: "
            "small differences mean nothing. The readings are made up, as the thesis's are not "
            "public, and a row waits for 10 ms in place of computing."
        ),
        numbers=tuple(
            ComparedFigure(name=f"{w}, {label}: {name}", ours=scale * f[key], unit=unit,
                           published=PUBLISHED.get((label, key), ""))
            for w in workloads
            for label, f in sorted(by[w].items(), key=lambda entry: entry[0] != Q)
            for name, key, unit, scale in (
                ("mean latency", "mean_s", "s", 1.0), ("time over target", "over", "%", 100.0),
                ("executors, mean", "used", "", 1.0),
            )
        ),
        charts=tuple(
            ResultChart(
                title=f"{w}: {title}", x_title="second", y_title=unit,
                x=tuple(next(iter(by[w].values()))["at"]),
                series=tuple(
                    PlotSeries(name=label, y=tuple(f[key][: len(next(iter(by[w].values()))["at"])]))
                    for label, f in by[w].items()
                ),
            )
            for w in workloads
            for title, key, unit in (("latency", "latency", "s"), ("executors", "executors", "executors"))
        ),
        tables=(
            table(
                "Every run",
                ("workload", "variant", "latency, mean, s", "p50, s", "p90, s",
                 "time over target, %", "executors, mean", "decisions to scale", "batches"),
                [(w, label, f["mean_s"], f["p50_s"], f["p90_s"], 100 * f["over"], f["used"],
                  f["actions"], f["batches"]) for w in workloads for label, f in by[w].items()],
            ),
        ),
    )  # fmt: skip


OVERALL = Work(parts=parts, conclude=conclude)
