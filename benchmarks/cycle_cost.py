"""What one report of a cluster costs the engine and Redis, and how that grows with their number.

An engine in this process, a real Redis, and made-up reports: period after period every cluster
reports once, and the engine looks until the scaler that each follows has answered; the others are
asked as far as their share of a core goes. CPU time is taken, not time: how long it takes depends
on who else uses the machine.

    python -m benchmarks.cycle_cost
"""

import argparse
import gc
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from benchmarks import report
from tests.support.models import many, sample_of
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.engine.process import Engine
from weir.pipeline.engine.start import compile_kernels
from weir.pipeline.local.redis_server import RedisServer

PERIOD_S = 10.0
WARM, MEASURED = 6, 6
"""Periods before the measured ones, and those."""
LOOKS_MOST = 20


class Cost:
    """CPU of one period, in ms per cluster."""

    def __init__(self, engine_ms: float, redis_ms: float, looks: int) -> None:
        self.engine_ms, self.redis_ms, self.looks = engine_ms, redis_ms, looks


def measured(clusters: int, operators: int) -> tuple[list[Cost], float]:
    """The cost of each measured period, and the engine's memory in MB."""
    models, rng, found = many(clusters, operators), random.Random(1), list[Cost]()
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder)).start()
        store = RedisStore.at(server.url)
        engine = Engine(RedisStore.at(server.url))
        try:
            began = time.time() - (WARM + MEASURED) * PERIOD_S
            for i in range(WARM + MEASURED):
                at = began + i * PERIOD_S
                for model in models:
                    store.append(sample_of(model, 400.0, at, PERIOD_S, rng))
                cost = _answer(engine, store, at, clusters)
                if i >= WARM:
                    found.append(cost)
            gc.collect()
            return found, psutil.Process().memory_info().rss / 1e6
        finally:
            server.stop()


def _answer(engine: Engine, store: RedisStore, at: float, clusters: int) -> Cost:
    """Look until every cluster's report has its answer."""
    cpu_s, redis_s, looks = time.process_time(), _redis_cpu_s(store), 0
    while looks < LOOKS_MOST:
        looks += 1
        engine._leadership.begin_cycle()
        engine.cycle(at + 2.1 * looks - 2.0)
        said = engine._views.scaling
        if sum(view.sample_at >= at - 1e-3 for view in said.values()) == clusters:
            break
    else:
        raise SystemExit("some clusters got no answer")
    spent_s, redis_spent_s = time.process_time() - cpu_s, _redis_cpu_s(store) - redis_s
    return Cost(spent_s / clusters * 1000, redis_spent_s / clusters * 1000, looks)


def _redis_cpu_s(store: RedisStore) -> float:
    info = store.client.info("cpu")
    return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, nargs="+", default=[100, 200, 500, 1000])
    parser.add_argument("--operators", type=int, default=10)
    parser.add_argument("--dry", action="store_true", help="print, do not write the section")
    options = parser.parse_args()
    compile_kernels()
    rows, engine = [], list[float]()
    for clusters in options.clusters:
        found, mb = measured(clusters, options.operators)
        own = statistics.median(c.engine_ms for c in found)
        redis = statistics.median(c.redis_ms for c in found)
        engine.append(own)
        rows.append((
            f"{clusters:,}", f"{own:.2f}", f"{redis:.2f}",
            f"{clusters * own / 10 / PERIOD_S:.0f} %", f"{clusters * redis / 10 / PERIOD_S:.0f} %",
            f"{mb:.0f}",
        ))  # fmt: skip
        print(rows[-1], flush=True)
    total = np.array(options.clusters) * np.array(engine)
    power = float(np.polyfit(np.log(options.clusters), np.log(total), 1)[0])
    text = report.table(
        ("clusters", "engine, ms of CPU per report", "Redis, ms of CPU per report",
         "engine, of a core", "Redis, of a core", "MB of the process"), rows,
    )  # fmt: skip
    text += (
        f"\n\n{options.operators} operators each; each cluster reports once in {PERIOD_S:g} s; the "
        f"scaler that is followed is asked, the others as far as their share of a core goes. Medians of {MEASURED} periods, on {os.cpu_count()} cores that others use too. "
        f"The engine's cost grows with clusters to the power of {power:.2f} (1 is linear). Planners, "
        "which have a process of their own, are not in it."
    )
    if not options.dry:
        report.write("cycle cost", "python -m benchmarks.cycle_cost", text)
    print(text)


if __name__ == "__main__":
    main()
