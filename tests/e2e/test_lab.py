"""The Lab in a real browser: the table of claims, and an experiment run from its page."""

import re
from pathlib import Path

from playwright.sync_api import expect

from weir.metrics.lab.catalogue import EXPERIMENTS
from weir.metrics.lab.lab import Lab
from weir.metrics.store.users import Role
from weir.pipeline.experiments.process import perform

WORLD = "two clusters"


def test_an_experiment_is_run_from_its_page(open_tab, pages_store, shared_runs: Path) -> None:
    page = open_tab("/lab").page
    expect(page.locator(".claims tbody tr")).to_have_count(len(EXPERIMENTS))
    page.get_by_role("link", name="Consistent hashing against modulo").click()
    expect(page.locator("h1")).to_have_text("Consistent hashing against modulo")
    expect(page.locator("#page")).to_contain_text("appendix B")
    page.click("#lab-quick")
    expect(page.locator(".lab-verdict")).to_have_text("Reproduced, quick size", timeout=60_000)
    expect(page.locator('[data-plot="lab/dodo-ring/0"] .main-svg').first).to_be_visible()
    expect(page.locator(".lab-numbers tbody tr").first).to_contain_text("K/(N+1)")
    assert Lab(shared_runs).result("dodo-ring").quick
    entry = next(e for e in pages_store.audit(50) if e.action == "experiment.started")
    assert (entry.subject, entry.detail) == ("dodo-ring", "quick")
    page.click("#lab-stop")
    expect(page.locator("#lab-error")).to_have_text("dodo-ring is not under way.")
    page.get_by_role("link", name="Lab").first.click()
    row = page.locator(".claims tbody tr", has_text="Consistent hashing")
    expect(row.locator(".lab-verdict")).to_have_text(re.compile("Reproduced"))


def test_a_viewer_may_look_and_not_run(open_tab) -> None:
    page = open_tab("/lab/drs-table-2", role=Role.VIEWER).page
    expect(page.locator("#page")).to_contain_text("0.083 ms")
    expect(page.locator("#lab-quick")).to_be_disabled()


def test_on_a_telephone_nothing_is_wider_than_the_page(open_tab) -> None:
    page = open_tab("/lab", width=390).page
    expect(page.locator(".claims tbody tr").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_telephone_ours_and_the_published_figure_are_in_sight(
    open_tab, shared_runs: Path
) -> None:
    """Both columns lay to the right of the screen."""
    perform(Lab(shared_runs), "dodo-ring", True)
    page = open_tab("/lab/dodo-ring", width=390).page
    cells = page.locator(".lab-numbers tbody td")
    expect(cells.first).to_be_visible()
    assert all(box["x"] + box["width"] <= 390 for box in (c.bounding_box() for c in cells.all()))
