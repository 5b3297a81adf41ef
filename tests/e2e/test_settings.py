"""The settings in a real browser: change, be corrected without losing anything, find, reset."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.waiting import wait_until
from weir.controllers.engine.guard.rules import ENGINE, EngineSettings, guard_group
from weir.metrics.store.users import Role

WORLD = "two clusters"


@pytest.fixture(autouse=True)
def defaults(pages_store):
    yield
    pages_store.save_settings(ENGINE, {})
    pages_store.save_settings(guard_group("wide"), {})


def group(page, name):
    found = page.locator(f'[data-group="{name}"]')
    expect(found).to_be_visible()
    return found


def line(page, name, key):
    return group(page, name).locator(f'[data-key="{key}"]')


def test_a_change_is_kept_audited_and_said_who_made_it(open_tab, pages_store):
    page = open_tab("/settings").page
    settle = line(page, ENGINE, "settle_s")
    expect(settle).to_contain_text("wait so long before judging it")
    expect(settle).to_contain_text("default 60 s, at least 1")
    settle.get_by_role("textbox").fill("45")
    line(page, ENGINE, "four_eyes").locator("label").first.click()
    group(page, ENGINE).get_by_role("button", name="Save engine").click()
    expect(page.locator("#toast")).to_contain_text("Saved 2 changes")
    assert pages_store.settings(ENGINE) == {"settle_s": 45, "four_eyes": True}
    expect(group(page, ENGINE)).to_contain_text("last changed by admin")
    entry = pages_store.audit(1)[0]
    assert (entry.action, entry.by, entry.subject) == ("settings.changed", "admin", ENGINE)
    page.reload()
    expect(line(page, ENGINE, "settle_s").get_by_role("textbox")).to_have_value("45 s")
    expect(line(page, ENGINE, "settle_s")).to_contain_text("last changed by admin")


def test_an_error_names_the_field_and_nothing_is_lost(open_tab, pages_store):
    page = open_tab("/settings").page
    line(page, ENGINE, "settle_s").get_by_role("textbox").fill("50")
    line(page, ENGINE, "ttl_s").get_by_role("textbox").fill("2")
    group(page, ENGINE).get_by_role("button", name="Save engine").click()
    expect(line(page, ENGINE, "ttl_s")).to_contain_text("must be a number of at least 10 s")
    expect(line(page, ENGINE, "settle_s")).not_to_contain_text("must be")
    assert pages_store.settings(ENGINE) == {}, "nothing is kept by halves"
    expect(line(page, ENGINE, "settle_s").get_by_role("textbox")).to_have_value("50 s")
    line(page, ENGINE, "ttl_s").get_by_role("textbox").fill("20")
    group(page, ENGINE).get_by_role("button", name="Save engine").click()
    wait_until(lambda: pages_store.settings(ENGINE) == {"settle_s": 50, "ttl_s": 20}, 20, "kept")
    expect(line(page, ENGINE, "ttl_s")).not_to_contain_text("must be")


def test_what_somebody_else_changed_meanwhile_stays(open_tab, pages_store):
    one, two = open_tab("/settings").page, open_tab("/settings").page
    line(two, ENGINE, "drift_load").get_by_role("textbox").fill("50")
    line(one, ENGINE, "ttl_s").get_by_role("textbox").fill("100")
    group(one, ENGINE).get_by_role("button", name="Save engine").click()
    wait_until(lambda: pages_store.settings(ENGINE) == {"ttl_s": 100}, 20, "the first is kept")
    group(two, ENGINE).get_by_role("button", name="Save engine").click()
    wait_until(
        lambda: pages_store.settings(ENGINE) == {"ttl_s": 100, "drift_load": 0.5}, 20, "both are"
    )


def test_back_to_the_default(open_tab, pages_store):
    pages_store.save_settings(ENGINE, {"ttl_s": 99.0}, by="ada", at=1.0)
    page = open_tab("/settings").page
    box = line(page, ENGINE, "ttl_s").get_by_role("textbox")
    expect(box).to_have_value("99 s")
    page.get_by_role("button", name="Default of Time to decide, Engine").click()
    expect(box).to_have_value(f"{EngineSettings().ttl_s:.0f} s")
    assert pages_store.settings(ENGINE) == {"ttl_s": 99.0}, "only once it is saved"
    group(page, ENGINE).get_by_role("button", name="Save engine").click()
    wait_until(lambda: pages_store.settings(ENGINE) == {}, 20, "the default holds")


def test_settings_of_a_cluster_and_its_scalers(open_tab, pages_store):
    page = open_tab("/settings").page
    page.get_by_role("navigation", name="Whose settings").get_by_role("link", name="wide").click()
    expect(page).to_have_url(re.compile("/settings/wide$"))
    guards = guard_group("wide")
    line(page, guards, "largest_step").get_by_role("textbox").fill("7")
    group(page, guards).get_by_role("button", name="Save guards").click()
    wait_until(lambda: pages_store.settings(guards) == {"largest_step": 7}, 20, "kept")
    folded = group(page, "scale:wide:drs")
    expect(folded.get_by_role("button", name=re.compile("^Save"))).to_be_hidden()
    folded.locator("summary").click()
    expect(folded.get_by_role("button", name=re.compile("^Save"))).to_be_visible()


def test_search_leads_to_the_setting(open_tab):
    page = open_tab("/settings").page
    page.get_by_label("Search all settings").fill("excluded wide")
    hit = page.locator("#settings-hits").get_by_role("link", name="Excluded hours")
    hit.click()
    expect(page).to_have_url(re.compile(r"/settings/wide#guards:wide\.excluded_hours$"))
    found = page.locator('[data-anchor="guards:wide.excluded_hours"]')
    expect(found).to_have_class(re.compile("is-target"))
    expect(found).to_be_in_viewport()
    page.get_by_label("Search all settings").fill("xyzzy")
    expect(page.locator("#settings-hits")).to_contain_text("No setting has these words")


def test_only_an_admin_may_change_them(open_tab):
    page = open_tab("/settings", role=Role.APPROVER).page
    button = group(page, ENGINE).get_by_role("button", name="Save engine")
    expect(button).to_be_disabled()


def test_a_cluster_that_is_not_there(open_tab):
    page = open_tab("/settings/moon").page
    expect(page.locator("#settings-body")).to_contain_text("There is no cluster moon")


@pytest.mark.parametrize("width", [390, 1280])
def test_no_sideways_scrolling(open_tab, pages_web, width):
    tab = open_tab("/settings", width=width)
    for path in ("/settings", "/settings/wide", "/audit", "/"):
        tab.page.goto(pages_web.url + path)
        expect(tab.page.locator("#link-text")).to_have_text("live")
        expect(tab.page.locator(".skeleton")).to_have_count(0)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.errors == []
