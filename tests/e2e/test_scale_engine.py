"""The Scale page with the real engine: its answers, and a number by hand carried out."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support.engine import RealEngine
from tests.support.feeder import Feeder
from tests.support.models import demo
from tests.support.scale_pages import opened
from tests.support.waiting import wait_until
from weir.controllers.model.command import CommandResult, CommandStatus, ScaleTo


@pytest.fixture(scope="module")
def pages_feeder(pages_redis):
    """Hosts that hold their operators; the engine is another process."""
    feeder = Feeder(pages_redis.url, demo(), period_s=1.0, wave=0.03, obeys=True)
    feeder.history(2)
    feeder.start()
    yield feeder
    feeder.stop()


@pytest.fixture
def engine(pages_redis, pages_feeder, pages_store):
    engine = RealEngine(pages_redis.url).start()
    wait_until(
        lambda: "narrow" in pages_store.scale_outlooks(), 120, "the engine asked the scalers"
    )
    yield engine
    engine.stop()


def test_the_engine_carries_out_what_was_asked_for_by_hand(
    engine, open_tab, pages_store, pages_feeder
):
    tab = opened(open_tab)
    page, narrow = tab.page, pages_feeder.models[1]
    expect(page.locator("#scale-note")).to_contain_text("The engine follows")
    expect(page.locator('[data-scaler="fixed"]')).to_contain_text("1 → 6")
    points = page.locator("[data-scatter] .moment")
    wait_until(lambda: points.count() > 3, 60, "the queueing model is compared")
    page.get_by_role("textbox", name="Executors").fill("3")
    expect(page.locator("#scale-prediction")).to_contain_text("asks Spark for 2 executors more")
    page.get_by_role("button", name="Scale to 3").click()
    expect(page.locator("#toast")).to_contain_text("Scaling narrow to 3 executors is approved")
    wait_until(lambda: pages_store.open_commands("narrow"), 30, "a command for the agent")
    command = pages_store.open_commands("narrow")[-1]
    assert command.action == ScaleTo(executors=3)
    assert pages_store.recommendation(command.id).by == "admin"
    assert pages_store.claim(command.id, "agent", time.time())
    narrow.wanted, narrow.granted = 3, 3
    pages_store.report(
        CommandResult(id=command.id, status=CommandStatus.RUNNING, at=time.time(), progress=0.5)
    )
    steps = page.locator('[data-live="scale/narrow/steps"]')
    expect(steps).to_have_text("3 wanted, 3 granted, 1 present")
    expect(page.locator(f'[data-command="{command.id}"]')).to_contain_text("running")
    narrow.executors = 3
    pages_store.report(CommandResult(id=command.id, status=CommandStatus.DONE, at=time.time()))
    expect(steps).to_have_text("3 wanted, 3 granted, 3 present")
    last = page.locator(".note-last")
    expect(last).to_contain_text(" ago: 1 → 3 by hand, asked for by admin")
    expect(last).to_contain_text(re.compile("applied|effective"))
    assert tab.errors == []
