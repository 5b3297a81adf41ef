"""The audit trail in a real browser: look, filter, page, check the chain, export."""

import csv
import io
import json
import re
import time

import msgspec
import pytest
from playwright.sync_api import expect

from tests.support.proposals import propose
from tests.support.waiting import wait_until
from weir.controllers.engine.audit import AuditEntry, first_break
from weir.metrics.store import keys
from weir.metrics.store.users import Role


@pytest.fixture(scope="module")
def trail(pages_store, pages_feeder):
    """Entries of several people, the newest a recommendation."""
    now = time.time()
    for number in range(70):
        pages_store.append_audit(
            AuditEntry(
                at=now - 7200 + number,
                by="ada" if number % 2 else "grace",
                action="mode.changed" if number % 3 else "settings.changed",
                subject=f"cluster-{number}",
                why="=HYPERLINK()" if number == 7 else "night shift" if number == 8 else "",
                address="10.0.0.7",
            )
        )
    return propose(pages_store)


@pytest.fixture
def page(trail, open_tab):
    page = open_tab("/audit").page
    expect(page.locator("[data-entry]").first).to_be_visible()
    return page


def numbers(page):
    return [int(n) for n in page.locator("[data-entry]").evaluate_all(
        "items => items.map(item => item.dataset.entry)")]  # fmt: skip


def test_newest_first_with_everything_about_an_entry(page, trail):
    shown = numbers(page)
    assert len(shown) == 50
    assert shown == sorted(shown, reverse=True)
    first = page.locator("[data-entry]").first
    expect(first).to_contain_text("recommendation proposed")
    expect(first.locator("[data-stamp]")).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    first.locator("summary").click(position={"x": 5, "y": 5})
    expect(first.get_by_role("link")).to_have_attribute("href", f"/recommendation/{trail.id}")
    expect(first).to_contain_text(trail.plan_hash)
    expect(first).to_contain_text('"load"')


def test_older_and_newer(page):
    before = numbers(page)
    page.get_by_role("button", name="Older").click()
    expect(page.locator(f'[data-entry="{before[0]}"]')).to_have_count(0)
    assert numbers(page)[0] < before[-1]
    expect(page.get_by_role("button", name="Older")).to_be_disabled()
    page.get_by_role("button", name="Newer").click()
    expect(page.locator(f'[data-entry="{before[0]}"]')).to_have_count(1)
    expect(page.get_by_role("button", name="Newer")).to_be_disabled()


def test_filters_narrow_it_down_and_stand_in_the_address(page, open_tab):
    page.get_by_label("Who").fill("ada")
    page.get_by_role("textbox", name="Action").fill("settings")
    expect(page.locator("[data-entry]")).to_have_count(12)
    assert {t.inner_text() for t in page.locator(".trail-who").all()} == {"ada"}
    expect(page).to_have_url(re.compile(r"who=ada&action=settings"))
    other = open_tab("/" + page.url.split("/", 3)[3]).page
    expect(other.get_by_label("Who")).to_have_value("ada")
    expect(other.locator("[data-entry]")).to_have_count(12)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("[data-entry]")).to_have_count(50)
    expect(page.get_by_label("Who")).to_have_value("")


def test_search_and_time(page):
    page.get_by_label("Search").fill("night shift")
    expect(page.locator("[data-entry]")).to_have_count(1)
    page.get_by_label("Search").fill("no such word anywhere")
    expect(page.locator("#audit-list")).to_contain_text("No entry fits")
    page.get_by_label("Search").fill("")
    local = page.evaluate(
        "() => { const at = new Date(Date.now() - 3600e3);"
        " return new Date(at - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 16); }"
    )
    page.get_by_label("From").fill(local)
    expect(page.locator("[data-entry]").last).to_contain_text("recommendation")
    wait_until(lambda: 0 < len(numbers(page)) < 10, 15, "only what is newer")


def test_exports_are_what_the_filter_shows(page):
    page.get_by_label("Search").fill("HYPERLINK")
    expect(page.locator("[data-entry]")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [r["why"] for r in rows] == ["'=HYPERLINK()"], "no spreadsheet runs it"
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("[data-entry]")).to_have_count(50)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export JSON lines").click()
    lines = download.value.path().read_text().splitlines()
    entries = [msgspec.json.decode(line, type=AuditEntry) for line in reversed(lines)]
    assert len(entries) >= 71
    assert first_break(entries) is None, "the file can be checked on its own"
    assert json.loads(lines[0])["number"] == entries[-1].number


def test_an_export_wants_a_session(pages_web, trail):
    with pages_web.api(Role.VIEWER) as client:
        answer = client.get("/audit/export.jsonl", params={"who": "grace"})
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]
        assert all(json.loads(line)["by"] == "grace" for line in answer.text.splitlines())
        assert client.get("/audit/export.csv", params={"since": "noon"}).status_code == 400
        client.headers.pop("authorization")
        assert client.get("/audit/export.csv").status_code in (302, 303, 307, 401)


def test_tampering_shows(page, pages_store):
    chain = page.locator("#audit-chain")
    expect(chain).to_contain_text("every seal fits")
    victim = pages_store.audit(40)[-1]
    pages_store.client.xdel(keys.AUDIT, f"{victim.number}-0")
    page.get_by_role("button", name="Check again").click()
    expect(chain).to_contain_text(f"The chain is broken at entry {victim.number + 1}")
    expect(chain.locator("[data-chain]")).to_have_attribute("data-chain", "broken")
