"""Seconds and memory of `weir import` against Spark's own History Server on the same log.

A real log is made longer (`import_long_log`). Ours counts from the start of the
process to its end, with the run on disk. The server is started and has listed the
application before its clock starts: what counts is the time from the first request
until the REST pages of jobs, stages and executors have answered, which is when a
person can see the application. Both must agree on the number of tasks that ended.

Any finished log that is one plain file does; this makes one with Spark's own version:

    PYTHONPATH=. python tests/support/event_log_job.py --log-dir LOGS --plain \\
        --rounds 4 --partitions 32 --stream-seconds 15
    python -m benchmarks.import_speed --log LOGS/local-1700000000000
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from benchmarks import report
from benchmarks.import_history_server import NotLoaded, Peak, history_server
from benchmarks.import_long_log import LongLog

ROOT = Path(__file__).resolve().parents[1]
FASTER, MEMORY_SHARE = 3.0, 0.5


class LoadTime(Struct, frozen=True, kw_only=True):
    """One loading of one log."""

    seconds: float
    cpu_s: float
    from_start_s: float
    peak_bytes: int
    tasks: int


def ours(log: Path, folder: Path) -> LoadTime:
    """`weir import`, as a person starts it."""
    argv = [
        sys.executable,
        "-m",
        "weir",
        "import",
        str(log),
        "--json",
        "--runs",
        str(folder / "runs"),
    ]
    started_at, worked_s = time.monotonic(), children_s()
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE) as process:
        with Peak(process.pid) as peak:
            assert process.stdout is not None
            answer = process.stdout.read()
            process.wait()
        took_s = time.monotonic() - started_at
    tasks = json.loads(answer)["tasks_ended"]
    shutil.rmtree(folder / "runs")
    return LoadTime(
        seconds=took_s,
        cpu_s=children_s() - worked_s,
        from_start_s=took_s,
        peak_bytes=peak.bytes,
        tasks=tasks,
    )


def children_s() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def theirs(log: Path, folder: Path, heap: str) -> LoadTime:
    """A new History Server, asked for the application."""
    with history_server(log.parent, folder, heap) as server, Peak(server.pid) as peak:
        (app,) = server.ask()
        seconds, cpu_s, from_start_s, tasks = server.load(app["id"])
    return LoadTime(
        seconds=seconds,
        cpu_s=cpu_s,
        from_start_s=from_start_s,
        peak_bytes=peak.bytes,
        tasks=tasks,
    )


def median(rounds: list[LoadTime]) -> LoadTime:
    """The median of each figure; all rounds must have seen the same tasks."""
    (tasks,) = {m.tasks for m in rounds}
    return LoadTime(
        seconds=statistics.median(m.seconds for m in rounds),
        cpu_s=statistics.median(m.cpu_s for m in rounds),
        from_start_s=statistics.median(m.from_start_s for m in rounds),
        peak_bytes=round(statistics.median(m.peak_bytes for m in rounds)),
        tasks=tasks,
    )


def compared(log: Path, folder: Path, heaps: list[str], rounds: int) -> dict[str, LoadTime | None]:
    """Ours and the server with each heap, in turns; None where the heap does not do."""
    found: dict[str, list[LoadTime] | None] = {"": [], **{heap: [] for heap in heaps}}
    for _ in range(rounds):
        for heap, done in found.items():
            if done is None:
                continue
            try:
                done.append(theirs(log, folder, heap) if heap else ours(log, folder))
                print(f"  {heap or 'ours'}: {done[-1]}", flush=True)
            except NotLoaded as error:
                print(f"  {heap}: {error}", flush=True)
                found[heap] = None
    return {heap: median(done) if done else None for heap, done in found.items()}


def main() -> None:
    """Measure every size and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--log", type=Path, required=True, help="a real log, one plain file")
    arguments.add_argument("--megabytes", type=int, nargs="+", default=[100, 1000])
    arguments.add_argument("--rounds", type=int, nargs="+", default=[5, 3], help="for each size")
    arguments.add_argument("--heaps", nargs="+", default=["512m", "1g", "4g"], help="Spark's: 1g")
    arguments.add_argument("--dry", action="store_true", help="do not write RESULTS.md")
    options = arguments.parse_args()
    template = LongLog(options.log)
    rows, verdicts = [], []
    for megabytes, rounds in zip(options.megabytes, options.rounds, strict=True):
        folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
        try:
            log = folder / "logs" / options.log.name
            log.parent.mkdir()
            template.write(log, megabytes * 1_000_000)
            size = log.stat().st_size
            print(f"{size / 1e6:.0f} MB", flush=True)
            found = compared(log, folder, options.heaps, rounds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        rows += table_rows(size, found)
        verdicts.append(verdict(size, found))
    text = report.table(
        (
            "log", "reader", "seconds", "of processors", "from its start",
            "peak memory", "tasks ended",
        ),
        rows,
    )  # fmt: skip
    text += "\n\n" + "\n".join(verdicts) + "\n\n" + remarks(options)
    print(text)
    if not options.dry:
        sizes, rounds = (" ".join(map(str, x)) for x in (options.megabytes, options.rounds))
        command = (
            f"python -m benchmarks.import_speed --log LOG --megabytes {sizes} --rounds {rounds} "
            f"--heaps {' '.join(options.heaps)}"
        )
        report.write("import speed", command, text)


def table_rows(size: int, found: dict[str, LoadTime | None]) -> list[tuple[str, ...]]:
    """One line for every reader."""
    rows: list[tuple[str, ...]] = []
    for heap, m in found.items():
        name = f"History Server, heap {heap}" if heap else "`weir import`"
        figures: tuple[str, ...] = ("not loaded", "", "", "", "")
        if m is not None:
            memory = f"{m.peak_bytes / 1e6:.0f} MB"
            seconds = (f"{s:.2f}" for s in (m.seconds, m.cpu_s, m.from_start_s))
            figures = (*seconds, memory, f"{m.tasks:,}")
        rows.append((f"{size / 1e6:.0f} MB", name, *figures))
    return rows


def verdict(size: int, found: dict[str, LoadTime | None]) -> str:
    """Ours against the fastest and against the smallest server, which may be two."""
    mine = found[""]
    servers = [m for heap, m in found.items() if heap and m is not None]
    assert mine is not None
    assert servers, "no heap was large enough"
    if {m.tasks for m in servers} != {mine.tasks}:
        raise AssertionError("the readers disagree on the number of tasks that ended")
    faster = min(m.seconds for m in servers) / mine.seconds
    cheaper = min(m.cpu_s for m in servers) / mine.cpu_s
    share = mine.peak_bytes / min(m.peak_bytes for m in servers)
    met = "Met" if faster >= FASTER and share <= MEMORY_SHARE else "NOT met"
    return (
        f"- {size / 1e6:.0f} MB: {faster:.1f}x faster than the fastest server ({cheaper:.1f}x in "
        f"processor time), {share:.2f} of the memory of the smallest one that loads it. "
        f"Goal: {FASTER:g}x and {MEMORY_SHARE:g}. {met}."
    )


def remarks(options: argparse.Namespace) -> str:
    """How it was measured."""
    return (
        f"Medians of {' and '.join(map(str, options.rounds))} rounds in turns on "
        f"{os.cpu_count()} shared cores (load at the end {os.getloadavg()[2]:.0f}: trust the "
        f"ratios), log in the page cache. Ours: from the start of the process to its end, run on disk. History Server: "
        f"from the first request until jobs, stages and executors have answered over REST, with "
        f"the server up and the application listed before the clock starts (beside it: counted "
        f"from the server's start, as ours is). Memory is the peak resident set of the process "
        f"tree. The log is a real one of {options.log.stat().st_size / 1e6:.1f} MB whose jobs, "
        f"stages, tasks and batches are repeated with new ids and times; all readers agree on "
        f"the number of tasks that ended."
    )


if __name__ == "__main__":
    main()
