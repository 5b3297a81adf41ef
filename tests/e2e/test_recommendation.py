"""Recommendations in a real browser: decide by mouse and by key, be told of refusals, watch.

The test plays the engine: it proposes, and carries recommendations on through their life.
"""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support.decisions import (
    clean_up,
    confirm,
    grown,
    item,
    known_to,
    press,
    status,
    until_status,
)
from tests.support.proposals import advance, propose
from tests.support.waiting import wait_until
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.recommendation import Figures, GuardState, Status
from weir.metrics.store.users import Role

WORLD = "two clusters"


@pytest.fixture(autouse=True)
def clean(pages_store, pages_feeder):
    wait_until(lambda: len(pages_store.latest()) == 2, 20, "both clusters report")
    yield
    clean_up(pages_store)


def test_the_inbox_explains_and_an_approval_is_bound_to_it(open_tab, pages_store):
    shut = GuardState(
        name="stabilisation", open=False, reason="wide is to settle", opens_at=time.time() + 500
    )
    found = propose(pages_store, error_share=0.2, guards=(shut,))
    page = open_tab("/").page
    box = item(page, found)
    expect(box).to_contain_text("Scale wide out: 3 → 5 executors")
    expect(box).to_contain_text("load > max load")
    expect(box).to_contain_text("wide is to settle")
    expect(box.locator(".guard-opens [data-until]")).to_have_text(re.compile(r"[78]:\d\d min"))
    expect(box.locator(".chip [data-until]")).to_have_text(re.compile(r"\d+(:\d\d min| s)"))
    expect(box.locator(".band").first).to_contain_text(" to ")
    expect(box.locator('[data-live="cluster/wide/load"]')).to_have_text(re.compile(r"\d+ %"))
    dialog = press(page, found, "approve")
    expect(dialog).to_contain_text("wide asks Spark for 2 executors more: 3 now, 5 then")
    assert status(pages_store, found) is Status.PROPOSED, "opening the dialog decides nothing"
    dialog.get_by_label("Comment").fill("Night shift is here")
    confirm(dialog, "Approve")
    expect(page.locator("#toast")).to_contain_text("Approved: Scale wide out")
    expect(dialog).to_be_hidden()
    kept = pages_store.recommendation(found.id)
    assert (kept.status, kept.history[-1].by) == (Status.APPROVED, "admin")
    assert kept.history[-1].why == "Night shift is here"
    assert kept.history[-1].address
    expect(page.locator(f'[data-under-way="{found.id}"]')).to_contain_text("approved")
    expect(box).to_have_count(0)


def test_a_rejection_carries_its_comment(open_tab, pages_store):
    pages_store.save_settings(ENGINE, {"comment_required": True})
    found = propose(pages_store)
    page = open_tab("/").page
    dialog = press(page, found, "reject")
    expect(dialog).to_contain_text("Nothing is done")
    confirm(dialog, "Reject")
    expect(dialog.locator("#dialog-error")).to_contain_text("a comment is required")
    assert status(pages_store, found) is Status.PROPOSED
    dialog.get_by_label("Comment").fill("It is a test load")
    confirm(dialog, "Reject")
    until_status(pages_store, found, Status.REJECTED)
    outcome = page.locator(f'[data-outcome="{found.id}"]')
    expect(outcome).to_contain_text("It is a test load")


def test_back_and_escape_decide_nothing(open_tab, pages_store):
    found = propose(pages_store)
    page = open_tab("/").page
    dialog = press(page, found, "approve")
    confirm(dialog, "Back")
    expect(dialog).to_be_hidden()
    press(page, found, "reject")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert status(pages_store, found) is Status.PROPOSED


