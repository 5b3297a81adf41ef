"""The Scale page as tests open it: clusters that wait, learn and cannot be scaled."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.feeder import Feeder
from tests.support.models import demo
from tests.support.scalers import learned, remembered
from tests.support.waiting import wait_until
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, Initialisation, QSettings
from weir.pipeline.local.redis_server import RedisServer

COARSE: dict[str, Any] = {
    "latency_granularity_s": 10.0,
    "initialisation_mode": Initialisation.OPTIMISED,
}
"""A Q-table that is drawn whole, with bins that leave it room for figures."""
OVERDUE = "1 executor is overdue: 3 wanted, 2 present"


@pytest.fixture(scope="module")
def pages_feeder(pages_redis: RedisServer) -> Iterator[Feeder]:
    """narrow waits for an executor and has learned something; wide has no agent."""
    wide, narrow = models = demo()
    wide.agent = False
    narrow.executors, narrow.wanted, narrow.granted, narrow.message = 2, 3, 2, OVERDUE
    feeder = Feeder(pages_redis.url, models, period_s=1.0, wave=0.03, asks=True)
    feeder.history(2)
    feeder.store.save_settings(scaler_group("narrow", "qlearning"), COARSE)
    learner = QSettings(
        policy=ExplorationPolicy.DECREASING_EPSILON, epsilon=0.6, window_s=1.0, **COARSE
    )
    memory = learned(70, ends_at=time.time(), settings=learner)
    feeder.store.save_memories("narrow", remembered(memory))
    feeder.start()
    wait_until(lambda: feeder.store.scale_outlooks(), 30, "the scalers were asked")
    yield feeder
    feeder.stop()


@pytest.fixture
def scale(open_tab: Callable[..., Any]) -> Any:
    return opened(open_tab)


def opened(open_tab: Callable[..., Any], cluster: str = "narrow", **more: Any) -> Any:
    tab = open_tab(f"/scale/{cluster}", **more)
    expect(tab.page.locator("h1")).to_have_text(f"Scale {cluster}")
    expect(tab.page.locator("[data-qtable] .q-cell").first).to_be_attached()
    return tab


def toast(page: Page) -> Locator:
    return page.locator("#toast")
