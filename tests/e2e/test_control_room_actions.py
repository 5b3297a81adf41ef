"""The buttons write what they say, and show what became of it. The test plays the agent."""

import time

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from tests.support import people
from tests.support.waiting import wait_until
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import (
    CommandResult,
    CommandStatus,
    RestartOperator,
    StopOperator,
)

WORLD = "two clusters"


def open_command(pages_store, cluster):
    wait_until(lambda: pages_store.open_commands(cluster), 10, f"a command for {cluster}")
    return pages_store.open_commands(cluster)[-1]


def report(pages_store, command, status, **more):
    pages_store.report(CommandResult(id=command.id, status=status, at=time.time(), **more))


@pytest.fixture(autouse=True)
def no_open_commands(pages_store):
    yield
    for cluster in ("wide", "narrow"):
        for command in pages_store.open_commands(cluster):
            report(pages_store, command, CommandStatus.EXPIRED)


def test_scale_is_confirmed_and_handed_to_the_engine(open_tab, pages_store):
    page = open_tab("/").page
    page.get_by_role("button", name="Scale wide", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("nothing would change")
    dialog.get_by_label("Executors").fill("5")
    expect(dialog).to_contain_text("asks Spark for 2 executors more: 3 now, 5 then")
    before = len(pages_store.recommendations())
    dialog.get_by_role("button", name="Scale cluster").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#toast")).to_contain_text("The engine is told: wide, scale to 5 executors")
    made = pages_store.recommendations()[0]
    assert len(pages_store.recommendations()) == before + 1
    assert (made.status, made.source) == (Status.APPROVED, "by hand")
    assert (made.decision.cluster, made.decision.executors) == ("wide", 5)
    assert made.id in {e.subject for e in pages_store.audit(limit=5)}
    people.cancel(pages_store, made.id, by="test", now=time.time())


def test_cancel_sends_nothing(open_tab, pages_store):
    page = open_tab("/").page
    page.get_by_role("button", name="Stop top_n").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("ends its present batch, commits it and stays stopped")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert pages_store.open_commands("narrow") == []


def test_operator_buttons_and_a_failure(open_tab, pages_store):
    page = open_tab("/operator/top_n").page
    expect(page.get_by_role("button", name="Start top_n", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Restart top_n").click()
    page.get_by_role("dialog").get_by_role("button", name="Restart operator").click()
    command = open_command(pages_store, "narrow")
    assert command.action == RestartOperator(operator="top_n")
    assert pages_store.audit(limit=1)[0].action == "operator.restart"
    line = page.locator(f'[data-command="{command.id}"]')
    expect(line).to_contain_text("pending")
    assert pages_store.claim(command.id, "agent", time.time())
    report(pages_store, command, CommandStatus.RUNNING, progress=0.5, message="stopping it")
    expect(line).to_contain_text("stopping it")
    expect(line.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
    report(pages_store, command, CommandStatus.FAILED, message="The checkpoint cannot be reached.")
    expect(line).to_contain_text("failed")
    expect(line).to_contain_text("The checkpoint cannot be reached.")
    page.get_by_role("button", name="Stop top_n").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop operator").click()
    assert open_command(pages_store, "narrow").action == StopOperator(operator="top_n")


def test_workload_rate_and_pause(open_tab, pages_store):
    tab = open_tab("/")
    page = tab.page
    before = pages_store.workloads()[0].rows_per_s
    try:
        field = page.get_by_role("textbox", name="Rate of tweets in rows/s")
        field.fill("1500")
        page.get_by_role("button", name="Set rate").click()
        expect(page.locator("#toast")).to_contain_text("tweets now sends 1,500 rows/s")
        assert pages_store.workloads()[0].rows_per_s == 1500
        expect(page.locator(".workload")).to_contain_text("asked for 1,500 rows/s")
        load = page.locator('[data-live="cluster/narrow/load"]')
        expect(load).to_have_attribute("data-state", "bad")
        page.get_by_role("button", name="Pause tweets").click()
        expect(page.locator(".workload")).to_contain_text("paused")
        assert pages_store.workloads()[0].paused
        page.get_by_role("button", name="Resume tweets").click()
        wait_until(lambda: not pages_store.workloads()[0].paused, 5, "resumed")
    finally:
        pages_store.set_workload(
            replace(pages_store.workloads()[0], rows_per_s=before, paused=False)
        )


def test_profile_and_skew_of_a_workload(open_tab, pages_store):
    tab = open_tab("/")
    page = tab.page
    # Until all workers know what the test before did, the page may be drawn anew, and a list
    # that is open closes with it.
    tab.wait_drawn(4)
    before = pages_store.workloads()[0]
    try:
        page.get_by_text("Profile and skew").click()
        page.get_by_role("textbox", name="Profile").click()
        page.get_by_role("option", name="Step").click()
        page.get_by_label("To", exact=True).fill("600")
        page.get_by_label("Over", exact=True).fill("30")
        page.get_by_label("Skew", exact=True).fill("1.2")
        page.get_by_role("button", name="Set profile").click()
        expect(page.locator(".workload")).to_contain_text("then a step to 600 rows/s after 30 s")
        expect(page.locator(".workload")).to_contain_text("skew of the keys 1.2")
        assert pages_store.audit(limit=1)[0].action == "workload.changed"
    finally:
        pages_store.set_workload(before)


def test_a_menu_that_is_open_outlives_a_change_of_the_page(open_tab, pages_store):
    page, other = open_tab("/").page, open_tab("/").page
    before = pages_store.workloads()[0]
    resume = "Resume " + before.name
    profile = page.get_by_role("textbox", name="Profile")
    try:
        page.get_by_text("Profile and skew").click()
        profile.click()
        step = page.get_by_role("option", name="Step")
        expect(step).to_be_visible()
        pages_store.set_workload(replace(before, paused=True))  # has the page drawn again
        expect(other.get_by_role("button", name=resume)).to_be_visible()
        wait_until(lambda: page.evaluate("weir.redrawWaits"), 20, "this page was told as well")
        step.click()
        expect(page.get_by_role("button", name=resume)).to_be_visible()
        expect(profile).to_be_visible()
        expect(profile).to_have_value("Step")
    finally:
        pages_store.set_workload(before)


def test_a_rate_set_elsewhere_is_followed_unless_one_is_being_typed(open_tab, pages_store):
    page = open_tab("/").page
    field = page.get_by_role("textbox", name="Rate of tweets in rows/s")
    before = pages_store.workloads()[0]
    try:
        pages_store.set_workload(replace(before, rows_per_s=730.0))
        expect(field).to_have_value("730 rows/s")
        field.fill("55")
        pages_store.set_workload(replace(before, rows_per_s=640.0))
        expect(page.locator(".workload")).to_contain_text("asked for 640 rows/s")
        expect(field).to_have_value("55 rows/s")
    finally:
        pages_store.set_workload(before)
