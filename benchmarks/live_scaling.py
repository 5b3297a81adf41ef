"""Scalers on real Spark, each with the same input: a step, a ramp, a burst and a fall.

Each scaler is asked once a period and its answer is carried out at once by the cluster's
agent: real executors come and go. No guard and no person stands in between, so that what is
compared is the scalers. The stateful operator's cluster is scaled, the other one stays.
"""

import argparse
import itertools
import shutil
import statistics
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from benchmarks import report
from commands.run import CLUSTERS
from controllers.engine.ports import Workload
from controllers.model.command import Command, ScaleTo
from controllers.model.decision import Scale
from controllers.scaling.base import Scope
from controllers.scaling.registry import create
from tests.support.system import System
from tests.support.waiting import wait_until

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


def scalers(target_s: float) -> dict[str, tuple[str, dict[str, Any]]]:
    """Label -> scaler and settings: defaults, but the latency to aim at where one has such."""
    return {
        "fixed 1": ("fixed", {"executors": 1}),
        f"fixed {MOST}": ("fixed", {"executors": MOST}),
        "Spark's allocation": ("spark_streaming", {}),
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
    now = time.time()
    system.store.submit(
        Command(
            id=uuid.uuid4().hex, cluster=CLUSTER, action=ScaleTo(executors=executors),
            issued_at=now, expires_at=now + 60, by="benchmark",
        )
    )  # fmt: skip


def one(system: System, name: str, settings: dict[str, Any], target_s: float) -> dict[str, float]:
    """One scaler through the whole input."""
    system.store.set_workload(Workload(name="tweets", rows_per_s=INPUT[0][1], paused=True))
    wait_until(system.drained, 300, "the pipeline is drained")
    scale(system, 1)
    wait_until(lambda: system.snapshot().cluster(CLUSTER).executors == 1, 120, "one executor")
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
    samples = system.store.samples(CLUSTER, began, time.time())
    latencies = [
        o.latency_s
        for s in samples
        for o in s.operators
        if o.name == OPERATOR and o.latency_s is not None and (o.batch_at or 0) > began
    ]
    seconds = sum(s.cluster.executors * s.period_s for s in samples)
    after_step = [a for a in actions if STEP_S <= a[0] < STEP_ENDS_S]
    return {
        "over": sum(v > target_s for v in latencies) / max(len(latencies), 1),
        "p50": statistics.median(latencies),
        "p95": statistics.quantiles(latencies, n=20)[18],
        "executor_s": seconds,
        "actions": len(actions),
        "steps": len(after_step),
    }


def main() -> None:
    """Run every scaler and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--target", type=float, default=10.0, help="latency to stay below, s")
    arguments.add_argument("--only", default="", help="labels, by comma")
    options = arguments.parse_args()
    chosen = scalers(options.target)
    if options.only:
        chosen = {k: v for k, v in chosen.items() if k in options.only.split(",")}
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    system = System(folder, *(word for pair in OPERATORS for word in ("--set", pair)))
    found: dict[str, dict[str, float]] = {}
    try:
        for label, (name, settings) in chosen.items():
            found[label] = one(system, name, settings, options.target)
            print(label, found[label], flush=True)
    finally:
        system.stop()
        shutil.rmtree(folder, ignore_errors=True)
    spark = found.get("Spark's allocation")
    rows = [
        (
            label, f"{f['over']:.0%}", f"{f['p50']:.1f} s", f"{f['p95']:.1f} s",
            f"{f['executor_s']:,.0f}", f"{f['actions']:.0f}", f"{f['steps']:.0f}",
            _against(f, spark),
        )
        for label, f in found.items()
    ]  # fmt: skip
    text = report.table(
        (
            "scaler", f"time over {options.target:g} s", "latency p50", "p95", "executor-seconds",
            "actions", "decisions after the step", "against Spark's allocation",
        ),
        rows,
    )  # fmt: skip
    corners = ", ".join(f"{r} at {t} s" for t, r in INPUT)
    text += (
        f"\n\nInput in rows/s: {corners}. Cluster {CLUSTER}, 1 to {MOST} executors of one core, "
        f"operators with {', '.join(OPERATORS)}; latency of {OPERATOR} from event to commit; all scalers with their defaults except the "
        "latency to aim at. One run each: small differences are noise of the machine."
    )
    report.write(
        "live scaling",
        f"python -m benchmarks.live_scaling --target {options.target:g}",
        text,
    )
    print(text)


def _against(figures: dict[str, float], spark: dict[str, float] | None) -> str:
    """In words: better in what than Spark's own allocation."""
    if spark is None or figures is spark:
        return ""
    less = [
        words
        for words, key in (("fewer violations", "over"), ("fewer executor-seconds", "executor_s"))
        if figures[key] < spark[key]
    ]
    return " and ".join(less) or "neither"


if __name__ == "__main__":
    main()
