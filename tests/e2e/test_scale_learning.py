"""What Q-learning and the queueing model know, on the page as in the memory."""

import json
import re

from playwright.sync_api import expect

from tests.support.scale_pages import COARSE, pages_feeder, scale, toast
from tests.support.scalers import remembered
from tests.support.waiting import wait_until
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.scaling.facts import Scope
from weir.controllers.scaling.qlearning.memory import fresh_memory
from weir.controllers.scaling.qlearning.settings import QSettings
from weir.controllers.scaling.registry import create

__all__ = ["pages_feeder", "scale"]


def memory_of(store):
    kept = store.memories("narrow").get("qlearning")
    own = store.settings(scaler_group("narrow", "qlearning"))
    return create("qlearning", own, Scope(cluster="narrow")).remember(kept)


def cells(page):
    """What the heatmap shows, by state and action: figure, visits, star."""
    found = page.evaluate(
        """() => [...document.querySelectorAll('[data-qtable] .q-cell')].map((c) => [
          Number(c.dataset.state), Number(c.dataset.action),
          c.querySelector('.q-value').textContent, c.querySelector('.q-visits').textContent])"""
    )
    return {
        (s, a): (v.lstrip("★").replace("−", "-"), n.lstrip("×"), v.startswith("★"))
        for s, a, v, n in found
    }


def table_as_shown(memory):
    values, visits = memory.table.values, memory.table.visits
    return {
        (s, a): (f"{v:.2f}".replace("-0.00", "0.00"), str(visits[s][a] or "prior"))
        for s, row in enumerate(values)
        for a, v in enumerate(row)
    }


def plain(found):
    return {k: (v.replace("-0.00", "0.00"), n) for k, (v, n, _) in found.items()}


def test_the_heatmap_is_the_memory(scale, pages_store):
    page = scale.page

    def drawn():
        """The memory, which may have come with the message after the first drawing."""
        memory = memory_of(pages_store)
        return memory if plain(cells(page)) == table_as_shown(memory) else None

    memory = wait_until(drawn, 10, "the table of the memory")
    found = cells(page)
    for state in range(len(memory.table.values)):
        stars = [a for a in range(3) if found[state, a][2]]
        row = memory.table.values[state]
        assert len(stars) == 1
        assert row[stars[0]] == max(row)
    expect(page.locator(".q-present")).to_have_count(3)
    expect(page.locator("[data-qtable] [data-step]")).to_have_count(12)
    expect(page.locator("[data-curve] .reward")).to_have_count(len(memory.rewards))
    learner = page.locator("#learner")
    expect(learner).to_contain_text(f"Epsilon{QSettings().epsilon:.3g}")
    expect(learner).to_contain_text("Last decision. Latency")
    state, action = memory.trail[-1].state, memory.trail[-1].action
    page.hover(f'.q-cell[data-state="{state}"][data-action="{action}"] rect')
    tip = page.locator("[data-qtable] .tip")
    expect(tip).to_contain_text(f"tried{memory.table.visits[state][action]} times")
    expect(tip).to_contain_text("reward")


def test_the_drawings_can_be_read_with_the_keyboard(scale):
    page = scale.page
    for drawn in ("[data-qtable] .q-present", "[data-curve] .reward", "[data-scatter] .moment"):
        expect(page.locator(drawn).first).to_be_attached()
    page.locator("[data-qtable]").focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator("[data-qtable] .tip")
    expect(tip).to_contain_text("the state at the last decision")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text(re.compile(r"latency [\d.]+–[\d.]+ s"))
    page.locator("[data-curve]").focus()
    page.keyboard.press("ArrowLeft")
    # The one before the last; the scaler may have decided once more since.
    expect(page.locator("[data-curve] .tip")).to_contain_text(re.compile(r"decision (69|7\d)"))
    page.locator("[data-scatter]").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-scatter] .tip")).to_contain_text("by the model")
    for name in ("Export the table", "Reset the table", "Follow Thresholds", "Limits of narrow"):
        button = page.get_by_role("button", name=name)
        button.focus()
        expect(button).to_be_focused()


def test_the_queueing_model_stands_against_what_was_measured(scale, pages_store):
    page = scale.page
    expect(page.locator("[data-scatter] .diagonal")).to_be_attached()
    said = page.locator('[data-live="scale/narrow/error"]')
    expect(said).to_contain_text("% off what was measured")

    def same():
        pairs = [p for p in pages_store.scale_outlooks()["narrow"].sojourn if None not in p]
        return abs(page.locator("[data-scatter] .moment").count() - len(pairs)) <= 2

    wait_until(same, 15, "every moment is a point")


def test_a_table_is_exported_forgotten_and_brought_back(scale, pages_store, tmp_path):
    page, before = scale.page, memory_of(pages_store)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export the table of narrow").click()
    file = tmp_path / "table.json"
    download.value.save_as(file)
    assert download.value.suggested_filename.startswith("q-table-narrow-")
    assert json.loads(file.read_text())["values"] == [list(r) for r in before.table.values]

    page.get_by_role("button", name="Reset the table of narrow").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{len(before.rewards)} rewards of the learning curve")
    expect(dialog).to_contain_text("cannot be undone")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    kept = memory_of(pages_store).rewards  # and perhaps that of one more decision
    assert kept[: len(before.rewards)] == before.rewards
    page.get_by_role("button", name="Reset the table of narrow").click()
    dialog.get_by_role("button", name="Reset table").click()
    expect(dialog).to_be_hidden()
    expect(toast(page)).to_contain_text("starts learning afresh")
    fresh = fresh_memory(QSettings(**COARSE))
    wait_until(lambda: plain(cells(page)) == table_as_shown(fresh), 15, "a fresh table")
    expect(page.locator("[data-curve]")).to_contain_text("No reward yet")

    other = tmp_path / "other.json"
    other.write_text(json.dumps({"width_s": 5, "values": [], "visits": []}))
    page.locator("#table-import input").set_input_files(other)
    expect(toast(page)).to_contain_text("0 states of 5 s, but 14 of 10 s are set")
    expect(toast(page)).to_contain_text("Nothing was changed")
    assert memory_of(pages_store).table == fresh.table

    page.locator("#table-import input").set_input_files(file)
    expect(toast(page)).to_contain_text("narrow goes on with the table of table.json: 14 states")
    assert memory_of(pages_store).table == before.table
    wait_until(
        lambda: plain(cells(page)) == table_as_shown(before), 15, "the heatmap is the old one again"
    )
    assert {"memory.reset", "memory.imported"} <= {e.action for e in pages_store.audit(limit=9)}
    pages_store.save_memories("narrow", remembered(before))
