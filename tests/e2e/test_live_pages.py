"""The pages move by themselves, in a real browser."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.browser import WebServer
from tests.support.waiting import wait_until

WORLD = "two clusters"


def last_x(tab, chart):
    return tab.page.evaluate(f"weir.models['{chart}'].x.at(-1)")


def test_series_move_by_push(open_tab):
    tab = open_tab("/")
    tab.wait_drawn(2)
    before = last_x(tab, "wide/load")
    path = tab.page.locator('[data-chart="wide/load"] path.line').first
    drawn = path.get_attribute("d")
    asked = len(tab.requests)
    tab.wait_drawn(4)
    assert len(tab.requests) == asked, "it came by request, not by push"
    assert last_x(tab, "wide/load") > before
    assert path.get_attribute("d") != drawn
    assert tab.page.locator("#link").get_attribute("data-feed") == "push"
    x = tab.page.evaluate("weir.models['wide/load'].x")
    assert x == sorted(set(x)), "a report was drawn twice"
    entry = tab.page.evaluate("weirDrawn.at(-1)")
    assert entry["cluster"] in ("wide", "narrow")
    assert entry["drawn_at_ms"] / 1000 > entry["at"]
    assert entry["batch_at"] <= entry["at"]


def test_first_page_has_the_past(open_tab):
    tab = open_tab("/")
    tab.wait_drawn(1)
    assert tab.page.evaluate("weir.models['narrow/queue'].x.length") > 40


def test_control_room_shows_everything(open_tab):
    page = open_tab("/").page
    expect(page.locator(".cluster")).to_have_count(2)
    for chart in ("load", "latency", "queue", "throughput", "executors"):
        expect(page.locator(f'[data-chart="narrow/{chart}"] svg').first).to_be_visible()
    expect(page.locator(".map-node")).to_have_count(3)
    expect(page.locator(".map-data")).to_have_text("tweets")
    expect(page.locator(".map-rate").first).to_contain_text("rows/s")
    for part in ("redis", "engine", "host:wide", "generator:tweets", "web"):
        expect(page.locator(f'[data-part="{part}"]')).to_have_attribute("data-state", "up")


PAGES = ("/", "/cluster/narrow", "/operator/topic_count", "/operator/nobody")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_quiet_console_and_no_outside_request(open_tab, pages_web, theme):
    tab = open_tab("/", theme=theme)
    for path in PAGES:
        tab.page.goto(pages_web.url + path)
        expect(tab.page.locator(".stack, .state").first).to_be_visible()
        expect(tab.page.locator("#link-text")).to_have_text("live")
        if not path.endswith("nobody"):
            tab.wait_drawn(1)
    assert tab.errors == []
    assert [u for u in tab.requests if not u.startswith((pages_web.url, "data:", "blob:"))] == []
    scheme = tab.page.evaluate("document.documentElement.dataset.mantineColorScheme")
    assert scheme == theme


def test_theme_switch_changes_and_stays(open_tab):
    page = open_tab("/").page
    ground = "getComputedStyle(document.body).backgroundColor"
    expect(page.locator(".cluster").first).to_be_visible()
    light = page.evaluate(ground)
    page.click("#theme")
    wait_until(lambda: page.evaluate(ground) != light, 10, "another ground")
    dark = page.evaluate(ground)
    page.reload()
    expect(page.locator(".cluster").first).to_be_visible()
    wait_until(lambda: page.evaluate(ground) == dark, 10, "the same ground")


@pytest.mark.parametrize("width", [390, 1280])
def test_no_horizontal_scroll(open_tab, pages_web, width):
    tab = open_tab("/", width=width)
    for path in PAGES:
        tab.page.goto(pages_web.url + path)
        expect(tab.page.locator(".stack, .state").first).to_be_visible()
        expect(tab.page.locator("#link-text")).to_have_text("live")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_polling_when_asked_for(open_tab):
    tab = open_tab("/?feed=poll")
    tab.wait_drawn(4)
    assert tab.page.locator("#link").get_attribute("data-feed") == "poll"
    x = tab.page.evaluate("weir.models['wide/load'].x")
    assert x == sorted(set(x))


def test_polling_by_itself_where_websockets_are_blocked(open_tab):
    tab = open_tab("/", block_ws=True)
    tab.wait_drawn(3, timeout_s=20)
    expect(tab.page.locator("#link-text")).to_have_text("live, polling")


def test_navigation_keeps_the_feed(open_tab):
    tab = open_tab("/")
    tab.wait_drawn(1)
    tab.page.click(".cluster h2 >> text=narrow")
    expect(tab.page).to_have_url(re.compile("/cluster/narrow$"))
    expect(tab.page.locator('[data-executor="0"]')).to_be_visible()
    tab.page.wait_for_function("weir.models['narrow/load-by-operator']")
    tab.wait_drawn(2)
    tab.page.click(".operators a >> text=topic_count")
    expect(tab.page.locator("h1")).to_have_text("topic_count")
    tab.page.wait_for_function("weir.models['topic_count/rates']")
    before = last_x(tab, "topic_count/rates")
    tab.wait_drawn(2)
    assert last_x(tab, "topic_count/rates") > before
    tab.page.go_back()
    expect(tab.page.locator("h1")).to_have_text("narrow")


def test_unknown_addresses(open_tab):
    page = open_tab("/cluster/nowhere").page
    expect(page.locator("h1")).to_have_text("There is no cluster nowhere")
    page.goto(page.url.replace("/cluster/nowhere", "/no/such/page"))
    expect(page.locator("h1")).to_have_text("There is no such page")


def test_keyboard_reaches_charts_and_buttons(open_tab):
    tab = open_tab("/")
    tab.wait_drawn(1)
    plot = tab.page.locator('[data-chart="wide/load"]')
    plot.focus()
    tab.page.keyboard.press("ArrowLeft")
    expect(plot.locator(".tip")).to_contain_text("arriving work")
    button = tab.page.get_by_role("button", name="Scale wide", exact=True)
    button.focus()
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_be_hidden()


def test_health_and_snapshot(pages_web):
    def well():
        said = pages_web.get("/health").json()
        return said if said["status"] == "ok" else None

    health = wait_until(well, 20, "all is well")
    assert health["redis"]["up"] is True
    assert health["engine"] == "up"
    assert {p["id"] for p in health["parts"]} >= {"engine", "host:wide", "host:narrow"}
    assert health["clusters"]["wide"]["stale"] is False
    snapshot = pages_web.get("/api/v1/snapshot").json()
    assert [c["name"] for c in snapshot["clusters"]] == ["narrow", "wide"]
    assert {o["name"] for o in snapshot["operators"]} == {"extractor", "topic_count", "top_n"}
    assert pages_web.get("/api/v1/nothing").status_code == 404
    assert "swagger" not in pages_web.get("/docs").text  # that page loads from a CDN


def test_foreign_pages_are_refused(pages_web):
    url = f"{pages_web.url}/_dash-update-component"
    foreign = httpx.post(url, timeout=60, json={}, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert (
        httpx.post(url, timeout=60, json={}, headers={"sec-fetch-site": "cross-site"}).status_code
        == 403
    )
    assert httpx.get(pages_web.url, timeout=60, headers={"host": "evil.example"}).status_code == 403
    answer = httpx.get(pages_web.url, timeout=60)
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "unsafe-eval" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    upgrade = {
        "connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    ws = f"{pages_web.url}/_dash-ws-callback"
    headers = {**upgrade, "origin": "http://evil.example"}
    assert httpx.get(ws, headers=headers, timeout=60).status_code == 403


def test_on_a_phone_the_header_leaves_room_for_the_page(open_tab):
    tab = open_tab("/", width=390)
    tab.wait_drawn(1)
    header = tab.page.locator(".header").bounding_box()
    assert header["height"] <= 120
    assert header["width"] <= 390
    tab.page.evaluate("document.querySelector('.health .chip').dataset.state = 'down'")
    expect(tab.page.locator(".health .chip").first).to_be_visible()
    assert tab.page.locator(".header").bounding_box()["height"] <= 120, "with a part that is down"
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.page.get_by_role("link", name="Settings", exact=True).click()
    expect(tab.page.locator("h1")).to_have_text("Settings")
    assert tab.page.locator(".header").bounding_box()["height"] <= 120


def test_a_fresh_server_answers_any_page_with_its_scripts(pages_redis):
    server = WebServer(pages_redis.url).start()
    try:
        found = [server.get("/balance").text for _ in range(6)]  # both workers
        assert all("/assets/pages/balance/matrices.js" in text for text in found)
    finally:
        server.stop()
