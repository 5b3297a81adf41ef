"""Recommendations as the engine makes them, for tests that play the engine."""

import time
import uuid
from typing import Any

from msgspec.structs import replace

from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.recommendation import ENGINE, Recommendation, Status, move_to
from weir.controllers.engine.trail import entry_of
from weir.controllers.model.decision import Prediction, Reason, Scale
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.redis_store import RedisStore


def propose(
    store: RedisStore, cluster: str = "wide", executors: int = 5, *, ttl_s: float = 300.0,
    by: str = ENGINE, **more: Any,
) -> Recommendation:  # fmt: skip
    """A recommendation to scale, as the engine makes one for the world as it is reported."""
    now = time.time()
    snapshot = Snapshot.of(store.latest(), now)
    found = snapshot.cluster(cluster)
    assert found is not None
    load = snapshot.load(cluster)
    after = load * found.executors / executors
    scale = Scale(
        cluster=cluster,
        executors=executors,
        before=found.executors,
        reason=Reason(
            text=f"{cluster} is fuller than it should be.",
            rule="load > max_load",
            numbers={"load": load, "max_load": 0.4},
        ),
        prediction=Prediction(load={cluster: after}, executors={cluster: executors}),
    )
    made_ = new_recommendation(
        scale, snapshot, id=uuid.uuid4().hex[:24], source="rate_based" if by == ENGINE else "by hand",
        now=now, ttl_s=ttl_s, by=by,
    )  # fmt: skip
    asked = replace(made_, **more)
    assert store.save_recommendation(asked, audit=entry_of(asked))
    return asked


def advance(
    store: RedisStore, found: Recommendation, *statuses: Status, by: str = ENGINE, why: str = "",
    **more: Any,
) -> Recommendation:  # fmt: skip
    """The recommendation some steps further in its life; `more` are figures of the last one."""
    for status in statuses:
        last = more if status is statuses[-1] else {}
        moved = move_to(found, status, at=time.time(), by=by, why=why)
        found = replace(moved, **last)
        assert store.save_recommendation(found, audit=entry_of(found))
    return found
