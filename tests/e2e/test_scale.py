"""The Scale page in a real browser; the feeder plays the hosts and asks the scalers."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support.access import barriers, needs_axe
from tests.support.scale_pages import OVERDUE, opened, pages_feeder, scale, toast
from tests.support.waiting import wait_until
from weir.controllers.engine.propose.scaling import scale_group, scaler_group
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.scaling.registry import scalers
from weir.metrics.store.users import Role

__all__ = ["pages_feeder", "scale"]


def test_a_cluster_is_chosen(open_tab, pages_store):
    page = open_tab("/").page
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Scale").click()
    row = page.locator('[data-cluster-row="narrow"]')
    expect(row).to_contain_text("3 wanted, 2 granted")
    expect(page.locator('[data-cluster-row="wide"]')).to_contain_text("wanted")
    expect(row).to_contain_text("Fewest executors")
    row.get_by_role("link", name="narrow").click()
    expect(page.locator("h1")).to_have_text("Scale narrow")
    nav = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Scale")
    expect(nav).to_have_attribute("aria-current", "true")
    page.get_by_role("navigation", name="Cluster").get_by_role("link", name="wide").click()
    expect(page.locator("h1")).to_have_text("Scale wide")


def test_answers_executors_and_reason_are_shown_and_move(scale, pages_store):
    page = scale.page
    note = page.locator("#scale-note")
    expect(note).to_contain_text("The engine follows Fewest executors for the target.")
    expect(note).to_contain_text(OVERDUE)
    assert page.locator("[data-scaler]").count() == len(scalers())
    for name in scalers():
        expect(page.locator(f'[data-scaler="{name}"]')).not_to_contain_text("Not asked yet")
    expect(page.locator('[data-scaler="fixed"]')).to_contain_text("3 → 6")
    expect(page.locator('[data-scaler="fixed"]')).to_contain_text("executors = set: set 6")
    expect(page.locator('[data-scaler="no_op"]')).to_contain_text("stay")
    expect(page.locator(".tag-followed:not(:empty)")).to_have_count(1)
    followed = pages_store.scale_outlooks()["narrow"].answer("horizon").decision.reason
    expect(page.locator('[data-scaler="horizon"]')).to_contain_text(followed.rule.split(" ")[0])
    expect(page.locator('[data-live="scale/narrow/steps"]')).to_have_text(
        "3 wanted, 2 granted, 2 present"
    )
    chart = "weir.models['narrow/scale']"
    names = page.evaluate(f"{chart}.traces.map((t) => t.name)")
    assert names == ["load, in executors", "wanted", "granted", "present", "latency (right)"]
    assert page.evaluate(f"{chart}.y.slice(1, 4).map((c) => c.at(-1))") == [3, 2, 2]
    expect(page.locator('[data-chart="narrow/scale"] .y-right').first).to_contain_text("s")
    before = page.evaluate(f"{chart}.x.length")
    wait_until(lambda: page.evaluate(f"{chart}.x.length") > before, 10, "new points")
    assert scale.errors == []


@needs_axe
def test_nothing_serious_keeps_anybody_out(scale):
    assert barriers(scale.page) == []


def test_scaling_by_hand_is_predicted_then_asked_for_and_followed(scale, pages_store):
    page = scale.page
    number = page.get_by_role("textbox", name="Executors")
    button = page.locator("#scale-apply")
    expect(page.locator("#scale-prediction")).to_contain_text("Nothing would change")
    expect(button).to_be_disabled()
    number.fill("99")
    expect(page.locator("#scale-prediction")).to_contain_text("outside the limits 1 to 6")
    expect(button).to_be_disabled()
    number.fill("5")
    expect(page.locator("#scale-prediction")).to_contain_text("It would be asked for 5 instead")
    expect(page.locator("#scale-prediction")).to_contain_text(re.compile(r"Load.* → \d+ %"))
    expect(page.locator("#scale-prediction")).to_contain_text("by the queueing model")
    known = {r.id for r in pages_store.recommendations()}
    page.get_by_role("textbox", name="Why").fill("sale at noon")
    page.get_by_role("button", name="Scale to 5").click()
    expect(toast(page)).to_contain_text("Scaling narrow to 5 executors is approved")
    made = [r for r in pages_store.recommendations() if r.id not in known]
    assert len(made) == 1
    assert (made[0].decision.executors, made[0].decision.before) == (5, 3)
    assert (made[0].by, made[0].comment, made[0].status) == (
        "admin",
        "sale at noon",
        Status.APPROVED,
    )
    assert made[0].decision.prediction.latency_s is not None
    expect(button).to_be_disabled()
    now = time.time()
    pages_store.submit(
        Command(
            id=made[0].id, cluster="narrow", action=ScaleTo(executors=5), issued_at=now,
            expires_at=now + 60, by="engine",
        )
    )  # fmt: skip
    assert pages_store.claim(made[0].id, "agent", now)
    pages_store.report(
        CommandResult(id=made[0].id, status=CommandStatus.RUNNING, at=now, progress=0.5,
                      message="4 of 5 executors")
    )  # fmt: skip
    line = page.locator(f'[data-command="{made[0].id}"]')
    expect(line).to_contain_text("4 of 5 executors")
    expect(line.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
    pages_store.report(CommandResult(id=made[0].id, status=CommandStatus.DONE, at=time.time()))
    expect(line).to_contain_text("done")
    expect(page.locator("#scale-note")).to_contain_text(" ago: 3 → 5 by hand, asked for by admin")


def test_another_scaler_is_followed(scale, pages_store):
    page = scale.page
    try:
        page.get_by_role("button", name="Follow No scaling").click()
        expect(toast(page)).to_contain_text("The engine follows No scaling on narrow from now on")
        assert pages_store.settings(scale_group("narrow")) == {"scaler": "no_op"}
        expect(page.locator('[data-scaler="no_op"] .tag-followed')).to_have_text("followed")
        expect(page.locator('[data-scaler="horizon"] .tag-followed')).to_be_empty()
        expect(page.locator("#scale-note")).to_contain_text("follows No scaling")
        expect(page.get_by_role("button", name="Follow No scaling")).to_be_hidden()
        newest = pages_store.audit(limit=1)[0]
        assert (newest.action, newest.by) == ("settings.changed", "admin")
    finally:
        pages_store.save_settings(scale_group("narrow"), {})


def test_settings_with_a_bad_value_a_good_one_and_the_defaults(scale, pages_store):
    page, name = scale.page, scaler_group("narrow", "drs")
    dialog = page.get_by_role("dialog")

    def open_form():
        page.get_by_role("button", name="Settings of DRS queueing model").click()
        expect(dialog).to_contain_text("DRS queueing model on narrow")
        return dialog.get_by_role("textbox", name="T max")

    try:
        most = open_form()
        expect(dialog).to_contain_text(
            "Scale out above this latency (default 10 s, at least 0.001)"
        )
        most.fill("-1")
        dialog.get_by_role("button", name="Save").click()
        sentence = "T max must be a number of at least 0.001 s."
        expect(dialog.locator(".mantine-InputWrapper-error")).to_have_text(sentence)
        expect(dialog.locator("#dialog-error")).to_have_text(sentence)
        assert pages_store.settings(name) == {}
        most.fill("3")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator("#dialog-error")).to_contain_text("must be below")
        assert pages_store.settings(name) == {}
        most.fill("20")
        dialog.get_by_label("Recommend only").click()
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        expect(toast(page)).to_contain_text("Kept: DRS queueing model on narrow")
        assert pages_store.settings(name) == {"t_max_s": 20, "recommend_only": True}
        expect(open_form()).to_have_value("20 s")
        dialog.get_by_role("button", name="Defaults").click()
        expect(dialog.get_by_role("textbox", name="T max")).to_have_value("10 s")
        assert pages_store.settings(name) == {"t_max_s": 20, "recommend_only": True}
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        assert pages_store.settings(name) == {}
        open_form()
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_be_hidden()
    finally:
        pages_store.save_settings(name, {})


def test_limits_are_set_for_all_scalers(scale, pages_store):
    page = scale.page
    try:
        page.get_by_role("button", name="Limits of narrow").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("textbox", name="Min executors").fill("5")
        dialog.get_by_role("textbox", name="Max executors").fill("4")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.locator("#dialog-error")).to_contain_text("must not be above")
        dialog.get_by_role("textbox", name="Min executors").fill("2")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        assert pages_store.settings(scale_group("narrow")) == {
            "min_executors": 2,
            "max_executors": 4,
        }
        expect(page.locator('[data-live="scale/narrow/limits"]')).to_have_text("2 to 4")
        expect(page.locator('[data-scaler="fixed"]')).to_contain_text("3 → 4")
    finally:
        pages_store.save_settings(scale_group("narrow"), {})


def test_without_an_agent_there_are_recommendations_only(open_tab):
    page = opened(open_tab, "wide").page
    expect(page.locator("#scale-note")).to_contain_text("recommendations only")
    expect(page.locator(".refusal")).to_contain_text("no agent")
    expect(page.locator("#scale-apply")).to_have_count(0)
    expect(page.locator('[data-live="scale/wide/steps"]')).to_contain_text("grants not reported")


def test_a_viewer_sees_everything_and_changes_nothing(open_tab, pages_store):
    page = opened(open_tab, role=Role.VIEWER).page
    for name in ("Follow No scaling", "Reset the table of narrow"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    page.get_by_role("textbox", name="Executors").fill("6")
    expect(page.locator("#scale-prediction")).to_contain_text("asked for 6")
    expect(page.locator("#scale-prediction")).to_contain_text("needs the role approver")
    expect(page.locator("#scale-apply")).to_be_disabled()
    page.get_by_role("button", name="Settings of Thresholds").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Thresholds on narrow")
    save = dialog.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    save.evaluate("e => { e.disabled = false; e.click(); }")  # the server refuses it anyhow
    expect(toast(page)).to_contain_text("This needs the role admin; you are viewer.")
    assert pages_store.settings(scaler_group("narrow", "thresholds")) == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_in_both_themes_without_a_complaint(open_tab, pages_web, width, theme):
    tab = opened(open_tab, width=width, theme=theme)
    page = tab.page
    expect(page.locator("[data-scatter] .moment").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Settings of Q-learning").click()
    expect(page.get_by_role("dialog")).to_contain_text("begins a new table")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.errors == []
    assert [u for u in tab.requests if not u.startswith((pages_web.url, "data:", "blob:"))] == []


def test_a_silent_engine_is_said(scale, pages_feeder):
    page = scale.page
    pages_feeder.stop()
    try:
        expect(page.locator("#scale-note")).to_contain_text("not at work")
        expect(page.locator(".page-head .data-age")).to_contain_text("no data for")
        page.get_by_role("textbox", name="Executors").fill("4")
        expect(page.locator("#scale-prediction")).to_contain_text("rests on old figures")
    finally:
        pages_feeder.start()
    expect(page.locator("#scale-note")).not_to_contain_text("not at work")
