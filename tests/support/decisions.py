"""Deciding on recommendations in a browser, and the world that drifts meanwhile."""

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import WebServer
from tests.support.feeder import Feeder
from tests.support.given import given_mode
from tests.support.proposals import advance
from tests.support.waiting import wait_until
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.sample import Mode
from weir.metrics.store.redis_store import RedisStore


def clean_up(store: RedisStore) -> None:
    """Nothing open, nothing set, every cluster in the mode that it begins with."""
    for found in store.recommendations():
        if found.status in (Status.PROPOSED, Status.APPROVED):
            advance(store, found, Status.CANCELLED, by="test")
        elif found.status is Status.APPLYING:
            advance(store, found, Status.FAILED, by="test")
    store.save_settings(ENGINE, {})
    for cluster in store.clusters():
        given_mode(store, cluster, Mode.APPROVE)


def item(page: Page, found: Recommendation) -> Locator:
    """A proposal in the inbox."""
    return page.locator(f'.proposal[data-recommendation="{found.id}"]')


def press(page: Page, found: Recommendation, verb: str) -> Locator:
    """Click a button of a proposal; the dialog that it opens."""
    item(page, found).locator(f'[data-verb="{verb}"]').click()
    expect(page.get_by_role("dialog")).to_be_visible()
    return page.get_by_role("dialog")


def confirm(dialog: Locator, name: str) -> None:
    """Click the button of a dialog."""
    dialog.get_by_role("button", name=name, exact=True).click()


def status(store: RedisStore, found: Recommendation) -> Status:
    """Where it stands in Redis."""
    kept = store.recommendation(found.id)
    assert kept is not None
    return kept.status


def until_status(store: RedisStore, found: Recommendation, wanted: Status) -> None:
    """Wait until it stands there."""
    wait_until(lambda: status(store, found) is wanted, 20, f"it is {wanted}")


def known_to(web: WebServer, executors: int) -> None:
    """All workers of the web server have read the report of so many executors in wide."""
    with web.api() as client:

        def known() -> set[int]:
            answers = (client.get("/api/v1/clusters/wide").json() for _ in range(8))
            return {answer["executors"] for answer in answers}

        wait_until(
            lambda: known() == {executors},
            20,
            f"the web server knows of {executors} executors",
        )


def grown(store: RedisStore, feeder: Feeder, executors: int) -> None:
    """The feeder's cluster wide reports so many executors."""
    next(m for m in feeder.models if m.name == "wide").executors = executors
    wait_until(
        lambda: any(
            s.cluster.executors == executors for s in store.latest() if s.cluster.name == "wide"
        ),
        20,
        f"wide reports {executors} executors",
    )
