"""Scalers on real Spark, each with the same input: a step, a ramp, a burst and a fall.

Each scaler is asked once a period and its answer is carried out at once by the cluster's
agent: real executors come and go. No guard and no person stands in between, so that what is
compared is the scalers. The stateful operator's cluster is scaled, the other one stays.

    python -m benchmarks.live_scaling --target 10 --rounds 3

Everybody runs once; Spark's allocation and its rivals `--rounds` times, by turns.
"""

import argparse
import itertools
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.commands.demo import CLUSTERS
from weir.controllers.engine.ports import Workload
from weir.controllers.model.decision import Scale
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create
from weir.pipeline.experiments.live_places import scale_command
from weir.pipeline.experiments.qspark_cluster import held

CLUSTER, OPERATOR = "narrow", "topic_count"
MOST = next(c.max_executors for c in CLUSTERS if c.name == CLUSTER)
# Seconds and rows/s at the corners of the input; between two corners it is a straight line.
INPUT = (
    (0, 50), (20, 50),
    (21, 300), (70, 300),  # a step
    (71, 50), (85, 50),
    (120, 330), (130, 330),  # a ramp
    (131, 500), (146, 500),  # a burst on top
    (147, 300), (175, 30), (200, 30),  # a fall
)  # fmt: skip
# A row costs so much that rows, not the start of batches, keep the cores busy: then it is
# executors that count, even where four of them share two processors.
OPERATORS = ("topic_count_cost_s=0.004", "max_rows=1200")
STEP_S, STEP_ENDS_S = 21.0, 70.0
SPARK = "Spark's allocation"
RIVALS = (SPARK, "thresholds", "rate-based")
Figures = dict[str, float]


def scalers(target_s: float) -> dict[str, tuple[str, dict[str, Any]]]:
    """Label -> scaler and settings: defaults, but the latency to aim at where one has such."""
    return {
        "fixed 1": ("fixed", {"executors": 1}),
        f"fixed {MOST}": ("fixed", {"executors": MOST}),
        SPARK: ("spark_streaming", {}),
        "thresholds": ("thresholds", {}),
        "DoDo": ("dodo", {}),
        "Q-learning": ("qlearning", {"target_latency_s": target_s}),
        "DRS": ("drs", {"t_max_s": target_s, "t_min_s": target_s / 3}),
        "rate-based": ("rate_based", {}),
    }


def rate_at(second: float) -> float:
    """The input at a second of the run.

    >>> rate_at(0), rate_at(102.5)
    (50.0, 190.0)
    """
    for (t0, r0), (t1, r1) in itertools.pairwise(INPUT):
        if second <= t1:
            return r0 + (r1 - r0) * max(0.0, second - t0) / (t1 - t0)
    return float(INPUT[-1][1])


def scale(system: System, executors: int) -> None:
    """Tell the agent, without waiting."""
    system.store.submit(scale_command(CLUSTER, executors, "benchmark"))


def _executors(system: System) -> int | None:
    cluster = system.snapshot().cluster(CLUSTER)
    return None if cluster is None else cluster.executors


def one(system: System, name: str, settings: dict[str, Any], target_s: float) -> Figures:
    """One scaler through the whole input."""
    system.store.set_workload(Workload(name="tweets", rows_per_s=INPUT[0][1], paused=True))
    wait_until(system.drained, 300, "the pipeline is drained")
    scale(system, 1)
    wait_until(lambda: _executors(system) == 1, 120, "one executor")
    scaler = create(name, settings, Scope(cluster=CLUSTER))
    memory = scaler.fresh()
    began, actions, last_at = time.time(), [], 0.0
    while (second := time.time() - began) < INPUT[-1][0]:
        system.store.set_workload(Workload(name="tweets", rows_per_s=rate_at(second)))
        snapshot = system.snapshot()
        newest = max(s.at for s in system.store.latest() if s.cluster.name == CLUSTER)
        if newest > last_at:  # once per period
            last_at = newest
            decision, memory = scaler.decide(snapshot, memory, time.time())
            if isinstance(decision, Scale):
                scale(system, decision.executors)
                actions.append((second, decision.executors))
        time.sleep(0.5)
    ended = time.time()
    samples = system.store.samples(CLUSTER, began, ended)
    batches = [
        b
        for s in samples
        for b in s.batches
        if b.operator == OPERATOR and b.rows and b.committed_at > began
    ]
    seconds, latencies = held(batches, began, ended)
    over = sum(s for s, v in zip(seconds, latencies, strict=True) if v > target_s)
    p50, p95 = np.quantile(latencies, (0.5, 0.95), weights=seconds, method="inverted_cdf")
    return {
        "over": over / (ended - began),
        "p50": float(p50),
        "p95": float(p95),
        "executor_s": sum(s.cluster.executors * s.period_s for s in samples),
        "actions": len(actions),
        "steps": sum(STEP_S <= at < STEP_ENDS_S for at, _ in actions),
    }


