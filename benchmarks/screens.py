"""Pictures of every page at two widths and in two themes, to compare by eye before and after.

    python -m benchmarks.screens FOLDER [--only balance]

With the demo's two clusters all pages are taken, with 25 and 200 those that show clusters.

Needs Chromium, but no Spark: clusters that exist only as figures report to a real Redis, and a
real engine looks at them. One cluster has more to do than it can, so that there is advice.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.browser import WebServer, launch
from tests.support.engine import RealEngine
from tests.support.feeder import Feeder
from tests.support.models import demo, many
from tests.support.proposals import propose
from tests.support.recorded_run import T0, recorded
from tests.support.scalers import learned, remembered
from tests.support.waiting import wait_until
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

WIDTHS = (1440, 390)
THEMES = ("dark", "light")
COUNTS = (25, 200)  # clusters, beside the demo's two
PATIENT_MS = 120_000
SETTLE_S = 1.5  # charts, plots and fonts
AWAITED = {"what-if": ".conclusion"}  # pages that work out what they show
Take = Callable[[Page, str], None]
Scene = Callable[[Path], AbstractContextManager[tuple[WebServer, dict[str, str]]]]


@contextmanager
def small(folder: Path) -> Iterator[tuple[WebServer, dict[str, str]]]:
    """The demo's two clusters with an engine, a past and a recommendation: most pages."""
    with ExitStack() as stack:
        redis = RedisServer(folder / "redis-small").start()
        stack.callback(redis.stop)
        runs = folder / "runs"
        first, second = recorded(runs), recorded(runs, start=T0 + 7200, scale_at=900)
        store = RedisStore.at(redis.url)
        models = demo()
        models[1].operators[0].cost_s_per_row *= 1.4
        feeder = Feeder(redis.url, models, period_s=1.0, wave=0.03, obeys=True)
        feeder.history(10)
        store.save_memories("narrow", remembered(learned(70, ends_at=time.time())))
        feeder.start()
        stack.callback(feeder.stop)
        engine = RealEngine(redis.url).start()
        stack.callback(engine.stop)
        wait_until(lambda: store.outlook() and store.scale_outlooks(), 90, "the engine has looked")
        advice = propose(store, "wide", ttl_s=3600.0)  # which the engine takes back
        asked = propose(store, "wide", 4, ttl_s=3600.0, by="ada")
        web = WebServer(redis.url, runs_dir=runs).start(workers=1)
        stack.callback(web.stop)
        yield (
            web,
            {
                "control-room": "/",
                "cluster": "/cluster/narrow",
                "operator": "/operator/topic_count",
                "balance": "/balance",
                "trends": "/trends/load/15m",
                "scale-choice": "/scale",
                "scale": "/scale/narrow",
                "recommendation": f"/recommendation/{asked.id}",
                "recommendation-ended": f"/recommendation/{advice.id}",
                "settings": "/settings",
                "settings-cluster": "/settings/narrow",
                "audit": "/audit",
                "lab": "/lab",
                "users": "/users",
                "history": "/history",
                "compare": f"/history/compare?a={first}&b={second}",
                "what-if": f"/history/{first}/what-if",
                "tune": f"/history/{first}/tune",
                "replay": f"/replay/{first}",
                "replay-cluster": f"/replay/{first}/cluster/wide",
                "replay-audit": f"/replay/{first}/audit",
                "replay-settings": f"/replay/{first}/settings",
                "unknown": "/cluster/nobody",
                "sign-in": "/sign-in",
                "password": "/password",
                "api": "/api/v1",
            },
        )


@contextmanager
def many_clusters(folder: Path, count: int) -> Iterator[tuple[WebServer, dict[str, str]]]:
    """The live pages with that many clusters of two operators, and an engine."""
    with ExitStack() as stack:
        redis = RedisServer(folder / f"redis-{count}").start()
        stack.callback(redis.stop)
        store = RedisStore.at(redis.url)
        feeder = Feeder(redis.url, many(count, 2), period_s=5.0, obeys=True)
        feeder.history(3)
        feeder.start()
        stack.callback(feeder.stop)
        engine = RealEngine(redis.url).start()
        stack.callback(engine.stop)
        wait_until(store.scale_outlooks, 240, "the engine has looked")
        web = WebServer(redis.url, runs_dir=folder / "runs").start(workers=1)
        stack.callback(web.stop)
        pages = {
            "control-room": "/",
            "cluster": "/cluster/cluster-01",
            "operator": "/operator/op-01-01",
            "balance": "/balance",
            "trends": "/trends/load/15m",
            "scale-choice": "/scale",
            "scale": "/scale/cluster-01",
            "settings": "/settings",
            "audit": "/audit",
            "lab": "/lab",
        }
        yield web, {f"{name}-{count}": path for name, path in pages.items()}


def visit(browser: Browser, web: WebServer, pages: dict[str, str], take: Take) -> None:
    """Open every page at every width and in every theme."""
    for width in WIDTHS:
        for theme in THEMES:
            context = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme=theme,  # type: ignore[arg-type]
            )
            for name, path in pages.items():
                if name == "sign-in":  # who is signed in is sent on
                    context.clear_cookies()
                else:
                    context.add_cookies(web.cookies())
                page = context.new_page()
                page.set_default_timeout(PATIENT_MS)
                page.goto(web.url + path)
                expect(page.locator("h1").first).to_be_visible(timeout=PATIENT_MS)
                if name in AWAITED:
                    expect(page.locator(AWAITED[name])).to_be_visible(timeout=PATIENT_MS)
                walk(page)
                page.wait_for_timeout(1000 * SETTLE_S)
                take(page, f"{name}-{width}-{theme}")
                page.close()
            context.close()


def walk(page: Page) -> None:
    """Down to the end and back: what is far below is drawn only once it comes near."""
    page.add_style_tag(content="* { content-visibility: visible !important }")
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    for at in range(0, height, 800):
        page.evaluate("at => window.scrollTo(0, at)", at)
        page.wait_for_timeout(150)
    page.evaluate("window.scrollTo(0, 0)")


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="gets one PNG per page, width and theme")
    parser.add_argument("--only", default="", help="pages whose name has these letters")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str) -> None:
        page.screenshot(path=given.folder / f"{name}.png", full_page=True)

    with tempfile.TemporaryDirectory(prefix="weir-screens-") as made, sync_playwright() as driver:
        browser = launch(driver)
        large = [partial(many_clusters, count=count) for count in COUNTS]
        scenes: list[Scene] = [small, *large]
        for scene in scenes:
            with scene(Path(made)) as (web, pages):
                wanted = {name: path for name, path in pages.items() if given.only in name}
                visit(browser, web, wanted, take)
        browser.close()
    print(given.folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
