"""A dead cluster in the control room: what died, what was rescued where, after how many seconds."""

import time
from collections.abc import Callable

from playwright.sync_api import expect

from tests.support.browser import Tab
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.model.decision import Move
from weir.controllers.model.failover import Death
from weir.metrics.store.redis_store import RedisStore

WORLD = "two clusters"


_SWALLOW = """() => {
  const set = Element.prototype.setAttribute;
  window.swallowed = 0;
  Element.prototype.setAttribute = function (name, value) {
    const lost = name === "data-message" && value.includes("Lost: topic_count") && !window.swallowed;
    if (lost) window.swallowed = 1;
    else set.call(this, name, value);
  };
}"""


def test_a_message_that_a_busy_browser_never_draws_is_made_up_for(
    open_tab: Callable[..., Tab], pages_store: RedisStore
) -> None:
    """Dash draws only the last of several messages that come at once."""
    now = time.time()
    page = open_tab("/").page
    card = page.locator('[data-cluster="narrow"]').first
    expect(card).not_to_contain_text("It died")
    page.evaluate(_SWALLOW)
    try:
        pages_store.save_deaths(
            [Death(cluster="narrow", at=now - 9.0, noticed_at=now - 6.0, lost=("topic_count",))]
        )
        wait_until(lambda: page.evaluate("() => window.swallowed"), 30, "one message is lost")
        expect(card).to_contain_text("Lost: topic_count")
    finally:
        pages_store.save_deaths([])


def test_the_page_says_what_died_and_what_became_of_it(
    open_tab: Callable[..., Tab], pages_store: RedisStore
) -> None:
    now = time.time()
    page = open_tab("/").page
    card = page.locator('[data-cluster="narrow"]').first
    expect(card).to_be_visible()
    expect(card).not_to_contain_text("It died")
    try:
        pages_store.save_deaths(
            [Death(cluster="narrow", at=now - 9.0, noticed_at=now - 6.0, lost=("topic_count",),
                   waits="topic_count: no cluster lives that could take it")]
        )  # fmt: skip
        expect(card).to_contain_text("Lost: topic_count")
        expect(card).to_contain_text("no cluster lives that could take it")
        move = Move(operator="topic_count", source="narrow", target="wide")
        state = MoveState(move=move, step=MoveStep.DONE, since=now, rescued_s=6.4, drained_at=now)
        pages_store.save_rebalance(
            Rebalance(id="rescue-1", at=now, moves=(state,), died_at={"narrow": now - 9.0})
        )
        pages_store.save_deaths([Death(cluster="narrow", at=now - 9.0, noticed_at=now - 6.0)])
        expect(card).to_contain_text("Rescued: topic_count in wide after 6.4 s")
        expect(page.get_by_text("narrow died.").first).to_be_visible()
    finally:
        pages_store.save_deaths([])
        pages_store.client.hdel("weir:rebalances", "rescue-1")
    expect(card).not_to_contain_text("It died")
