"""90 days of 20 clusters on the Trends page: from the click to lines in a real browser.

    python -m benchmarks.trends [--clusters 20] [--loads 5]

Every tier of a real Redis is filled as the engine would have filled it in that time. Each load is
a page of its own in a browser that has been to the control room before, as somebody's is who asks
for the last 90 days; the first also fills what the web server keeps.
"""

import argparse
import random
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace
from playwright.sync_api import Browser, sync_playwright

from benchmarks import report
from tests.support.browser import WebServer, launch
from tests.support.models import ClusterModel, many, sample_of
from weir.components.pages.trends.view import METRICS, TrendQuery, trend
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

SPANS = ("90d", "2d", "5h", "15m")
FULL_S = 2.0
DRAWN = """count => new Promise((done) => {
  const look = () =>
    document.querySelectorAll('[data-plot=trend] path.js-line').length >= count
      ? done(performance.now())
      : requestAnimationFrame(look);
  look();
})"""


def fill(store: RedisStore, models: list[ClusterModel], now: float) -> int:
    """Samples of all clusters in all tiers, up to now; how many."""
    rng, count = random.Random(7), 0
    for model in models:
        for tier in Tier:
            step = float(int(tier) or FULL_S)
            first = (now - KEPT_S[tier]) // step * step + step
            for i in range(int((now - first) // step) + 1):
                sample = sample_of(model, 300.0, first + i * step, step, rng)
                count += store.append(replace(sample, batches=()), tier)
    return count


def server_s(store: RedisStore, names: list[str], span_s: float, now: float) -> tuple[float, int]:
    """CPU seconds to make the page's data, and its points."""
    asked = TrendQuery(since=now - span_s, until=now, clusters=tuple(names), span="own")
    began = time.process_time()
    found = trend(asked, names, store.briefs, now, 5.0)
    return time.process_time() - began, found.points


def loads(browser: Browser, web: WebServer, names: list[str], span: str, count: int) -> list[float]:
    """Seconds from the click on a range to the lines, and the first load of the page before."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies(web.cookies())
    page = context.new_page()
    page.set_default_timeout(120_000)
    found = []
    for _ in range(count):
        page.goto(f"{web.url}/trends/load/1h/{','.join(names)}")
        page.evaluate(DRAWN, len(names))
        page.evaluate(
            "document.addEventListener('click', () => (window.clicked = performance.now()),"
            " {capture: true, once: true})"
        )
        page.evaluate("document.querySelector('.trend-plot').remove()")
        page.locator(f'.trend-options a[href*="/trends/load/{span}"]').click()
        drawn = page.evaluate(DRAWN, len(names))
        found.append((drawn - page.evaluate("window.clicked")) / 1000)
    context.close()
    return found


def main() -> int:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--loads", type=int, default=5)
    given = parser.parse_args()
    now = time.time()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-trends-")))
        redis = RedisServer(folder).start()
        stack.callback(redis.stop)
        store = RedisStore.at(redis.url)
        models = many(given.clusters, 3)
        names = [m.name for m in models]
        samples = fill(store, models, now)
        web = WebServer(redis.url, runs_dir=folder / "runs").start(workers=1)
        stack.callback(web.stop)
        rows = []
        with sync_playwright() as driver:
            browser = launch(driver)
            for span in SPANS:
                made_s, points = server_s(store, names, _seconds(span), time.time())
                took = loads(browser, web, names, span, given.loads)
                rows.append(
                    (span, f"{points:,}", f"{made_s:.2f}", f"{took[0]:.2f}",
                     f"{statistics.median(took):.2f}", f"{max(took):.2f}")
                )  # fmt: skip
                print(*rows[-1])
            browser.close()
    heads = ("range", "points", "data made, CPU s", "first, s", "median, s", "slowest, s")
    text = (
        f"{given.clusters} clusters of 3 operators, {samples:,} samples in four tiers. From the "
        f"click on the range to all {given.clusters} lines of '{METRICS['load'].title}' in the page "
        f"(1,440 px), {given.loads} times each; the browser has loaded Plotly before.\n\n"
        + report.table(heads, rows)
    )
    report.write("Trends over 90 days", "python -m benchmarks.trends", text)
    return 0


def _seconds(span: str) -> float:
    return {"90d": 90 * 86_400.0, "2d": 2 * 86_400.0, "5h": 5 * 3600.0, "15m": 900.0}[span]


if __name__ == "__main__":
    raise SystemExit(main())
