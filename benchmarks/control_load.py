"""Many clusters at once: how long a look of the engine takes, how late pages are, what it costs.

Reports of N clusters x M operators are written into a real Redis as agents would; no Spark is
needed, as nothing here depends on where the figures come from. A real engine asks every scaler
of every cluster, plans the balance and keeps its proposals; a recorder writes runs; gunicorn
serves the control room to a number of tabs (`--browsers`), each in a context of its own of one
Chromium. Every web worker keeps the world for its own tabs; one is enough for these. Browsers
are on other machines in life: where all together want more than this one has, Chromium comes
second. The quarter of an hour that all of them keep is there at the start, so that what memory
grows by is not its filling.

    python -m benchmarks.control_load --minutes 30
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks import report
from tests.support.browser import WebServer
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
USUAL = 200
"""Clusters; a run with others has a section of its own."""
READY_S = 600.0
LOOK_EVERY_S = 5.0
"""To look at everything costs a tenth of a second of a core, which the measured ones lack."""
ANSWER_SHARE = 0.5
"""Goal for the age of the oldest report without an answer, p95, in periods."""
PIXEL_S = 2.0
"""Goal for the time from a report to the pixel, p95."""
ALIVE = "() => (window.weirDrawn || []).length > 0"
DRAWN = "() => (window.weirDrawn || []).splice(0)"
PARTS = 6
"""How many means of memory are told, each of an equal part of the run."""


class Usage:
    """CPU and memory of some processes, taken again and again."""

    def __init__(self, name: str, pids: list[int]) -> None:
        self.name = name
        self._pids = pids
        self._cpu_before = self._cpu_s()
        self._began = time.time()
        self._bytes: list[tuple[float, float]] = []

    def look(self) -> None:
        """Take the resident memory now."""
        pages = sum(int(_stat(pid)[21]) for pid in self._pids)
        self._bytes.append((time.time() - self._began, float(pages * PAGE)))

    def row(self) -> list[str]:
        """CPU share; memory in each part of the run, the last against the second; its slope.

        A part is long enough for what goes up and down by itself (the recorder's chunks). The
        first one, in which caches fill, does not count for the slope.
        """
        at, size = np.array(self._bytes).T
        parts = np.array_split(size, PARTS)
        later = at >= at[-1] / PARTS
        slope = float(np.polyfit(at[later], size[later], 1)[0]) * 600
        return [
            self.name,
            f"{(self._cpu_s() - self._cpu_before) / (time.time() - self._began):.0%}",
            *(f"{part.mean() / 1e6:.0f}" for part in parts),
            f"{parts[-1].mean() / parts[1].mean():.3f}",
            f"{slope / 1e6:+.1f}",
        ]

    def _cpu_s(self) -> float:
        return sum((int(f[11]) + int(f[12])) / TICK for f in map(_stat, self._pids))


class Tabs:
    """Browsers on the control room; each says when it has drawn which report."""

    def __init__(self, stack: ExitStack, web: WebServer, count: int) -> None:
        from playwright.sync_api import sync_playwright

        from tests.support.browser import launch

        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)
        self._pages = []
        for _ in range(count):
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            context.add_cookies(web.cookies())
            page = context.new_page()
            page.goto(web.url, timeout=READY_S * 1000)
            self._pages.append(page)
            _aside()
            _until(lambda page=page: _evaluated(page, ALIVE), "a tab draws")  # type: ignore[misc]
        self._drew_at = [time.monotonic()] * count
        self.silent_s = 0.0  # the longest that a tab drew nothing
        self.take()  # what was drawn while the others were still opening does not count
        self._drew_at, self.silent_s = [time.monotonic()] * count, 0.0

    def take(self) -> list[float]:
        """Seconds from each report to its being drawn, of all since the last time."""
        found = []
        for i, page in enumerate(self._pages):
            marks, now = _evaluated(page, DRAWN) or (), time.monotonic()
            for mark in marks:
                found.append(mark["drawn_at_ms"] / 1000 - mark["at"])
            if marks:
                self._drew_at[i] = now
            self.silent_s = max(self.silent_s, now - self._drew_at[i])
        return found


class EngineWatch:
    """What the engine tells of its looks, and how long periods wait for its answers."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self.looks_s: list[float] = []
        self.waits_s: list[float] = []

    def look(self) -> None:
        """Take the last look's duration, and the age of the oldest report without an answer."""
        for part in self._store.parts():
            if part.kind == "engine" and part.took_s:
                self.looks_s.append(part.took_s)
        answered = {name: view.sample_at for name, view in self._store.scale_outlooks().items()}
        reports = {s.cluster.name: s.at for s in self._store.latest()}
        now = time.time()
        open_ = [at for name, at in reports.items() if answered.get(name, 0.0) < at - 1e-3]
        self.waits_s.append(max((now - at for at in open_), default=0.0))


def child(stack: ExitStack, *argv: str) -> int:
    """Start a process of ours that ends with the benchmark; its id."""
    process = subprocess.Popen([sys.executable, *argv], stderr=subprocess.DEVNULL)

    def end() -> None:
        process.terminate()
        process.wait(timeout=60)

    stack.callback(end)
    return process.pid


class Others:
    """What all that is not ours takes of the machine meanwhile: times mean little where it is much."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._all_before = self._all_s()
        self._ours: dict[int, tuple[float, float]] = {}  # process -> CPU at first and last seen
        self.look()

    def look(self) -> None:
        """Note what each process of ours has had so far."""
        me = psutil.Process()
        for process in (me, *me.children(recursive=True)):
            with suppress(psutil.Error):
                times = process.cpu_times()
                now = times.user + times.system
                self._ours[process.pid] = (self._ours.get(process.pid, (now, now))[0], now)

    def words(self) -> str:
        """Both, in cores."""
        took_s = time.monotonic() - self._began
        ours = sum(last - first for first, last in self._ours.values()) / took_s
        others = (self._all_s() - self._all_before) / took_s - ours
        return (
            f" Everything of this run together took {ours:.2f} of the {os.cpu_count()} cores, what "
            f"others ran on the machine meanwhile {max(0.0, others):.2f}."
        )

    @staticmethod
    def _all_s() -> float:
        found = psutil.cpu_times()
        return float(found.user + found.nice + found.system + found.irq + found.softirq)


def measure(options: argparse.Namespace) -> tuple[list[list[str]], list[list[str]], str]:
    """Run it and look at it now and then: rows of what it took, of what it cost, and who else
    used the machine."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = RedisServer(folder).start()
        stack.callback(server.stop)
        store = RedisStore.at(server.url)
        child(
            stack, "-m", "tests.support.feeder", "--redis", server.url, "--no-engine",
            "--clusters", str(options.clusters), "--operators", str(options.operators),
            "--period", str(options.period), "--minutes", str(options.history),
        )  # fmt: skip
        _until(lambda: len(store.workloads()) > 0, "the generator has written the past")
        engine = child(stack, "-m", "weir", "engine", "--redis", server.url)
        runs = str(folder / "runs")
        recorder = child(stack, "-m", "weir", "record", "--redis", server.url, "--runs", runs)
        _until(lambda: len(store.scale_outlooks()) >= options.clusters, "a look at all clusters")
        web = WebServer(server.url).start(options.workers)
        stack.callback(web.stop)
        tabs = Tabs(stack, web, options.browsers) if options.browsers else None
        usages = [
            Usage("engine", [engine]),
            Usage("web", web.workers()),
            Usage("recorder", [recorder]),
        ]
        seen, delays, others = EngineWatch(store), list[float](), Others()
        until = time.time() + options.minutes * 60
        while time.time() < until:
            began = time.monotonic()
            seen.look()
            others.look()
            for usage in usages:
                usage.look()
            if tabs:
                delays += tabs.take()
            left = f"{(until - time.time()) / 60:.1f} min left"
            print(f"\r{left}; {_row('report to pixel', delays, PIXEL_S)}", end="", file=sys.stderr)
            time.sleep(max(0.1, LOOK_EVERY_S - (time.monotonic() - began)))
        period_s = options.period
        rows = [
            _row("a look of the engine at all that is due", seen.looks_s, period_s),
            _row("oldest report without an answer", seen.waits_s, ANSWER_SHARE * period_s),
        ]
        if tabs:
            rows.append(_row(f"report to pixel ({len(delays):,} drawn)", delays, PIXEL_S))
        quiet = f" No tab drew nothing for longer than {tabs.silent_s:.0f} s." if tabs else ""
        return rows, [usage.row() for usage in usages], quiet + others.words()


def _aside() -> None:
    """Give the scheduler's word that Chromium comes second; nice is something it sets itself."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, OSError):
            if "chrom" in process.name():
                Path(f"/proc/{process.pid}/autogroup").write_text("10")


def _evaluated(page: Any, script: str) -> Any:
    """What a script says in a page; None if the page was just reloaded."""
    from playwright.sync_api import Error

    try:
        return page.evaluate(script)
    except Error as error:
        if "navigation" not in str(error):
            raise
        return None


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within {READY_S:.0f} s: {what}")
        time.sleep(1.0)


def _row(name: str, values: list[float], goal_s: float) -> list[str]:
    if len(values) < 2:
        return [name, *["-"] * 6]
    p95 = statistics.quantiles(values, n=20)[-1]
    figures = (statistics.fmean(values), statistics.median(values), p95, max(values), goal_s)
    return [name, *(f"{v:.2f} s" for v in figures), f"{p95 / goal_s:.2f}"]


def _told(options: argparse.Namespace) -> str:
    """What was measured, in words."""
    said = (
        f"{options.clusters:,} clusters x {options.operators} operators that report each "
        f"{options.period:g} s (one period), {options.minutes:g} minutes on {os.cpu_count()} "
        f"cores, web workers: {options.workers}. Every scaler is asked about every cluster."
    )
    if not options.browsers:
        return said
    return said + (
        f" {options.browsers} tabs on the control room, each in a context of its own of one "
        "Chromium, which shares the cores. Of a chart that is off the screen the points are "
        "taken and drawn when it comes near. Above 24 clusters a page has a tile of each and "
        "the charts of 8; a report counts as drawn with its tile."
    )


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=USUAL)
    parser.add_argument("--operators", type=int, default=10)
    parser.add_argument("--period", type=float, default=10.0, help="of the reports, in seconds")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--browsers", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1, help="of the web server")
    parser.add_argument("--history", type=float, default=15.0, help="minutes there at the start")
    parser.add_argument("--dry", action="store_true", help="print, do not write the section")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started ends too
    took, cost, others = measure(options)
    text = "\n\n".join([
        _told(options) + others,
        report.table(
            ["figure", "mean", "median", "p95", "longest", "goal for p95", "p95 / goal"], took
        ),
        report.table(
            ["process", "CPU of a core",
             *(f"MB to min {(i + 1) * options.minutes / PARTS:.3g}" for i in range(PARTS)),
             "last / second", "MB per 10 min, after the first"],
            cost,
        ),
    ])  # fmt: skip
    if options.dry:
        print(text)
    else:
        command = f"python -m benchmarks.control_load {' '.join(sys.argv[1:])}".strip()
        name = "control load" if options.browsers else "decision cycle"
        if options.clusters != USUAL:
            name += f", {options.clusters:,} clusters"
        report.write(name, command, text)


if __name__ == "__main__":
    main()
