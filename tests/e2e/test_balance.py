"""The Balance page in a real browser, with a real engine; the feeder plays the hosts."""

import re
import signal

import pytest
from playwright.sync_api import expect

from tests.support.engine import (
    RealEngine,
    all_still,
    looked_anew,
    made_since,
    running_in,
    seen,
)
from tests.support.feeder import Feeder, Hosts
from tests.support.given import given_mode
from tests.support.models import demo
from tests.support.waiting import wait_until
from weir.controllers.engine.propose.balance import BALANCE
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import Mode

HOME = {"extractor": "wide", "topic_count": "narrow", "top_n": "narrow"}
APPROVE = {"wide": Mode.APPROVE, "narrow": Mode.APPROVE}


@pytest.fixture(scope="module")
def pages_feeder(pages_redis):
    """Two clusters whose operators go where they are placed; narrow is the fuller one."""
    models = demo()
    for model in models:
        model.phase = 0.0  # in step, so that the plans stay what they are
    feeder = Feeder(
        pages_redis.url, models, period_s=1.0, rate_rows_per_s=440, wave=0.03, obeys=True
    )
    feeder.history(2)
    feeder.start()
    yield feeder
    feeder.stop()


@pytest.fixture(scope="module")
def engine(pages_redis, pages_feeder, pages_store):
    engine = RealEngine(pages_redis.url).start()
    wait_until(lambda: pages_store.outlook(), 90, "the engine has looked at the balance")
    yield engine
    engine.stop()


@pytest.fixture
def home(engine, pages_store):
    """Every operator where it began, nothing under way, the engine not acting by itself."""
    for name in ("wide", "narrow"):
        pages_store.save_settings(f"scale:{name}", {"scaler": "no_op"})
        pages_store.save_settings(f"guards:{name}", {"stabilisation_s": 0})
    if at_home(pages_store):
        return
    pages_store.save_settings(BALANCE, {})
    acted_alone = pages_store.modes() != APPROVE
    for name in APPROVE:
        given_mode(pages_store, name, Mode.APPROVE)
    for _ in range(2 if acted_alone else 0):  # what the engine began before that may still come
        looked_anew(pages_store)
        wait_until(lambda: all_still(pages_store), 60, "no move is under way")
    wait_until(lambda: all_still(pages_store), 60, "no move is under way")
    for operator, cluster in HOME.items():
        pages_store.place(Placement(operator=operator, cluster=cluster))
    wait_until(lambda: seen(pages_store) == HOME, 20, "operators are where they began")


def at_home(store):
    """The last test has changed nothing, and the engine could do nothing by itself."""
    placed = {p.operator: p.cluster for p in store.placements().values()}
    return (
        placed == running_in(store) == seen(store) == HOME
        and store.settings(BALANCE) == {}
        and store.modes() == APPROVE
        and all_still(store)
    )


@pytest.fixture
def balance(home, open_tab):
    tab = open_tab("/balance")
    expect(tab.page.locator("h1")).to_have_text("Balance")
    expect(tab.page.locator('[data-planner~="milp"]')).to_be_visible()
    return tab


def until(page, condition):
    """Not `wait_for_function`: the pages' policy forbids what it does with a string."""
    wait_until(lambda: page.evaluate(condition), 30, condition)


