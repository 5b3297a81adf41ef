"""Setting how operators share the cores of their cluster."""

import random
from collections.abc import Mapping

import pytest

from tests.support.models import demo, sample_of
from weir.controllers import service
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.stored import share_settings
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.shares import ShareSource
from weir.metrics.store.memory_store import MemoryStore

NOW = 1000.0
ASK = service.Request(by="ada", at=NOW, comment="a drill")


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore(lambda: NOW)
    for model in demo():
        assert made.append(sample_of(model, 100.0, NOW, 2.0, random.Random(1)))
    return made


def test_weights_hold_until_others_are_set(store: MemoryStore) -> None:
    service.set_shares(store, ASK, "narrow", {"topic_count": 4})
    kept = share_settings(store, "narrow")
    assert (kept.weights, kept.source) == ("topic_count=4", ShareSource.HAND)
    service.set_shares(store, ASK, "narrow", source=ShareSource.MODEL)
    kept = share_settings(store, "narrow")
    assert (kept.weights, kept.source) == ("topic_count=4", ShareSource.MODEL)
    service.set_shares(store, ASK, "narrow", {})
    assert share_settings(store, "narrow").weights == ""
    trail = store.audit(10)
    assert [e.action for e in trail] == ["shares.changed"] * 3
    assert trail[-1].detail == "topic_count=4, by hand"
    assert trail[-1].why == "a drill"


@pytest.mark.parametrize(
    ("cluster", "weights", "error"),
    [
        ("narrow", {"topic_count": 0}, InvalidInput),
        ("narrow", {"topic_count": 1001}, InvalidInput),
        ("narrow", {"topic_count": "much"}, InvalidInput),
        ("narrow", {"extract": 2}, NotFound),
        ("nowhere", {}, NotFound),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_changes(
    store: MemoryStore, cluster: str, weights: Mapping[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        service.set_shares(store, ASK, cluster, weights)
    assert not store.audit(10)
    assert share_settings(store, "narrow").weights == ""


def test_a_reason_may_be_required(store: MemoryStore) -> None:
    store.save_settings(ENGINE, {"comment_required": True})
    with pytest.raises(InvalidInput):
        service.set_shares(store, service.Request(by="ada", at=NOW), "narrow", {"topic_count": 4})


def test_a_job_that_is_only_watched_has_none(store: MemoryStore) -> None:
    from msgspec.structs import replace

    sample = sample_of(demo()[0], 100.0, NOW, 2.0, random.Random(1))
    cluster = replace(sample.cluster, name="job", hosted=False)
    operators = tuple(replace(o, cluster="job") for o in sample.operators)
    store.append(replace(sample, cluster=cluster, operators=operators))
    with pytest.raises(Refused):
        service.set_shares(store, ASK, "job", {})