def main() -> None:
    """Run every scaler and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--target", type=float, default=10.0, help="latency to stay below, s")
    arguments.add_argument("--rounds", type=int, default=1, help=f"of {', '.join(RIVALS)}")
    arguments.add_argument("--only", default="", help="labels, by comma")
    options = arguments.parse_args()
    chosen = scalers(options.target)
    if options.only:
        chosen = {k: v for k, v in chosen.items() if k in options.only.split(",")}
    turns = [*chosen, *(r for _ in range(options.rounds - 1) for r in RIVALS if r in chosen)]
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    system = System(folder, *(word for pair in OPERATORS for word in ("--set", pair)))
    runs: dict[str, list[Figures]] = defaultdict(list)
    try:
        for label in turns:
            name, settings = chosen[label]
            runs[label].append(one(system, name, settings, options.target))
            print(label, runs[label][-1], flush=True)
    finally:
        system.stop()
        shutil.rmtree(folder, ignore_errors=True)
    text = report.table(
        (
            "scaler", "runs", f"time over {options.target:g} s", "latency p50", "p95",
            "executor-seconds", "actions", "decisions after the step",
            "against Spark's allocation",
        ),
        [_row(label, of, runs.get(SPARK, [])) for label, of in runs.items()],
    )  # fmt: skip
    corners = ", ".join(f"{r} at {t} s" for t, r in INPUT)
    text += (
        f"\n\nInput in rows/s: {corners}. Cluster {CLUSTER}, 1 to {MOST} executors of one core, "
        f"operators with {', '.join(OPERATORS)}; latency of {OPERATOR} from event to commit, "
        "weighted by time: it holds up to the commit, and while nothing commits it grows. All "
        "scalers have their defaults except the latency to aim at. Of several runs the mean, and "
        "from the least to the most; the last column compares means."
    )
    command = f"python -m benchmarks.live_scaling --target {options.target:g}"
    report.write("live scaling", f"{command} --rounds {options.rounds}", text)
    print(text)


def _row(label: str, runs: Sequence[Figures], spark: Sequence[Figures]) -> list[str]:
    return [
        label,
        str(len(runs)),
        _cell(runs, "over", "{:.0%}"),
        _cell(runs, "p50", "{:.1f} s"),
        _cell(runs, "p95", "{:.1f} s"),
        _cell(runs, "executor_s", "{:,.0f}"),
        _cell(runs, "actions", "{:.3g}"),
        _cell(runs, "steps", "{:.3g}"),
        "" if label == SPARK or not spark else _against(runs, spark),
    ]


def _mean(runs: Sequence[Figures], key: str) -> float:
    return sum(r[key] for r in runs) / len(runs)


def _cell(runs: Sequence[Figures], key: str, form: str) -> str:
    """The mean, and where runs differ their range."""
    mean = form.format(_mean(runs, key))
    least, most = (form.format(f(r[key] for r in runs)) for f in (min, max))
    return mean if least == most else f"{mean} ({least} to {most})"


def _against(runs: Sequence[Figures], spark: Sequence[Figures]) -> str:
    """In words: better in what than Spark's own allocation."""
    less = [
        words
        for words, key in (("fewer violations", "over"), ("fewer executor-seconds", "executor_s"))
        if _mean(runs, key) < _mean(spark, key)
    ]
    return " and ".join(less) or "neither"


if __name__ == "__main__":
    main()
