"""From a small chart to a large one over longer ranges, in a real browser."""

import re
import time

from playwright.sync_api import expect

from tests.support.models import sample_of
from tests.support.waiting import wait_until
from weir.controllers.engine.ports import Tier

WORLD = "two clusters"


def minutes_ago(feeder, minutes):
    """Minutes in the store for as long as `minutes`, as the engine would have rolled them up."""
    model, now = feeder.models[0], time.time() // 60 * 60
    for i in range(minutes, 1, -1):
        at = now - 60 * i
        feeder.store.append(sample_of(model, 200.0, at, 60.0, feeder._rng), Tier.MINUTE)
    return model.name


def test_a_chart_opens_large_and_shows_hours(open_tab, pages_feeder, pages_web):
    cluster = minutes_ago(pages_feeder, 200)
    tab = open_tab("/")
    tab.wait_drawn(1)
    page = tab.page
    page.locator(f'[data-cluster="{cluster}"] .tile-title a', has_text="Load").click()
    expect(page).to_have_url(f"{pages_web.url}/trends/load/1h/{cluster}")
    plot = page.locator('[data-plot="trend"]')
    expect(plot.locator("path.js-line").first).to_be_visible()
    page.get_by_role("link", name="5 h", exact=True).click()
    expect(page).to_have_url(f"{pages_web.url}/trends/load/5h/{cluster}")
    expect(page.get_by_role("link", name="5 h", exact=True)).to_have_attribute(
        "aria-current", "true"
    )
    shown = page.evaluate("JSON.parse(document.querySelector('[data-plot=trend]').dataset.model)")
    (line,) = shown["lines"]
    assert len(line["x"]) > 190, "the minutes that the store has"
    other = next(m.name for m in pages_feeder.models if m.name != cluster)
    page.get_by_role("link", name=other, exact=True).click()
    expect(page.locator('[data-plot="trend"] g.legend text')).to_have_text([cluster, other])
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    rows = saved.value.path().read_text().splitlines()
    assert rows[0] == "time,cluster,Load (%)"
    assert sum(f",{cluster}," in row for row in rows) > 190
    assert tab.errors == []


def test_a_range_of_ones_own_and_nonsense(open_tab, pages_feeder, pages_web):
    tab = open_tab("/trends/latency/15m")
    page = tab.page
    since = page.locator('[data-range="since"]')
    expect(since).to_be_visible()
    since.fill(page.evaluate("weir.localTime(Date.now() - 3600e3)"))
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page).to_have_url(re.compile(r"/trends/latency/\d+-\d+/"))
    expect(page.locator('[data-plot="trend"] path.js-line').first).to_be_visible()
    page.goto(f"{pages_web.url}/trends/load/yesterday")
    expect(page.locator(".state")).to_contain_text("'yesterday' is no range")


def dragged(page, plot, start, end):
    """Drag over a plot from one share of its width to another."""
    box = plot.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def test_dragging_zooms_every_chart_of_the_page(open_tab, pages_web):
    tab = open_tab("/cluster/narrow")
    tab.wait_drawn(2)
    page = tab.page
    plot = page.locator('[data-chart="narrow/load"]')
    plot.scroll_into_view_if_needed()
    span = "(key) => { const c = weir.chartIn(document.querySelector(`[data-chart='${key}']`)); return c.end - c.start }"
    whole = page.evaluate(span, "narrow/queue")
    dragged(page, plot, 0.5, 0.8)
    expect(page.locator("#zoomed")).to_contain_text("show all again")
    wait_until(lambda: page.evaluate(span, "narrow/queue") < 0.6 * whole, 15, "it is zoomed too")
    expect(page).to_have_url(f"{pages_web.url}/cluster/narrow")
    tab.wait_drawn(1)
    assert page.evaluate(span, "narrow/load") < 0.6 * whole, "new reports leave the zoom"
    page.keyboard.press("Escape")
    expect(page.locator("#zoomed")).to_be_hidden()
    wait_until(lambda: page.evaluate(span, "narrow/queue") >= 0.9 * whole, 15, "all of it again")
    assert tab.errors == []


def test_any_live_chart_opens_large_and_goes_on(open_tab):
    tab = open_tab("/operator/topic_count")
    tab.wait_drawn(2)
    page = tab.page
    page.get_by_role("button", name="Open Wait and batch, narrow large").click()
    large = page.get_by_role("dialog", name="Wait and batch, narrow")
    expect(large.locator("path.js-line").first).to_be_visible()
    newest = "+new Date(document.querySelector('.large-plot').data[0].x.at(-1))"
    before = page.evaluate(newest)
    wait_until(lambda: page.evaluate(newest) > before, 15, "a newer point")
    with page.expect_download() as saved:
        large.get_by_role("button", name="Save as CSV").click()
    rows = saved.value.path().read_text().splitlines()
    assert rows[0] == "time,line,Wait and batch (s)"
    assert {row.split(",")[1] for row in rows[1:]} == {"scheduling", "processing"}
    with page.expect_download() as saved:
        large.get_by_role("button", name="Save as picture").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()
    assert tab.errors == []
