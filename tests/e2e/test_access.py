"""Every page in both themes, in a real browser, with axe: nothing serious keeps anybody out."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.access import COLOURS, barriers, needs_axe
from tests.support.proposals import propose
from tests.support.recorded_run import T0, recorded
from weir.components.pages.registry import PAGES

WORLD = "two clusters"


@pytest.fixture(scope="module")
def addresses(
    recorded_run: str, shared_runs: Path, pages_feeder, pages_store
) -> dict[str, tuple[str, ...]]:
    """Where each kind of page is seen with something on it."""
    run = recorded_run
    other = recorded(shared_runs, start=T0 + 7200, scale_at=900)
    advice = propose(pages_store, "wide")
    return {
        "control_room": ("/",),
        "balance": ("/balance",),
        "scale": ("/scale", "/scale/narrow"),
        "trends": ("/trends/load/15m",),
        "history": ("/history",),
        "lab": ("/lab", "/lab/dodo-ring"),
        "audit": ("/audit",),
        "settings": ("/settings", "/settings/wide"),
        "cluster": ("/cluster/narrow", "/cluster/nobody"),
        "operator": ("/operator/topic_count",),
        "recommendation": (f"/recommendation/{advice.id}",),
        "users": ("/users",),
        "compare": (f"/history/compare?a={run}&b={other}",),
        "what_if": (f"/history/{run}/what-if",),
        "tune": (f"/history/{run}/tune",),
        "replay": (f"/replay/{run}", f"/replay/{run}/audit", f"/replay/{run}/settings"),
        "sign_in": ("/password", "/sign-in"),  # the last one: nobody is signed in there
    }


@needs_axe
def test_nothing_serious_keeps_anybody_out(open_tab, pages_web, addresses):
    assert set(addresses) == set(PAGES.kinds), "a page that is walked past"
    tab = open_tab("/")
    page, found = tab.page, []
    page.emulate_media(reduced_motion="reduce")  # a colour on its way to another is neither
    for path in (path for paths in addresses.values() for path in paths):
        if path == "/sign-in":
            page.context.clear_cookies()
        page.goto(pages_web.url + path)
        expect(page.locator("h1").first).to_be_visible()
        expect(page.locator(".loading")).to_have_count(0)
        found += [f"{path}: {barrier}" for barrier in barriers(page)]
        page.evaluate("document.documentElement.dataset.mantineColorScheme = 'dark'")
        found += [f"{path}, dark: {barrier}" for barrier in barriers(page, COLOURS)]
    assert not found, "\n".join(found)
