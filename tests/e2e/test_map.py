"""The map of operators on clusters, by what is where in a real browser."""

import itertools
import time

import pytest
from playwright.sync_api import expect

from tests.support.waiting import wait_until
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now
from weir.controllers.engine.propose.outlook import outlook
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store import keys

WORLD = "two clusters"

LINES = """() => {
  const cy = document.getElementById("map-graph")._cyreg.cy;
  const drawn = (edge) => {
    const inner = edge.segmentPoints() || [];
    return [edge.sourceEndpoint(), ...inner, edge.targetEndpoint()].map(({ x, y }) => [x, y]);
  };
  return cy.edges('[kind = "from"]').map((half) => {
    const flow = half.target();
    const next = flow.outgoers("edge")[0];
    return { source: half.source().id(), target: next.target().id(),
             points: [...drawn(half), ...drawn(next)] };
  });
}"""
BOXES = """() => Object.fromEntries(document.getElementById("map-graph")._cyreg.cy.nodes().map((n) => {
  const { x, y } = n.position();
  const [w, h] = [n.data("w") / 2, n.data("h") / 2];
  return [n.id(), [x - w, y - h, x + w, y + h]];
}))"""
WORDS = """() => Object.fromEntries([...document.querySelectorAll(".map-layer > *")].map((e) => {
  const b = e.getBoundingClientRect();
  return [e.dataset.node || "flow:" + e.dataset.flow, [b.left, b.top, b.right, b.bottom]];
}))"""


@pytest.fixture
def balanced(pages_store):
    """The engine's look at the balance, which a preview rests on."""
    wait_until(lambda: len(pages_store.latest()) == 2, 20, "both clusters report")
    now = time.time()
    problem = problem_now(Snapshot.of(pages_store.latest(), now), {}, BalanceSettings())
    pages_store.save_outlook(outlook(problem, now, wait="", chosen="milp", auto=False))
    yield
    pages_store.client.delete(keys.OUTLOOK)


@pytest.fixture
def moved(pages_feeder, pages_store):
    """top_n runs in wide, behind an operator that runs in narrow."""
    wide, narrow = pages_feeder.models
    top_n = narrow.operators.pop()
    wide.operators.append(top_n)
    wait_until(lambda: place(pages_store, "top_n") == "wide", 20, "top_n has moved")
    yield
    wide.operators.remove(top_n)
    narrow.operators.append(top_n)
    wait_until(lambda: place(pages_store, "top_n") == "narrow", 20, "top_n is back")


def place(store, name):
    return next((s.cluster.name for s in store.latest() for o in s.operators if o.name == name), "")


def node(page, name):
    return page.locator(f'.map-node[data-name="{name}"]')


def lines_of(page):
    """As they are drawn; where a line begins is reckoned with the next frame."""
    drawn = lambda lines: lines and all(any(map(any, line["points"])) for line in lines)  # noqa: E731
    return wait_until(lambda: drawn(found := page.evaluate(LINES)) and found, 20, "lines are drawn")


def on_the_border(point, box):
    x, y = point
    left, top, right, bottom = box
    inside = left - 3 <= x <= right + 3 and top - 3 <= y <= bottom + 3
    return inside and min(x - left, right - x, y - top, bottom - y) <= 3


def crosses(a, b, box):
    """Whether a line that runs level or upright goes through a box, not just along it."""
    left, top, right, bottom = box
    across = min(max(a[0], b[0]), right) - max(min(a[0], b[0]), left)
    down = min(max(a[1], b[1]), bottom) - max(min(a[1], b[1]), top)
    return across > -1 and down > -1 and max(across, down) > 8 and left + 2 < max(a[0], b[0]) and (
        top + 2 < max(a[1], b[1]) and min(a[0], b[0]) < right - 2 and min(a[1], b[1]) < bottom - 2
    )  # fmt: skip