def choose(page, label, option):
    page.get_by_role("textbox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def preview_of_top_n(page):
    """The preview of a plan that moves top_n: the engine plans anew every few seconds, so the
    plan may be another one by the time of the click."""
    dialog = page.get_by_role("dialog")

    def shown():
        row = page.locator('[data-planner~="milp"]')
        expect(row).to_contain_text("top_n → wide")
        page.get_by_role("button", name="Preview the plan of Optimiser").click()
        expect(dialog).to_contain_text("%")
        if "top_n" in dialog.inner_text():
            return True
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        return False

    wait_until(shown, 90, "a preview that moves top_n")
    return dialog


def test_matrices_plans_and_distance_are_drawn_and_move(balance, pages_store):
    page = balance.page
    for key, rows in (("clusters", 2), ("operators", 3), ("operators-by-cluster", 3)):
        plot = page.locator(f'[data-matrix="{key}"]')
        expect(plot.locator(".heatmaplayer image").first).to_be_attached()
        data = plot.evaluate("e => [e.data[0].z, e.data[0].zmin, e.data[0].zmax]")
        assert len(data[0]) == rows
        assert data[1:] == [-1, 1]
        expect(plot).to_contain_text("1.00" if key != "operators-by-cluster" else ".")
    expect(page.get_by_text(re.compile("over the last .* periods"))).to_be_visible()
    view = pages_store.outlook()
    told = " ".join(r.get_attribute("data-planner") for r in page.locator("[data-planner]").all())
    assert sorted(told.split()) == sorted(p.plan.planner for p in view.proposals)
    row = page.locator('[data-planner~="milp"]')
    expect(row).to_contain_text("top_n → wide")
    expect(row).to_contain_text("helps because")
    expect(page.locator('[data-planner~="no_op"]')).to_contain_text("no change")
    expect(page.locator('[data-planner~="milp"] .tag-followed')).to_have_text("followed")
    points = "weir.models['balance/distance'].x.length"
    before = page.evaluate(points)
    until(page, f"{points} > {before}")
    at = page.evaluate("weir.models['balance/distance'].x")
    assert len(at) == len(set(at))
    assert balance.errors == []


def test_preview_then_apply_and_the_map_changes(balance, open_tab, pages_store):
    page = balance.page
    control_room = open_tab("/").page
    operator = control_room.locator('.map-node[data-name="top_n"]')
    expect(operator).to_be_visible()
    inside = """() => {
      const box = (l) => l.getBoundingClientRect();
      const node = box(document.querySelector('.map-node[data-name="top_n"]'));
      return [...document.querySelectorAll('.map-box')].find((g) => {
        const b = box(g);
        return node.left >= b.left && node.right <= b.right
          && node.top >= b.top && node.bottom <= b.bottom;
      })?.dataset.name;
    }"""
    assert control_room.evaluate(inside) == "narrow"
    known = len(pages_store.rebalances())
    dialog = preview_of_top_n(page)
    expect(dialog).to_contain_text("Preview: Optimiser")
    for part in ("Moves, in this order", "Queue expected to build up", "Pause", "State that goes"):
        expect(dialog).to_contain_text(part)
    expect(dialog.locator('[data-load="narrow"]')).to_contain_text("→")
    assert len(pages_store.rebalances()) == known, "a preview changes nothing"
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#toast")).to_contain_text("The engine was asked for 1 move")
    made = made_since(pages_store, known)
    assert made.planner == "milp"
    asked = pages_store.recommendation(made.id)
    assert asked.by == made.by != "engine"
    assert [m.move.operator for m in made.moves] == ["top_n"]
    expect(operator).to_have_attribute("data-moving", "wide")
    expect(operator).to_contain_text("moving to wide")
    line = control_room.locator(f'[data-command="{made.id}/top_n"]')
    expect(line).to_contain_text("move top_n to wide")
    shown = page.locator(f'[data-rebalance="{made.id}"]')
    expect(shown.locator('[data-move="top_n"]')).to_have_attribute("data-step", "done")
    expect(shown).to_have_attribute("data-status", "done")
    for figure in ("paused", "queue built up", "drained after"):
        expect(shown).to_contain_text(figure)
    measured = pages_store.rebalances()[0].moves[0]
    assert measured.paused_s >= Hosts.PAUSE_S
    until(control_room, f"({inside})() === 'wide'")
    expect(operator).to_have_attribute("data-moving", "")
    expect(line).to_contain_text(re.compile(r"paused \d+(\.\d)? s"))
    until(page, "weir.models['balance/distance'].events.length > 0")
    assert balance.errors == []


def test_a_preview_of_a_world_that_is_gone_does_nothing(balance, pages_store):
    page = balance.page
    dialog = preview_of_top_n(page)
    pages_store.place(Placement(operator="top_n", cluster="wide"))
    known = len(pages_store.rebalances())
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog).to_contain_text("Nothing was done: top_n is in wide now, no longer in narrow")
    assert len(pages_store.rebalances()) == known
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_move_by_hand_is_predicted_then_done(balance, pages_store):
    page = balance.page
    choose(page, "Operator", "topic_count")
    choose(page, "To cluster", "narrow")
    expect(page.locator("#hand-text")).to_have_text("topic_count is in narrow already.")
    choose(page, "To cluster", "wide")
    expect(page.locator("#hand-text")).to_contain_text("narrow would go from")
    page.get_by_role("button", name="Preview move").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Preview: By hand")
    known = len(pages_store.rebalances())
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog).to_be_hidden()
    made = made_since(pages_store, known)
    assert made.planner == "by hand"
    expect(page.locator(f'[data-rebalance="{made.id}"] [data-step="done"]')).to_be_visible()
    wait_until(lambda: running_in(pages_store)["topic_count"] == "wide", 10, "it runs in wide")


