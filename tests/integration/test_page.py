"""The page on real Spark: raise the rate there and the small cluster fills up."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import Tab
from tests.support.system import System
from tests.support.waiting import wait_until
from tests.support.witnesses import Witness

PLACE = 4


@pytest.fixture(scope="module")
def tab(system: System, browser: Browser) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.add_cookies(system.cookies())
    tab = Tab(context.new_page())
    tab.page.goto(system.url)
    tab.wait_drawn(2, 30)
    yield tab
    assert not [e for e in tab.errors if "WebSocket" not in e]
    assert all(url.startswith(system.url) for url in tab.requests)
    context.close()


@pytest.fixture
def page(tab: Tab, witness: Witness, tmp_path_factory: pytest.TempPathFactory) -> Page:
    witness("the tab", lambda: tab.described(tmp_path_factory.getbasetemp() / "screenshots"))
    return tab.page


def last(page: Page, chart: str) -> float:
    return page.evaluate(f"weir.models['{chart}'].y[0].at(-1)")


def test_raising_the_rate_fills_the_bottleneck(system: System, page: Page) -> None:
    system.rate(200)
    wait_until(lambda: last(page, "narrow/load") < 90.0, 90, "narrow keeps up")
    wait_until(lambda: last(page, "narrow/queue") < 4000, 120, "its queue is short")
    load, queue = last(page, "narrow/load"), last(page, "narrow/queue")
    page.get_by_role("textbox", name="Rate of tweets in rows/s").fill("1200")
    page.get_by_role("button", name="Set rate").click()
    expect(page.locator("#toast")).to_contain_text("1,200 rows/s")
    wait_until(lambda: last(page, "narrow/load") > max(100.0, 1.5 * load), 60, "its load rises")
    wait_until(lambda: last(page, "narrow/queue") > queue + 5000, 90, "its queue grows")
    assert last(page, "wide/load") < last(page, "narrow/load")
    page.get_by_role("button", name="Pause tweets").click()
    wait_until(lambda: system.store.workloads()[0].paused, 10, "it pauses")
    system.rate(150)


def test_page_spark_and_processes_agree_on_executors(system: System, page: Page) -> None:
    app_id = system.snapshot().cluster("narrow").app_id

    def processes() -> int:
        found = system.children("org.apache.spark.executor.CoarseGrainedExecutorBackend")
        return sum(app_id in p.cmdline() for p in found)

    for wanted in (2, 1):
        done = system.command("scale", "narrow", str(wanted))
        assert done.returncode == 0, done.stdout + done.stderr
        wait_until(lambda n=wanted: last(page, "narrow/executors") == n, 30, "the page's count")  # type: ignore[misc]
        wait_until(lambda n=wanted: processes() == n, 30, "as many processes")  # type: ignore[misc]
        active = [e for e in system.spark_executors("narrow") if e["isActive"]]
        assert len(active) == wanted


def test_a_host_that_dies_is_named_and_comes_back_without_a_reload(
    system: System, page: Page
) -> None:
    page.evaluate("window.notReloaded = true")
    others = {p.pid for p in system.children("wide")}
    before = system.operator("topic_count").batch_id
    chip = page.locator('[data-part="host:narrow"]')
    expect(chip).to_have_attribute("data-state", "up")
    host = next(p for p in system.children("narrow") if "-m weir" in " ".join(p.cmdline()))
    host.kill()
    expect(chip).not_to_have_attribute("data-state", "up")
    expect(chip).to_have_attribute("data-state", "up")
    wait_until(
        lambda: (o := system.operator("topic_count")).status == "running" and o.batch_id > before,
        120,
        "its operators go on where they were",
    )
    assert {p.pid for p in system.children("wide")} >= others
    assert page.evaluate("window.notReloaded")