@pytest.mark.parametrize("width", [1440, 390])
def test_after_a_move_every_line_runs_from_its_source_to_its_target(moved, open_tab, width):
    tab = open_tab("/", width=width)
    page = tab.page
    expect(node(page, "top_n")).to_be_visible()
    lines, boxes = lines_of(page), page.evaluate(BOXES)
    assert {(line["source"], line["target"]) for line in lines} == {
        ("data:tweets", "operator:extractor"),
        ("operator:extractor", "operator:topic_count"),
        ("operator:topic_count", "operator:top_n"),
    }
    operators = {name: box for name, box in boxes.items() if name.startswith("operator:")}
    for line in lines:
        source, target, points = line["source"], line["target"], line["points"]
        assert on_the_border(points[0], boxes[source]), line
        assert on_the_border(points[-1], boxes[target]), line
        for a, b in itertools.pairwise(points):
            through = [name for name, box in operators.items() if crosses(a, b, box)]
            assert through == [], f"the line from {source} to {target} runs through {through}"
    for name, cluster in (("top_n", "wide"), ("extractor", "wide"), ("topic_count", "narrow")):
        inner, outer = boxes[f"operator:{name}"], boxes[f"cluster:{cluster}"]
        assert inner[0] > outer[0] and inner[1] > outer[1]  # noqa: PT018
        assert inner[2] < outer[2] and inner[3] < outer[3]  # noqa: PT018
    assert tab.errors == []


@pytest.mark.parametrize("width", [1440, 390])
def test_no_word_is_lost_or_under_another(open_tab, width):
    page = open_tab("/", width=width).page
    expect(node(page, "top_n")).to_be_visible()
    expect(page.locator(".map-rate")).to_have_count(3)
    assert page.locator(".map-dataset").all_inner_texts() == ["counts", "topics"]
    stage = page.locator(".map-stage").bounding_box()
    words = {n: b for n, b in page.evaluate(WORDS).items() if not n.startswith("cluster:")}
    assert len(words) == 7
    for name, (left, _, right, _) in words.items():
        assert stage["x"] - 1 <= left <= right <= stage["x"] + stage["width"] + 1, name
    found = list(words.items())
    for i, (one, a) in enumerate(found):
        for other, b in found[i + 1 :]:
            apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
            assert apart, f"{one} and {other} overlap"


def test_figures_change_in_place_and_the_view_stays(open_tab):
    tab = open_tab("/")
    page = tab.page
    expect(node(page, "extractor")).to_be_visible()
    page.get_by_role("button", name="Zoom in").click()
    before, view = page.evaluate(BOXES), page.locator(".map-layer").get_attribute("style")
    element, said = node(page, "extractor").element_handle(), node(page, "extractor").inner_text()
    wait_until(lambda: node(page, "extractor").inner_text() != said, 30, "other figures")
    assert page.evaluate(BOXES) == before
    assert page.locator(".map-layer").get_attribute("style") == view
    assert element.evaluate("e => e.isConnected"), "nothing was drawn anew"


def test_dragging_into_another_cluster_opens_the_preview(balanced, open_tab, pages_store):
    page = open_tab("/").page
    expect(node(page, "top_n")).to_be_visible()
    page.locator(".map-card").scroll_into_view_if_needed()
    known, stood = len(pages_store.rebalances()), page.evaluate(BOXES)
    a = node(page, "top_n").bounding_box()
    b = page.locator('.map-box[data-name="wide"]').bounding_box()
    page.mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
    page.mouse.down()
    page.mouse.move(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=6)
    page.mouse.up()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Preview")
    expect(dialog).to_contain_text("top_n")
    expect(dialog.locator('[data-load="wide"]')).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate(BOXES) == stood, "it stands where it runs"
    assert len(pages_store.rebalances()) == known, "a preview changes nothing"


def test_the_keyboard_walks_moves_folds_and_reads(balanced, open_tab):
    page = open_tab("/").page
    node(page, "extractor").focus()
    page.keyboard.press("ArrowRight")
    expect(node(page, "topic_count")).to_be_focused()
    page.keyboard.press("m")
    page.keyboard.press("Enter")  # the first choice: to the other cluster
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("topic_count")
    expect(dialog.locator('[data-load="wide"]')).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(node(page, "topic_count")).to_be_focused()
    page.locator('.map-box[data-name="narrow"]').focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Fold").press("Enter")
    expect(node(page, "narrow")).to_be_focused()
    expect(node(page, "narrow")).to_contain_text("2 operators")
    page.get_by_text("Flows as a list").click()
    expect(page.locator(".map-flows-list li")).to_have_count(2)
    expect(page.locator(".map-flows-list")).to_contain_text("extractor on wide → narrow: topics,")
