"""The sliced demo under a day squeezed into ten minutes, again and again: does anything grow?

Every ten seconds: resident memory, threads and open files of each process, by kind, and what its
folders hold on disk. The run is cut into parts; what grows from the second part to the last one is
told. Nothing may have grown by more than a tenth, no thread may be missing, no process replaced but
for Python's workers, counts must be exact at the end, health well, and the console silent; else the
run has failed: its section says so, and so does the exit code.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil

from benchmarks import report
from benchmarks.chaos import at_rest
from benchmarks.faults import KINDS, below, words
from tests.support.system import System
from weir.controllers.engine.ports import Workload
from weir.controllers.model.profile import Profile

DAY_S = 600.0
NIGHT_ROWS, NOON_ROWS = 30.0, 150.0
LOOK_EVERY_S = 10.0
PARTS = 6
GROWN = 1.1
DISK_GROWN = 1.5
"""Runs are kept for days; checkpoints and logs must not grow with them."""
DRIVERS, WORKERS, REST = "drivers' JVMs", "Python's workers", "all else"
ALL = {**KINDS, DRIVERS: "deploy.SparkSubmit", WORKERS: "pyspark.daemon"}
Figures = dict[str, list[tuple[float, float, float]]]  # kind -> MB, threads, files at each look


def look(system: System, figures: Figures, seen: dict[str, set[int]]) -> None:
    """Sums over the processes of each kind now; one that ends meanwhile does not count."""
    sums = {kind: [0.0, 0.0, 0.0] for kind in (*ALL, REST)}
    for process in [psutil.Process(system.process.pid), *below(system)]:
        said = words(process)
        kind = next((kind for kind, word in ALL.items() if word in said), REST)
        with suppress(psutil.Error), process.oneshot():
            now = process.memory_info().rss / 1e6, process.num_threads(), process.num_fds()
            sums[kind] = [a + b for a, b in zip(sums[kind], now, strict=True)]
            seen[kind].add(process.pid)
    for kind, (mb, threads, files) in sums.items():
        figures[kind].append((mb, threads, files))


def on_disk(folder: Path) -> float:
    """MB of all files below."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total / 1e6


def grown(values: list[float], minutes: float) -> tuple[list[float], float, float]:
    """Means of the parts, the last against the second, and the slope per hour after the first.

    >>> means, ratio, slope = grown([9.0, 9.0, *[4.0] * 10], minutes=12)
    >>> means, ratio, round(slope, 6)
    ([9.0, 4.0, 4.0, 4.0, 4.0, 4.0], 1.0, 0.0)
    """
    means = [float(part.mean()) for part in np.array_split(np.array(values), PARTS)]
    at = np.linspace(0, minutes / 60, len(values))
    later = at >= at[-1] / PARTS
    slope = float(np.polyfit(at[later], np.array(values)[later], 1)[0])
    return means, means[-1] / means[1] if means[1] else 1.0, slope


def run(minutes: float, folder: Path) -> tuple[str, list[str]]:
    """Let it run; the section, and what is not as it has to be."""
    system = System(folder, "--set", "slices=4", "--rate", str(NIGHT_ROWS))
    figures: Figures = defaultdict(list)
    seen: dict[str, set[int]] = defaultdict(set)
    first: dict[str, set[int]] = {}
    disk: list[float] = []
    try:
        day = Profile(kind="daily", to_rows_per_s=NOON_ROWS, over_s=DAY_S)
        system.store.set_workload(Workload(name="tweets", rows_per_s=NIGHT_ROWS, profile=day))
        said = len(system.log_file.read_bytes())
        ends = time.monotonic() + 60 * minutes
        time.sleep(LOOK_EVERY_S)
        while time.monotonic() < ends:
            began = time.monotonic()
            look(system, figures, seen)
            first = first or {kind: set(pids) for kind, pids in seen.items()}
            disk.append(on_disk(folder))
            time.sleep(max(0.1, LOOK_EVERY_S - (time.monotonic() - began)))
        console = system.log_file.read_bytes()[said:].decode(errors="replace").strip()
        health = system.health()
        generated, exact = at_rest(system)
    except BaseException:
        print(system.described()[-10_000:], flush=True)
        raise
    finally:
        system.stop()
    rows = [_row(kind, [mb for mb, _, _ in found], minutes) for kind, found in figures.items()]
    rows.append(_row("on disk", disk, minutes))
    threads = _ends({kind: [f[1] for f in found] for kind, found in figures.items()})
    files = _ends({kind: [f[2] for f in found] for kind, found in figures.items()})
    replaced = [k for k, pids in seen.items() if k not in (WORKERS, REST) and pids > first[k]]
    wrong = [
        f"{kind}: {what} grew to {ratio:.2f} times"
        for kind, found in figures.items()
        for i, what in enumerate(("memory", "threads", "open files"))
        if (ratio := grown([f[i] for f in found], minutes)[1]) > GROWN
    ]
    wrong += [
        f"{kind}: fewer threads than at first"
        for kind, found in figures.items()
        if kind not in (WORKERS, REST) and found[-1][1] < 0.9 * found[len(found) // PARTS][1]
    ]
    wrong += [
        what
        for what, found in (
            (f"replaced: {', '.join(replaced)}", bool(replaced)),
            ("counts differ", not exact),
            ("the disk grew", grown(disk, minutes)[1] > DISK_GROWN),
            (f"health is {health['status']}", health["status"] != "ok"),
            ("the console said something", bool(console)),
        )
        if found
    ]
    amiss = [f"{s['kind']} ({s['count']})" for s in health["skipped"]]
    text = report.table(
        ("what", *(f"MB to min {(i + 1) * minutes / PARTS:.3g}" for i in range(PARTS)),
         "last / second", "MB per hour, after the first"), rows,
    )  # fmt: skip
    return text + (
        f"\n\nThe demo with four slices on {os.cpu_count()} cores, {minutes:g} minutes, a day of "
        f"{DAY_S / 60:.0f} minutes between {NIGHT_ROWS:.0f} and {NOON_ROWS:.0f} rows/s. Threads, mean of "
        f"the second part to that of the last: {threads}. Open files: {files}. "
        f"{generated:,} rows were generated; counts at rest {'are exact' if exact else 'DIFFER'}. Health "
        f"at the end: {health['status']}; skipped: {', '.join(amiss) or 'nothing'}. The console said "
        f"{'nothing' if not console else repr(console[:500])}."
        + (f"\n\n**FAILED**: {'; '.join(wrong)}." if wrong else "")
    ), wrong


def _row(name: str, values: list[float], minutes: float) -> list[str]:
    means, ratio, slope = grown(values, minutes)
    return [name, *(f"{m:.0f}" for m in means), f"{ratio:.3f}", f"{slope:+.0f}"]


def _ends(figures: dict[str, list[float]]) -> str:
    """Each kind's mean in the second part and in the last one."""
    found = {kind: grown(values, 1.0)[0] for kind, values in figures.items()}
    return "; ".join(f"{kind} {means[1]:.0f} to {means[-1]:.0f}" for kind, means in found.items())


def main() -> None:
    """Soak it and write the section."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--minutes", type=float, default=120.0)
    arguments.add_argument("--dry", action="store_true", help="print, do not write the section")
    options = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weir-soak-"))
    try:
        text, wrong = run(options.minutes, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not options.dry:
        report.write("soak", f"python -m benchmarks.soak --minutes {options.minutes:g}", text)
    print(text)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
