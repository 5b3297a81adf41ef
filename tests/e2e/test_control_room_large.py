"""The control room of sixty clusters in a real browser: few in full, all in the overview."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.feeder import Feeder
from tests.support.models import many
from tests.support.waiting import wait_until
from weir.components.pages.control_room.attention import IN_FULL

TILES = ".overview-tiles li"


@pytest.fixture(scope="module")
def pages_feeder(pages_redis):
    """Sixty clusters of two operators; cluster-41 has far too much to do."""
    models = many(60, 2)
    models[41].operators[0].cost_s_per_row *= 20
    feeder = Feeder(pages_redis.url, models, period_s=5.0)
    feeder.history(1)
    feeder.start()
    yield feeder
    feeder.stop()


def tile(page, name):
    return page.locator(TILES, has=page.locator(f'a[href="/cluster/{name}"]'))


def test_few_in_full_and_all_in_the_overview(open_tab):
    tab = open_tab("/")
    page = tab.page
    expect(page.locator(TILES)).to_have_count(60)
    expect(page.locator(".cluster")).to_have_count(IN_FULL)
    expect(page.locator(".cluster").first).to_have_attribute("data-cluster", "cluster-41")
    expect(page.locator(".overview-foot")).to_contain_text(f"{IN_FULL} of 60 clusters")
    expect(tile(page, "cluster-41").locator("a")).to_have_attribute("data-state", "bad")
    expect(tile(page, "cluster-41")).to_contain_text("overloaded")
    expect(tile(page, "cluster-07").locator(".overview-load")).to_have_text(re.compile(r"\d+ %"))
    expect(page.locator("[data-map]")).to_have_count(0)
    expect(page.locator(".map-card")).to_contain_text("60 clusters and 120 operators")
    tab.wait_drawn(5)
    assert tab.errors == []


def test_the_overview_follows_the_feed_and_cards_stay(open_tab, pages_feeder):
    tab = open_tab("/")
    page = tab.page
    figure = tile(page, "cluster-07").locator(".overview-load")
    expect(figure).to_have_text(re.compile(r"\d+ %"))
    shown = [c.get_attribute("data-cluster") for c in page.locator(".cluster").all()]
    element = page.locator(TILES).first.element_handle()
    asked = len(tab.requests)
    before = page.locator(".overview-load").all_inner_texts()
    wait_until(
        lambda: sum(a != b for a, b in zip(before, loads(page), strict=True)) > 30,
        40,
        "most loads in the overview have changed",
    )
    outside = next(m for m in pages_feeder.models if m.name not in shown)
    outside.operators[0].cost_s_per_row *= 20
    expect(tile(page, outside.name)).to_contain_text("overloaded")
    expect(page.locator(".attention")).to_contain_text("1 of them not in full below")
    assert [c.get_attribute("data-cluster") for c in page.locator(".cluster").all()] == shown
    assert element.evaluate("e => e.isConnected"), "tiles were built anew"
    assert len(tab.requests) == asked, "it came by request, not by push"
    page.click("text=Choose again")
    expect(page.locator(f'.cluster[data-cluster="{outside.name}"]')).to_have_count(1)
    expect(page.locator(".cluster")).to_have_count(IN_FULL)
    expect(page.locator(".attention")).to_contain_text("2 clusters need attention now.")
    tab.wait_drawn(3)
    outside.operators[0].cost_s_per_row /= 20
    assert tab.errors == []


def loads(page):
    return page.locator(".overview-load").all_inner_texts()


def test_filter_by_name_and_by_state(open_tab):
    page = open_tab("/").page
    shown = page.locator(f"{TILES}:visible")
    expect(shown).to_have_count(60)
    box = page.get_by_role("searchbox")
    box.fill("cluster-1")
    expect(shown).to_have_count(10)
    expect(page.locator(".overview-bar")).to_contain_text("10 of 60")
    box.fill("OVERL")
    expect(tile(page, "cluster-41")).to_be_visible()
    expect(tile(page, "cluster-10")).to_be_hidden()
    box.fill("no such thing")
    expect(shown).to_have_count(0)
    box.fill("")
    expect(shown).to_have_count(60)


def test_a_tile_leads_to_its_cluster_and_back(open_tab):
    tab = open_tab("/")
    tab.page.get_by_role("searchbox").fill("cluster-33")
    tab.page.locator(f"{TILES}:visible a").focus()
    tab.page.keyboard.press("Enter")
    expect(tab.page).to_have_url(re.compile("/cluster/cluster-33$"))
    expect(tab.page.locator("h1")).to_have_text("cluster-33")
    tab.wait_drawn(1, timeout_s=30)
    tab.page.go_back()
    expect(tab.page.locator(TILES)).to_have_count(60)
    expect(tab.page.locator(f"{TILES}:visible")).to_have_count(1)
    assert tab.errors == []


@pytest.mark.parametrize("width", [390, 1280])
def test_no_horizontal_scroll(open_tab, width):
    page = open_tab("/", width=width).page
    expect(page.locator(TILES)).to_have_count(60)
    expect(page.locator("#link-text")).to_have_text("live")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_polling_brings_the_overview_too(open_tab):
    tab = open_tab("/?feed=poll")
    expect(tab.page.locator(TILES)).to_have_count(60)
    before = loads(tab.page)
    wait_until(
        lambda: sum(a != b for a, b in zip(before, loads(tab.page), strict=True)) > 10,
        30,
        "the overview follows",
    )
    assert tab.page.locator("#link").get_attribute("data-feed") == "poll"


def test_a_cluster_to_scale_is_found_by_typing(open_tab):
    tab = open_tab("/scale")
    page = tab.page
    rows = page.locator("[data-cluster-row]:visible")
    expect(rows).to_have_count(60)
    page.get_by_role("textbox", name="Show only clusters").fill("-41")
    expect(rows).to_have_count(1)
    expect(page.locator("[data-filter-count]")).to_have_text("1 of 60")
    page.get_by_role("link", name="cluster-41").click()
    expect(page.locator("h1")).to_have_text("Scale cluster-41")
    page.get_by_text("cluster-41, one of 60 clusters").click()
    page.get_by_role("textbox", name="Show only clusters").fill("cluster-07")
    page.locator(".choices").get_by_role("link", name="cluster-07").click()
    expect(page.locator("h1")).to_have_text("Scale cluster-07")
    assert tab.errors == []