def test_the_engine_acts_by_itself_where_it_is_told_to(balance, pages_store):
    page = balance.page
    pages_store.save_settings(BALANCE, {"hold_s": 0, "least_periods": 2})
    choose(page, "Planner that the engine follows", "Optimiser")
    page.get_by_role("switch", name="Apply its plans without asking").click()
    expect(page.locator("#follow-text")).to_contain_text("applies the plan without asking")
    assert pages_store.modes()["wide"] is Mode.APPROVE, "not before it is set"
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("applies the plan without asking")
    assert pages_store.settings(BALANCE) == {"hold_s": 0, "least_periods": 2, "planner": "milp"}
    assert set(pages_store.modes().values()) == {Mode.AUTO}
    expect(page.locator('[data-planner~="milp"] .tag-followed')).to_have_text("followed")
    expect(page.locator('[data-live="balance/auto"]')).to_have_text("by itself")
    expect(page.locator("#follow-planner")).to_have_value("Optimiser")
    wait_until(lambda: pages_store.rebalances()[0].by == "engine", 60, "the engine acts")
    expect(page.locator(".rebalances")).to_contain_text("by the engine itself")


def test_keyboard_goes_all_the_way(balance):
    page = balance.page
    nav = page.get_by_role("navigation", name="Pages")
    expect(nav.get_by_role("link", name="Balance")).to_have_attribute("aria-current", "page")
    plot = page.locator('[data-matrix="operators"]')
    expect(plot.locator(".heatmaplayer image").first).to_be_attached()
    plot.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(plot.locator(".hoverlayer")).to_contain_text("top_n")
    button = page.locator('[data-planner~="no_op"]').get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("nothing to apply")
    expect(dialog.get_by_role("button", name="Apply")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    nav.get_by_role("link", name="Control room").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".cluster")).to_have_count(2)
    expect(nav.get_by_role("link", name="Control room")).to_have_attribute("aria-current", "page")
    expect(nav.locator("[aria-current]")).to_have_count(1)
    page.click(".cluster h2 >> text=narrow")
    expect(page.locator("h1")).to_have_text("narrow")
    expect(nav.get_by_role("link", name="Control room")).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_in_both_themes_without_a_complaint(home, open_tab, width, theme, pages_web):
    tab = open_tab("/balance", width=width, theme=theme)
    page = tab.page
    expect(page.locator('[data-matrix="operators"] .heatmaplayer image').first).to_be_attached()
    until(page, "weir.models['balance/distance'].x.length > 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Preview the plan of Optimiser").click()
    box = page.get_by_role("dialog")
    expect(box).to_contain_text("Preview")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.errors == []
    assert [u for u in tab.requests if not u.startswith((pages_web.url, "data:", "blob:"))] == []


def test_redis_away_is_said_where_apply_was_clicked(balance, pages_redis, pages_store):
    page = balance.page
    choose(page, "Operator", "top_n")
    choose(page, "To cluster", "wide")
    page.get_by_role("button", name="Preview move").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Preview: By hand")
    pages_redis.kill()
    try:
        dialog.get_by_role("button", name="Apply").click()
        expect(dialog).to_contain_text("nothing was sent")
        expect(page.locator("#banner")).to_contain_text("Redis cannot be reached")
    finally:
        pages_redis.start()
    page.keyboard.press("Escape")
    expect(page.locator("#banner")).to_be_hidden()


def test_an_engine_that_dies_is_said_and_nothing_can_be_applied(balance, engine, pages_store):
    page = balance.page
    choose(page, "Operator", "top_n")
    choose(page, "To cluster", "wide")
    engine.stop(signal.SIGKILL)
    try:
        expect(page.locator("#balance-note")).to_contain_text("The engine is not at work")
        expect(page.locator('.page-head [data-age-of="/distance"]')).to_contain_text("no data for")
        page.get_by_role("button", name="Preview move").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("cannot be applied now")
        known = len(pages_store.rebalances())
        dialog.get_by_role("button", name="Apply").click()
        expect(dialog).to_contain_text("Nothing was done")
        assert len(pages_store.rebalances()) == known
        page.keyboard.press("Escape")
    finally:
        engine.start()
    expect(page.locator("#balance-note")).not_to_contain_text("not at work")


def test_before_the_first_look_the_page_says_what_is_missing(open_tab, engine, pages_store):
    engine.stop()
    pages_store.client.delete("weir:outlook")
    try:
        page = open_tab("/balance").page
        expect(page.locator("h1")).to_have_text("No look at the balance yet")
        expect(page.locator(".state")).to_contain_text("weir engine")
    finally:
        engine.start()
    expect(page.locator("h1")).to_have_text("Balance")
