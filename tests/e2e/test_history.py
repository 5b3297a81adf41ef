"""History in a real browser: import by upload, comparison, what-if, tuning."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser import WebServer
from tests.support.feeder import Feeder
from tests.support.recorded_run import T0, recorded
from tests.unit.metrics.eventlog import eventlog_logs as logs
from weir.metrics.runs.library import list_runs
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run_id(runs: Path) -> str:
    return recorded(runs)


@pytest.fixture(scope="module")
def next_day(runs: Path) -> str:
    return recorded(runs, T0 + 86_400)


@pytest.fixture(scope="module")
def pages_web(
    pages_redis: RedisServer, pages_feeder: Feeder, runs: Path, run_id: str
) -> Iterator[WebServer]:
    """The web server, with a folder of runs of its own."""
    server = WebServer(pages_redis.url, runs_dir=runs).start()
    yield server
    server.stop()


def upload(page, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.click("#upload-choose")
    chooser.value.set_files(file)


class TestRuns:
    def test_a_log_is_imported_by_upload(self, open_tab, runs, tmp_path) -> None:
        file = tmp_path / "my-app.log"
        file.write_bytes(logs.text(logs.batch_log()))
        tab = open_tab("/history")
        page = tab.page
        expect(page.locator("[data-run]").first).to_be_visible()
        before = page.locator("[data-run]").count()
        upload(page, file)
        expect(page.locator("#upload-text")).to_contain_text("Imported 1 run")
        expect(page.locator("[data-run]")).to_have_count(before + 1)
        assert [r for r in list_runs(runs) if r.kind == "eventlog"]
        assert tab.errors == []

    def test_a_bad_file_is_refused_in_a_sentence(self, open_tab, runs, tmp_path) -> None:
        file = tmp_path / "holiday.jpg"
        file.write_bytes(b"\xff\xd8\xff" + bytes(range(256)) * 300)
        page = open_tab("/history").page
        before = sorted(r.id for r in list_runs(runs))
        upload(page, file)
        expect(page.locator("#upload-text")).to_contain_text("is not a Spark event log")
        expect(page.locator("#upload-state")).to_have_attribute("data-state", "bad")
        assert sorted(r.id for r in list_runs(runs)) == before
        assert not list(runs.glob(".importing-*"))
        assert not list((runs / ".uploads").glob("*/holiday.jpg"))

    def test_search_filter_and_sort(self, open_tab, run_id, next_day) -> None:
        page = open_tab("/history").page
        rows = page.locator("[data-run]")
        page.get_by_role("textbox", name="Search runs").fill("2027-01-16")
        expect(rows).to_have_count(1)
        page.get_by_role("textbox", name="Search runs").fill("nothing like this")
        expect(page.locator("#runs-table")).to_contain_text("No run fits")
        page.get_by_role("textbox", name="Search runs").fill("")
        page.get_by_text("Recorded", exact=True).click()
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("live-20270116")
        page.get_by_role("button", name="Start").click()
        expect(rows.first).to_contain_text("live-20270115")

    def test_two_runs_are_compared(self, open_tab, run_id, next_day) -> None:
        a, b = run_id, next_day
        tab = open_tab("/history")
        page = tab.page
        for run in (a, b):
            page.get_by_role("checkbox", name=f"Compare {run}").check()
        page.get_by_role("link", name="Compare two runs").click()
        expect(page.locator("h1")).to_have_text("Two runs side by side")
        expect(page.locator(".compared")).to_contain_text("Executor-hours")
        expect(page.locator("[data-plot] .main-svg").first).to_be_visible()
        assert tab.errors == []

    def test_a_run_is_deleted_only_after_asking(self, open_tab, runs) -> None:
        gone = recorded(runs, T0 + 2 * 86_400)
        page = open_tab("/history").page
        row = page.locator(f'[data-run="{gone}"]')
        row.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        row.get_by_role("button", name="Delete").click()
        expect(page.get_by_role("dialog")).to_contain_text(gone)
        page.get_by_role("button", name="Delete run").click()
        expect(row).to_have_count(0)
        assert not (runs / gone).exists()


class TestWhatIf:
    def test_policies_are_compared_after_trust_is_shown(self, open_tab, run_id) -> None:
        tab = open_tab(f"/history/{run_id}/what-if")
        page = tab.page
        trust = page.locator('[aria-label="Trust"]')
        expect(trust).to_contain_text("median error")
        expect(trust).to_contain_text(
            "DRS queueing model in mode approve, then Fixed number in mode auto"
        )
        expect(trust).to_contain_text("Deciding anew, the same policy is off by")
        expect(page.locator('[data-policy="As it was set, deciding anew"]')).to_be_visible()
        expect(page.locator("[data-policy]")).to_have_count(3)
        page.locator("#content summary").click()
        page.click("#what-if-scaler")
        page.get_by_role("option", name="Thresholds").click()
        expect(page.locator("#what-if-form input").first).to_be_visible()
        page.click("#what-if-go")
        own = page.locator('[data-policy="Thresholds, own settings"]')
        expect(own).to_be_visible()
        expect(page.locator("[data-policy]")).to_have_count(6)
        expect(own).to_contain_text("simulated")
        expect(page.locator('[data-plot="what-if/latency_s"] .main-svg').first).to_be_visible()
        names = page.evaluate(
            "document.querySelector('[data-plot=\"what-if/executors\"]').data.map(t => t.name)"
        )
        assert "measured" in names
        assert sum("simulated" in (n or "") for n in names) == 5
        expect(page).to_have_url(re.compile("policies=rate_based%2Cthresholds&scaler=thresholds"))
        expect(page).to_have_title(f"What if {run_id} - Weir")
        page.reload()
        expect(own).to_be_visible()
        expect(page.locator("#what-if-form input").first).to_be_visible()
        assert tab.errors == []

    def test_settings_are_searched_and_taken_over(self, open_tab, run_id, pages_store) -> None:
        page = open_tab(f"/history/{run_id}/tune").page
        page.fill("#tune-trials", "6")
        page.click("#tune-go")
        expect(page.locator('[data-tuning="done"]')).to_be_visible()
        expect(page.locator(".verdict")).to_contain_text("n the unseen part")
        expect(page.locator('[data-plot="tune/judged"] .main-svg').first).to_be_visible()
        page.get_by_role("button", name="Use these settings").first.click()
        expect(page.locator("#toast")).to_contain_text("uses these settings from now on")
        kept = {g: v for g, v in pages_store.all_settings().items() if g.endswith(":rate_based")}
        assert len(kept) == 1
        entry = pages_store.audit(5)[0]
        assert (entry.action, entry.by) == ("settings.changed", "admin")
        assert f"tuned on {run_id}" in entry.why


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_and_are_quiet(open_tab, pages_web, run_id, width, theme) -> None:
    tab = open_tab("/history", width=width, theme=theme)
    replays = [f"/replay/{run_id}{path}" for path in ("", "/audit", "/settings/wide")]
    for path in ("/history", *replays, f"/history/{run_id}/tune"):
        tab.page.goto(pages_web.url + path)
        expect(tab.page.locator("#page .stack").first).to_be_visible()
        expect(tab.page.locator(".skeleton")).to_have_count(0)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert tab.errors == []
    assert [u for u in tab.requests if not u.startswith((pages_web.url, "data:", "blob:"))] == []
