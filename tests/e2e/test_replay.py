"""A recorded run played again, in a real browser."""

import re
import time
from collections.abc import Callable

from playwright.sync_api import expect

from tests.support import people
from tests.support.browser import Tab
from tests.support.recorded_run import MINUTES, PERIOD_S, T0
from tests.support.waiting import wait_until
from weir.components.live.charts import cluster_charts, points
from weir.controllers.engine.audit import AuditEntry
from weir.metrics.eventlog.tables import read_samples

WORLD = "two clusters"


TICKS = """() => new Promise((over) => {
  let left = 20;
  const timer = setInterval(() => { if (!--left) { clearInterval(timer); over(); } }, 60);
})"""
"""Over when the player's own timer has fired many times."""


def shown(tab: Tab) -> int:
    return int(tab.page.evaluate("weir.past.shown"))


def opened(
    open_tab: Callable[..., Tab], recorded_run: str, path: str = "", at: float | None = None
):
    query = f"?at={round(at * 1000)}" if at else ""
    tab = open_tab(f"/replay/{recorded_run}{path}{query}")
    expect(tab.page.locator("#replay-line svg")).to_be_visible()
    expect(tab.page.locator("#page .stack").first).to_be_visible()
    return tab


class TestReplay:
    def test_it_is_marked_and_nothing_acts(self, open_tab, recorded_run) -> None:
        page = opened(open_tab, recorded_run).page
        bar = page.locator("#replay")
        expect(bar).to_contain_text("Replay")
        expect(bar).to_contain_text("nothing here acts")
        expect(page.locator("#page .data-age").first).to_have_text("recorded")
        for name in ("Scale wide", "Stop extractor", "Restart extractor"):
            expect(page.get_by_role("button", name=name)).to_be_disabled()
        page.get_by_role("link", name="Back to live").click()
        expect(bar).to_be_hidden()
        expect(page.locator("#page .data-age").first).to_have_text("live")
        expect(page.get_by_role("button", name="Scale wide", exact=True)).to_be_enabled()

    def test_series_on_the_page_are_the_recorded_ones(
        self, open_tab, recorded_run, shared_runs
    ) -> None:
        at = T0 + 1500.0
        page = opened(open_tab, recorded_run, at=at).page
        samples = [
            s
            for s in read_samples(shared_runs / recorded_run, at - 900, at)
            if s.cluster.name == "narrow"
        ]
        for chart in cluster_charts("narrow", 5.0):
            drawn = page.evaluate(f"(({{x, y}}) => ({{x, y}}))(weir.models['{chart.key}'])")
            assert drawn == points(chart, samples), chart.key
        assert page.evaluate("weir.models['narrow/load'].x.at(-1)") == round(at * 1000)
        queue = sum(o.queue_rows or 0 for o in samples[-1].operators)
        told = page.locator('[data-live="cluster/narrow/queue"]').inner_text()
        assert told.replace(",", "").split()[0] == str(queue)

    def test_controls_step_jump_and_play(self, open_tab, recorded_run) -> None:
        tab = opened(open_tab, recorded_run, at=T0 + 1000.0)
        page = tab.page
        assert shown(tab) == round((T0 + 1000) * 1000)
        page.keyboard.press("ArrowRight")
        wait_until(lambda: shown(tab) == round((T0 + 1002) * 1000), 10, "one period on")
        page.get_by_role("button", name="One period back").click()
        wait_until(lambda: shown(tab) == round((T0 + 1000) * 1000), 10, "one period back")
        page.get_by_role("button", name="Event before").click()
        wait_until(lambda: shown(tab) == round((T0 + 600) * 1000), 10, "the executors that came")
        expect(page.locator("#replay-event")).to_have_text("wide: 3 → 4 executors")
        page.get_by_role("button", name="Event before").click()
        wait_until(lambda: shown(tab) == round((T0 + 592) * 1000), 10, "the command")
        expect(page.locator("#page")).to_contain_text("scale to 4 executors")
        page.click('[data-speed="100"]')
        page.keyboard.press("Escape")
        page.locator("#content").focus()
        page.keyboard.press("Space")
        wait_until(lambda: shown(tab) > (T0 + 750) * 1000, 20, "it plays at 100 times the speed")
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        at = page.evaluate("weir.past.at")
        assert page.evaluate(f"({TICKS})().then(() => weir.past.at)") == at, (
            "it goes on after pause"
        )
        wait_until(lambda: abs(shown(tab) - at) < 1, 10, "where it stands is drawn")
        still = shown(tab)
        x = page.evaluate("weir.models['wide/load'].x")
        assert x == sorted(set(x)), "a report was drawn twice"
        assert x[-1] <= still < x[-1] + 2 * PERIOD_S * 1000
        assert tab.errors == []

    def test_scrubbing_draws_each_moment_and_says_how_long_it_took(
        self, open_tab, recorded_run, shared_runs
    ) -> None:
        tab = opened(open_tab, recorded_run, at=T0 + 2000.0)
        page, line = tab.page, tab.page.locator("#replay-line")
        samples = [
            s for s in read_samples(shared_runs / recorded_run) if s.cluster.name == "narrow"
        ]
        page.evaluate("weirScrubs.length = 0")
        for number, share in enumerate((0.8, 0.1, 0.5, 0.3), start=1):  # all points are new
            line.click(position={"x": line.bounding_box()["width"] * share, "y": 20})
            wait_until(
                lambda number=number: page.evaluate("weirScrubs.length") >= number,  # type: ignore[misc]
                10,
                f"scrub {number} is drawn",
            )
            at = shown(tab) / 1000
            assert abs(at - (T0 + PERIOD_S + share * (MINUTES * 60 - PERIOD_S))) < 15
            then = [s for s in samples if at - 900 <= s.at <= at]
            for chart in cluster_charts("narrow", 5.0):
                drawn = page.evaluate(f"(({{x, y}}) => ({{x, y}}))(weir.models['{chart.key}'])")
                assert drawn == points(chart, then), (share, chart.key)
            measured = page.evaluate("weirScrubs.at(-1)")
            assert measured["at"] == shown(tab)
            assert 0 <= measured["drawing"] <= measured["ms"]
        assert page.evaluate("weirScrubs.length") == 4
        assert tab.errors == []

    def test_links_carry_run_and_moment(self, open_tab, recorded_run) -> None:
        at = round((T0 + 1200) * 1000)
        tab = opened(open_tab, recorded_run, at=T0 + 1200.0)
        page = tab.page
        page.click(".cluster h2 >> text=narrow")
        expect(page).to_have_url(re.compile(f"/replay/{recorded_run}/cluster/narrow\\?at={at}$"))
        expect(page.locator("h1")).to_have_text("narrow")
        assert shown(tab) == at
        page.click(".operators a >> text=topic_count")
        expect(page).to_have_url(
            re.compile(f"/replay/{recorded_run}/operator/topic_count\\?at={at}$")
        )
        wait_until(lambda: page.evaluate("'topic_count/rates' in weir.models"), 10, "its charts")
        assert page.evaluate("weir.models['topic_count/rates'].x.at(-1)") == at
        page.go_back()
        expect(page.locator("h1")).to_have_text("narrow")
        assert shown(tab) == at

    def test_balance_and_advice_of_that_moment(self, open_tab, recorded_run) -> None:
        page = opened(open_tab, recorded_run, "/balance", at=T0 + 700.0).page
        expect(page.locator("h1").first).to_have_text("Balance")
        expect(page.locator("[data-planner]").first).to_be_visible()
        expect(page.locator("#page [data-planner] button").first).to_be_disabled()
        advice = page.locator("#replay-advice")
        expect(advice.locator('[data-advice="wide"]')).to_be_visible()
        expect(advice.locator('[data-advice="Balance"]')).to_be_visible()
        assert advice.locator('[data-advice="wide"] tbody tr').count() >= 8
        expect(advice).to_contain_text("scale to 4 executors")
        expect(advice.locator('.settings-then[data-recorded="True"]')).to_contain_text("DRS")

    def test_the_settings_of_the_moment_are_used_and_marked(self, open_tab, recorded_run) -> None:
        page = opened(open_tab, recorded_run, at=T0 + 2000.0).page
        marks = page.locator("#replay-line .mark-settings")
        expect(marks).to_have_count(3)
        assert "Scaling of wide: scaler drs → fixed" in marks.first.get_attribute("title")
        advice = page.locator("#replay-advice")
        then = advice.locator(".settings-then")
        expect(then).to_contain_text("mode auto, ")
        expect(then).to_contain_text("(executors 5)")
        followed = advice.locator('[data-advice="wide"] tr', has_text="(followed)")
        expect(followed).to_have_count(1)
        expect(followed).to_contain_text("4 → 5 executors")

    def test_audit_is_the_recorded_one(self, open_tab, recorded_run, pages_store) -> None:
        pages_store.append_audit(AuditEntry(at=time.time(), by="eve", action="settings.changed"))
        tab = opened(open_tab, recorded_run, "/audit", at=T0 + 1000.0)
        page, entries = tab.page, tab.page.locator("[data-entry]")
        expect(page.locator("#replay")).to_contain_text("nothing here acts")
        expect(page.locator('.replay-nav [aria-current="page"]')).to_have_text("Audit")
        expect(entries).to_have_count(1)
        expect(entries).to_contain_text("command issued")
        page.get_by_role("button", name="Event after").click()
        page.get_by_role("button", name="Event after").click()
        wait_until(lambda: shown(tab) >= (T0 + 1800) * 1000, 10, "the settings were changed")
        expect(entries).to_have_count(2)
        expect(entries.filter(has_text="eve")).to_have_count(0)
        assert page.locator("#page button").count() == 0
        assert tab.errors == []

    def test_settings_are_those_of_then_and_cannot_be_saved(
        self, open_tab, recorded_run, pages_store
    ) -> None:
        before = pages_store.settings("scale:wide")
        people.set_settings(
            pages_store, "scale:wide", {"max_executors": 9}, by="eve", now=time.time()
        )
        try:
            tab = opened(open_tab, recorded_run, "/settings/wide", at=T0 + 1000.0)
            page = tab.page
            group = page.locator('[data-group="scale:wide"]')
            scaler = group.locator('[data-key="scaler"] dd')
            expect(scaler).to_have_text("DRS queueing model")
            expect(group.locator('[data-key="max_executors"] dd')).to_have_text("0")
            page.get_by_role("button", name="Event after").click()
            page.get_by_role("button", name="Event after").click()
            expect(scaler).to_contain_text("Fixed number")
            expect(scaler).to_contain_text("last changed by ada")
            assert page.locator("#page button, #page input").count() == 0
            page.locator(".replay-nav").get_by_text("Control room").click()
            wait_until(
                lambda: page.url.endswith(f"/replay/{recorded_run}?at={shown(tab)}"),
                30,
                "the same moment",
            )
            assert tab.errors == []
        finally:
            pages_store.save_settings("scale:wide", before)

    def test_scaling_by_hand_stays_off_where_the_present_differs(
        self, open_tab, recorded_run
    ) -> None:
        """Four executors then, three now: the live page would offer to ask for four."""
        tab = opened(open_tab, recorded_run, "/scale/wide", at=T0 + 1000.0)
        page = tab.page
        expect(page.locator('#replay-advice [data-advice="wide"]')).to_be_visible()
        expect(page.get_by_role("textbox", name="Executors", exact=True)).to_have_value("4")
        expect(page.get_by_role("button", name="Scale", exact=True)).to_be_disabled()
        expect(page.locator("#scale-prediction")).to_be_empty()
        assert tab.errors == []

    def test_users_are_refused_in_a_sentence(self, open_tab, recorded_run) -> None:
        page = open_tab(f"/replay/{recorded_run}/users").page
        expect(page.locator("#page")).to_contain_text("a run does not record them")

    def test_what_is_not_there_is_said(self, open_tab) -> None:
        page = open_tab("/replay/nobody").page
        expect(page.locator("#page")).to_contain_text("There is no run nobody")
        page.goto(page.url.replace("/replay/nobody", "/history/..%2Fetc/what-if"))
        expect(page.locator("h1")).to_have_text("This cannot be shown")
