"""From a batch's commit in the driver to its point in a real browser's page.

Everything runs as `make run` starts it: Spark commits batches, the agent samples each
2 s, Redis, web server, browser. The page notes when the points of a sample are in its
DOM; `drawn - commit` is measured per batch, and the period is subtracted, because a
batch waits up to one period for its sample whatever comes after. How long it waits is chance: where
in a period batches end stays much the same while a driver runs. So the way of the sample to the page
is measured too, which two versions can be compared by.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks import report
from tests.support.system import System
from tests.support.waiting import wait_until

PERIOD_S = 2.0
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def measure(
    browser: Browser, url: str, cookies: list[Any], clients: int, seconds: float
) -> tuple[list[float], list[float]]:
    """Seconds from commit to pixel, one per batch, cluster and client; and from report to pixel,
    one per report and client."""
    contexts = [
        browser.new_context(viewport={"width": 1280, "height": 720}) for _ in range(clients)
    ]
    for context in contexts:
        context.add_cookies(cookies)
    pages = [context.new_page() for context in contexts]
    for page in pages:
        page.goto(url)
    for page in pages:
        live = "(window.weirDrawn ? weirDrawn.length : 0) > 3"
        wait_until(partial(page.evaluate, live), 120, "a page is live")
        page.evaluate("weirDrawn.length = 0")
    time.sleep(seconds)
    found, reported = [], []
    for page in pages:
        seen: dict[str, float] = {}
        for mark in page.evaluate("weirDrawn"):
            reported.append(mark["drawn_at_ms"] / 1000 - mark["at"])
            committed = mark["batch_at"]
            if committed and committed > seen.get(mark["cluster"], 0.0):
                if mark["cluster"] in seen:  # the first one may be older than the page
                    found.append(mark["drawn_at_ms"] / 1000 - committed)
                seen[mark["cluster"]] = committed
    for context in contexts:
        context.close()
    return found, reported


def main() -> None:
    """Measure push and polling for 1 and 10 clients and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=float, default=60.0)
    options = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    system = System(folder)
    rows = []
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=FLAGS
            )
            for clients in (1, 10):
                for name, path in (("push", "/"), ("polling each 1 s", "/?feed=poll")):
                    values, reported = measure(
                        browser, system.url + path, system.cookies(), clients, options.seconds
                    )
                    cut = statistics.quantiles(values, n=20)
                    row = (
                        clients, name, len(values),
                        f"{statistics.median(values):.2f} s", f"{cut[18]:.2f} s",
                        f"{cut[18] - PERIOD_S:.2f} s", f"{statistics.median(reported):.3f} s",
                        f"{statistics.quantiles(reported, n=20)[18]:.3f} s",
                    )  # fmt: skip
                    print(row, flush=True)
                    rows.append(row)
            browser.close()
    finally:
        system.stop()
        shutil.rmtree(folder, ignore_errors=True)
    text = report.table(
        (
            "clients", "feed", "batches seen", "p50", "p95", "p95 beyond the period",
            "report to pixel, p50", "p95",
        ),
        rows,
    )  # fmt: skip
    text += (
        f"\n\nCommit in the driver to the page's DOM, period {PERIOD_S:g} s, two clusters live on "
        "the same two cores as the browser and its tabs. The goal is 1.5 s beyond the period at "
        "p95 with 10 clients."
    )
    report.write(
        "event to pixel",
        f"python -m benchmarks.event_to_pixel --seconds {options.seconds:g}",
        text,
    )
    print(text)


if __name__ == "__main__":
    main()
