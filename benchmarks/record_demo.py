"""Records a run of the demo on real Spark while a stated profile of rates is played.

    python -m benchmarks.record_demo --runs DIR [--minutes 10]

Everything is started as `make run` does it. The clusters stay in mode approve and nobody
approves anything, so nothing is moved, scaled or stopped: only the rate changes. The path of
the run is printed at the end; `benchmarks.simulator` takes it. No section is written.
"""

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.support.system import System
from weir.controllers.engine.ports import Workload
from weir.metrics.runs.library import list_runs

# Shares of the time and rows/s at the corners; between two corners it is a straight line.
PROFILE = (
    (0.00, 100), (0.05, 100), (0.15, 250), (0.25, 250), (0.26, 120), (0.38, 120),
    (0.50, 220), (0.60, 220), (0.61, 140), (0.72, 140), (0.73, 250), (0.85, 250), (1.00, 100),
)  # fmt: skip
STEP_S = 1.0


def rate_at(share: float) -> float:
    """The rate at a share of the run.

    >>> rate_at(0.0), rate_at(0.1), rate_at(2.0)
    (100.0, 175.0, 100.0)
    """
    for (t0, r0), (t1, r1) in itertools.pairwise(PROFILE):
        if share <= t1:
            return r0 + (r1 - r0) * max(0.0, share - t0) / (t1 - t0)
    return float(PROFILE[-1][1])


def play(system: System, seconds: float) -> None:
    """Set the rate of the generator along the profile."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        rate = rate_at(passed / seconds)
        system.store.set_workload(Workload(name="tweets", rows_per_s=rate))
        time.sleep(STEP_S)


def record(runs: Path, minutes: float) -> Path:
    """The folder of a new run."""
    known = {info.id for info in list_runs(runs)}
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    try:
        system = System(folder, "--runs", str(runs.resolve()))
        try:
            play(system, 60.0 * minutes)
        finally:
            system.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    made = [info for info in list_runs(runs) if info.id not in known]
    if not made:
        raise SystemExit(f"No run was recorded in {runs}.")
    longest = max(made, key=lambda info: info.samples)  # midnight cuts a run in two
    return runs / longest.id


def main() -> int:
    """Record and print where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True, help="folder that gets the run")
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    print(record(given.runs, given.minutes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