def test_keys_choose_approve_and_reject(open_tab, pages_store):
    first = propose(pages_store, "wide", 5, ttl_s=200)
    second = propose(pages_store, "narrow", 2, ttl_s=400)
    page = open_tab("/").page
    expect(item(page, second)).to_be_visible()
    page.keyboard.press("j")
    expect(item(page, first)).to_be_focused()
    page.keyboard.press("j")
    expect(item(page, second)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(item(page, first)).to_be_focused()
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Scale wide out")
    comment = dialog.get_by_label("Comment")
    expect(comment).to_be_focused()
    page.keyboard.type("ajar jkr?")  # typing is only typing
    expect(comment).to_have_value("ajar jkr?")
    assert status(pages_store, first) is Status.PROPOSED
    page.keyboard.press("Enter")
    until_status(pages_store, first, Status.APPROVED)
    expect(dialog).to_be_hidden()
    expect(item(page, first)).to_have_count(0)
    page.keyboard.press("j")
    expect(item(page, second)).to_be_focused()
    page.keyboard.press("r")
    expect(dialog).to_contain_text("Nothing is done")
    expect(comment).to_be_focused()
    page.keyboard.press("Enter")
    until_status(pages_store, second, Status.REJECTED)


def test_keys_open_details_and_help_but_not_while_typing(open_tab, pages_store):
    found = propose(pages_store)
    page = open_tab("/").page
    expect(item(page, found)).to_be_visible()
    rate = page.get_by_role("textbox", name="Rate")
    (rate if rate.count() else page.locator(".workload input").first).focus()
    page.keyboard.press("a")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("h1").first.evaluate("e => document.activeElement.blur()")
    page.keyboard.press("?")
    expect(page.locator("#keys-help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys-help")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/recommendation/{found.id}$"))


def test_an_item_stays_as_it_is_while_others_come_and_go(open_tab, pages_store):
    above = propose(pages_store, ttl_s=200.0)
    found = propose(pages_store, "narrow", 2, ttl_s=300.0)
    page = open_tab("/").page
    box = item(page, found)
    expect(box).to_contain_text("Scale narrow out")
    box.evaluate("element => { element.mine = true; element.focus(); }")
    advance(pages_store, above, Status.REJECTED)
    expect(item(page, above)).to_have_count(0)
    expect(page.locator(f'[data-outcome="{above.id}"]')).to_have_count(1)
    sooner = propose(pages_store, ttl_s=100.0)
    expect(item(page, sooner)).to_contain_text("Scale wide out")
    assert box.evaluate("element => element.mine && document.activeElement === element")
    order = [e.get_attribute("data-recommendation") for e in page.locator(".proposal").all()]
    assert order == [sooner.id, found.id]


def test_two_browsers_approve_at_once_one_wins_the_other_is_told(open_tab, pages_store):
    found = propose(pages_store)
    one, two = open_tab("/").page, open_tab("/", role=Role.APPROVER).page
    dialogs = [press(page, found, "approve") for page in (one, two)]
    for page in (one, two):  # both clicks are on their way before either is answered
        page.evaluate("document.getElementById('dialog-confirm').click()")
    until_status(pages_store, found, Status.APPROVED)
    decided = [e for e in pages_store.recommendation(found.id).history if e.by != "engine"]
    assert [e.status for e in decided] == [Status.APPROVED], "approved once"
    winner = decided[0].by
    loser = dialogs[1] if winner == "admin" else dialogs[0]
    expect(loser.locator("#dialog-error")).to_contain_text(f"It was approved already by {winner}")


def test_a_stale_approval_is_refused_and_a_new_proposal_offered(
    open_tab, pages_store, pages_feeder
):
    found = propose(pages_store)
    page = open_tab("/").page
    dialog = press(page, found, "approve")
    try:
        grown(pages_store, pages_feeder, 4)  # the world drifts while the dialog is open
        confirm(dialog, "Approve")
        error = dialog.locator("#dialog-error")
        expect(error).to_contain_text(
            "Not approved: wide has 4 executors now, and the plan was made for 3"
        )
        assert status(pages_store, found) is Status.SUPERSEDED
        error.get_by_role("link", name="Look at the new proposal").click()
        expect(page.locator("h1")).to_have_text("Scale wide out: 4 → 5 executors")
        page.goto(page.url.split("/recommendation")[0])
        outcome = page.locator(f'[data-outcome="{found.id}"]')
        expect(outcome).to_contain_text("There is a newer proposal")
    finally:
        grown(pages_store, pages_feeder, 3)


def test_four_eyes(open_tab, pages_store):
    pages_store.save_settings(ENGINE, {"four_eyes": True})
    found = propose(pages_store, by="admin")
    page = open_tab("/").page
    expect(item(page, found)).to_contain_text("Four eyes: admin asked for it")
    dialog = press(page, found, "approve")
    confirm(dialog, "Approve")
    expect(dialog.locator("#dialog-error")).to_contain_text("Somebody else has to approve")
    other = open_tab("/", role=Role.APPROVER).page
    confirm(press(other, found, "approve"), "Approve")
    until_status(pages_store, found, Status.APPROVED)


def test_a_viewer_may_look_only(open_tab, pages_store):
    found = propose(pages_store)
    page = open_tab("/", role=Role.VIEWER).page
    button = item(page, found).locator('[data-verb="approve"]')
    expect(button).to_be_disabled()
    expect(page.get_by_role("button", name="Pause all")).to_be_disabled()


def test_the_page_of_a_recommendation_follows_its_life(open_tab, pages_store):
    found = propose(pages_store)
    page = open_tab(f"/recommendation/{found.id}").page
    standing = page.locator(".standing")
    expect(standing).to_have_attribute("data-status", "proposed")
    standing.locator('[data-verb="approve"]').click()
    confirm(page.get_by_role("dialog"), "Approve")
    expect(standing).to_have_attribute("data-status", "approved")
    now = pages_store.recommendation(found.id)
    now = advance(pages_store, now, Status.APPLYING)
    expect(standing).to_have_attribute("data-status", "applying")
    now = advance(pages_store, now, Status.APPLIED, applied_at=time.time())
    now = advance(
        pages_store, now, Status.EFFECTIVE, measured=Figures(load={"wide": 0.37}),
        effectiveness=0.93, verdict="It came true.",
    )  # fmt: skip
    expect(standing).to_contain_text("It helped.")
    expect(page.locator(".predicted")).to_contain_text("37 %")
    expect(page.locator(".history > li")).to_have_count(5)
    expect(page.locator(".history")).to_contain_text("by admin")
    expect(page.locator(".history")).to_contain_text("from 127.0.0.1")
    marks = page.locator('[data-chart="wide/load"] .events')
    expect(marks).to_contain_text("Scale wide out: 3 → 5 executors (effective)")
    expect(standing.locator('[data-verb="rollback"]')).to_be_visible()


def test_cancel_takes_back_what_was_approved(open_tab, pages_store):
    found = advance(pages_store, propose(pages_store), Status.APPROVED, by="ada")
    page = open_tab("/").page
    page.locator(f'[data-under-way="{found.id}"] [data-verb="cancel"]').click()
    confirm(page.get_by_role("dialog"), "Take it back")
    until_status(pages_store, found, Status.CANCELLED)


def test_rollback_is_previewed_and_becomes_a_recommendation(
    open_tab, pages_store, pages_feeder, pages_web
):
    found = propose(pages_store)
    done = advance(pages_store, found, Status.APPROVED, Status.APPLYING, by="ada")
    done = advance(pages_store, done, Status.APPLIED, applied_at=time.time())
    advance(pages_store, done, Status.INEFFECTIVE, verdict="It did not help.")
    page = open_tab(f"/recommendation/{found.id}").page
    page.locator('[data-verb="rollback"]').click()
    # The feeder still has three executors: there is nothing to undo, and it says so.
    expect(page.locator("#toast")).to_contain_text("nothing left of it to undo")
    try:
        grown(pages_store, pages_feeder, 5)
        known_to(pages_web, 5)
        page.locator('[data-verb="rollback"]').click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("scale wide in: 5 → 3 executors")
        expect(dialog).to_contain_text("gives 2 executors back")
        confirm(dialog, "Roll back")
        wait_until(
            lambda: [r for r in pages_store.recommendations() if r.rollback_of == found.id],
            20,
            "a recommendation that takes it back",
        )
        back = next(r for r in pages_store.recommendations() if r.rollback_of == found.id)
        assert (back.status, back.by) == (Status.APPROVED, "admin")
        expect(page.locator(".standing")).to_contain_text("Undone by")
        expect(page.locator('[data-verb="rollback"]')).to_have_count(0)
    finally:
        grown(pages_store, pages_feeder, 3)


def test_an_unknown_recommendation(open_tab):
    page = open_tab("/recommendation/nobody").page
    expect(page.locator("h1")).to_have_text("There is no recommendation nobody")
