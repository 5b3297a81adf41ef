"""Modes, pause-all, the marks on the series, and why nothing is proposed, in a real browser."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support import people
from tests.support.decisions import clean_up, confirm
from tests.support.proposals import advance, propose
from tests.support.waiting import wait_until
from weir.controllers.engine.recommendation import Status
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.sample import Mode
from weir.metrics.store.users import Role

WORLD = "two clusters"


@pytest.fixture(autouse=True)
def clean(pages_store, pages_feeder):
    wait_until(lambda: len(pages_store.latest()) == 2, 20, "both clusters report")
    yield
    clean_up(pages_store)


def test_pause_all_and_resume_are_clear_on_every_page(open_tab, pages_store):
    one, two = open_tab("/").page, open_tab("/audit").page
    one.get_by_role("button", name="Pause all").click()
    dialog = one.get_by_role("dialog")
    expect(dialog).to_contain_text("survives restarts")
    dialog.get_by_label("Comment").fill("Fire drill")
    confirm(dialog, "Pause all")
    wait_until(lambda: engine_settings(pages_store).paused, 20, "paused")
    for page in (one, two):
        expect(page.locator(".paused")).to_contain_text("Paused by admin")
        expect(page.locator(".paused")).to_contain_text("Fire drill")
    two.get_by_role("button", name="Resume automatic actions").click()
    confirm(two.get_by_role("dialog"), "Resume")
    wait_until(lambda: not engine_settings(pages_store).paused, 20, "resumed")
    expect(one.get_by_role("button", name="Pause all")).to_be_visible()
    actions = [e.action for e in pages_store.audit(10)]
    assert actions[:2] == ["engine.resumed", "engine.paused"]


def test_mode_switch_shows_the_record(open_tab, pages_store):
    page = open_tab("/").page
    page.get_by_role("button", name="Change the mode of narrow").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Track record:")
    dialog.get_by_label("Auto within criteria").click()
    expect(dialog.locator(".mode-choice p[role=status]")).to_contain_text("criteria")
    confirm(dialog, "Set mode")
    wait_until(
        lambda: pages_store.modes().get("narrow") is Mode.AUTO_WITHIN_CRITERIA,
        20,
        "the mode is set",
    )
    button = page.get_by_role("button", name="Change the mode of narrow")
    expect(button).to_contain_text("Auto within criteria")
    page.goto(page.url + "cluster/narrow")
    expect(page.get_by_role("button", name="Change the mode of narrow")).to_contain_text(
        "Auto within criteria"
    )
    approver = open_tab("/", role=Role.APPROVER).page
    expect(approver.get_by_role("button", name="Change the mode of narrow")).to_be_disabled()


def test_marks_say_what_was_done_and_lead_there(open_tab, pages_store):
    found = advance(pages_store, propose(pages_store), Status.APPROVED, Status.APPLYING, by="ada")
    found = advance(pages_store, found, Status.APPLIED, applied_at=time.time() - 3)
    tab = open_tab("/")
    page = tab.page
    chart = page.locator('[data-chart="wide/queue"]')
    wait_until(
        lambda: page.evaluate(
            "() => [...document.querySelectorAll('[data-chart=\"wide/queue\"] .events title')]"
            f".some((t) => t.textContent.includes('{'Scale wide out: 3 → 5'}'))"
        ),
        20,
        "a mark on every series of the cluster",
    )
    chart.scroll_into_view_if_needed()
    place = page.evaluate(
        """() => {
          const texts = [...document.querySelectorAll('[data-chart="wide/queue"] .events text')];
          const mark = texts.find((t) => t.textContent.includes("Scale wide out: 3 → 5"));
          const box = mark.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2 + 20];
        }"""
    )
    page.mouse.move(*place)
    expect(chart.locator(".tip")).to_contain_text("Scale wide out: 3 → 5 executors")
    page.mouse.click(*place)
    expect(page).to_have_url(re.compile(r"/recommendation/\w+"))
    assert tab.errors == []


def test_when_nothing_is_proposed_the_reason_stands_there(open_tab, pages_store):
    people.set_mode(pages_store, "narrow", "observe", by="ada", now=time.time())
    page = open_tab("/").page
    expect(page.locator(".nothing")).to_contain_text("Nothing waits for a decision")
    expect(page.locator(".waits")).to_contain_text("its mode is observe")
