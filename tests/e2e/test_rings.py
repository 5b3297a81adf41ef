"""The ring view in a real browser, with a real engine: keys handed over by hand, prediction first."""

import pytest
from playwright.sync_api import expect

from tests.support.engine import RealEngine
from tests.support.feeder import Feeder
from tests.support.models import SLICES, sliced
from tests.support.waiting import wait_until
from weir.controllers.model.decision import Reslice


@pytest.fixture(scope="module")
def pages_feeder(pages_redis):
    """topic_count in three slices over two clusters; nobody carries out what is ordered."""
    feeder = Feeder(
        pages_redis.url, sliced(), period_s=1.0, rate_rows_per_s=300, wave=0.03, obeys=True
    )
    assert feeder.store.slice_if(SLICES, seen=None)
    feeder.history(2)
    feeder.start()
    yield feeder
    feeder.stop()


@pytest.fixture(scope="module")
def engine(pages_redis, pages_feeder, pages_store):
    for name in ("wide", "narrow"):
        pages_store.save_settings(f"scale:{name}", {"scaler": "no_op"})
        pages_store.save_settings(f"guards:{name}", {"stabilisation_s": 0})
    engine = RealEngine(pages_redis.url).start()
    wait_until(lambda: (o := pages_store.outlook()) and o.rings, 90, "the engine knows the ring")
    yield engine
    engine.stop()


@pytest.fixture
def balance(engine, open_tab):
    tab = open_tab("/balance")
    expect(tab.page.locator('[data-ring="topic_count"]')).to_be_visible(timeout=30_000)
    return tab


def test_the_ring_is_drawn_and_half_an_arc_handed_on_by_keyboard(balance, pages_store):
    page = balance.page
    ring = page.locator('[data-ring="topic_count"] .ring')
    expect(ring).to_have_attribute("aria-label", "Ring of topic_count: topic_count.0 from 0.00 to "
                                   "0.62; topic_count.1 from 0.62 to 0.88; topic_count.2 from "
                                   "0.88 to 1.00")  # fmt: skip
    expect(page.locator(".ring-label")).to_have_text(["0", "1", "2"])
    row = page.locator('[data-slice="topic_count.0"]')
    expect(row).to_contain_text("0–39")
    expect(row).to_contain_text("cores")
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("topic_count.0 → topic_count.1: key groups 20–39")
    expect(dialog).to_contain_text("Keys that change their owner")
    expect(dialog).to_contain_text("pause for")
    dialog.get_by_label("Comment").fill("a drill")
    dialog.get_by_role("button", name="Apply").click()
    expect(page.locator(".toast")).to_contain_text("asked to re-slice")

    def ordered():
        return [r for r in pages_store.recommendations() if isinstance(r.decision, Reslice)]

    wait_until(lambda: ordered() and pages_store.reslicings(), 30, "the engine gives the order")
    (found,) = ordered()
    assert found.comment == "a drill"
    assert found.decision.owners["topic_count.0"] == tuple(range(20))
    assert pages_store.reslicings()[0].owners == found.decision.owners
    expect(page.locator(".ring-overs")).to_contain_text("key groups 20–39", timeout=15_000)


def test_what_is_typed_is_checked_and_predicted(balance):
    page = balance.page
    group = page.get_by_role("group", name="Re-slice topic_count by hand")
    group.get_by_label("or these key groups").fill("0-3")
    group.get_by_role("button").click()
    expect(page.locator(".toast")).to_contain_text("Choose both")
    group.get_by_role("textbox", name="go to slice").click()
    page.get_by_role("option", name="topic_count.3, a new one").click()
    group.get_by_role("button", name="Preview").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("New: topic_count.3 in narrow")
    dialog.get_by_role("button", name="Cancel").click()
