"""Many moves of a stateful operator between two warm clusters, under load.

Everything runs as `make run` starts it. The pause of a move is the time from the last
commit in the old cluster to the first in the new one; at the end the generator stops
and every topic's count is compared with what was generated.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import report
from tests.support.made import topic_counts
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.commands.control import move
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.workloads.top_n import SHARDS, TWEETS, counted

OPERATOR = "topic_count"


def main() -> None:
    """Move, measure and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--moves", type=int, default=100)
    arguments.add_argument("--rate", type=int, default=150)
    arguments.add_argument("--rest", type=float, default=4.0, help="seconds between two moves")
    options = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    system = System(folder)
    try:
        system.command("rate", str(options.rate))
        time.sleep(30)
        trigger_s = system.operator(OPERATOR).trigger_s
        pauses, steady, failed = [], [], []
        for i in range(options.moves):
            target = ("wide", "narrow")[i % 2]
            done = move(system.store, OPERATOR, target).moves[0]
            if done.paused_s is None:
                failed.append(f"{done.step}: {done.message}")
            else:
                pauses.append(done.paused_s)
                print(f"move {i + 1} to {target}: paused {done.paused_s:.1f} s", flush=True)
            time.sleep(options.rest)
            now = system.operator(OPERATOR)
            if now.processing_s and (now.batch_at or 0) > (now.first_batch_at or 0):
                steady.append(now.processing_s)  # not the first batch after a move
        system.command("rate", "--pause")
        wait_until(system.drained, 180, "the pipeline is drained")
        with connect(system.redis_url) as client:
            generated = EdgeStream(client, TWEETS, SHARDS).totals()[0]
        exact = counted(system.redis_url) == topic_counts(generated)
    finally:
        system.stop()
        shutil.rmtree(folder, ignore_errors=True)
    cut = statistics.quantiles(pauses, n=20)
    batch_s = statistics.median(steady)
    goal = 2 * batch_s + trigger_s
    text = report.table(
        ("moves", "fastest", "p25", "median", "p75", "p95", "slowest", "goal for the median"),
        [
            (
                len(pauses), f"{min(pauses):.1f} s", f"{cut[4]:.1f} s",
                f"{statistics.median(pauses):.1f} s", f"{cut[14]:.1f} s", f"{cut[18]:.1f} s",
                f"{max(pauses):.1f} s", f"{goal:.1f} s",
            )
        ],
    )  # fmt: skip
    text += (
        f"\n\nBetween two moves a batch takes {batch_s:.1f} s (median of {len(steady)}) every "
        f"{trigger_s:g} s at {options.rate} rows/s; "
        f"the goal is twice the batch plus the trigger. {generated:,} rows were generated, counts "
        f"at rest {'are exact' if exact else 'DIFFER'}. "
        f"Moves that did not end in the other cluster: {len(failed)}{'; ' if failed else '.'}"
        f"{'; '.join(failed)}"
    )
    report.write(
        "moves",
        f"python -m benchmarks.moves --moves {options.moves} --rate {options.rate} "
        f"--rest {options.rest:g}",
        text,
    )
    print(text)


if __name__ == "__main__":
    main()
