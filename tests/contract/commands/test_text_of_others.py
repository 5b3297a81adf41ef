"""Names and reasons that others wrote, on a terminal: no colours, no crash, nothing that steers it."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.processes import weir
from tests.support.world import wide
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.decision import Reason, Scale
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer

NAME = "a[/b] [red]x"


def said(redis_url: str, *words: str) -> str:
    env = {**os.environ, "WEIR_REDIS_URL": redis_url, "COLUMNS": "300"}
    done = subprocess.run(weir(*words), env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def store(redis_server: RedisServer) -> RedisStore:
    found = RedisStore.at(redis_server.url)
    found.client.flushall()
    return found


def test_a_status_with_brackets_in_names(store: RedisStore, redis_server: RedisServer) -> None:
    sample = wide(store.now())
    operator = replace(sample.operators[0], name="o[/x]", cluster=NAME)
    assert store.append(
        replace(sample, cluster=replace(sample.cluster, name=NAME), operators=(operator,))
    )
    told = said(redis_server.url, "status")
    assert NAME in told
    assert "o[/x]" in told


def test_reasons_that_steer_a_terminal(store: RedisStore, redis_server: RedisServer) -> None:
    reason = Reason(text="\x1b[2Jall is well [/x]")
    store.save_recommendation(
        Recommendation(
            id="r1", at=1.0, expires_at=9.0, source="rate_based", clusters=("narrow",),
            decision=Scale(cluster="narrow", executors=2, before=1, reason=reason),
        )
    )  # fmt: skip
    told = said(redis_server.url, "recommendations")
    assert "all is well [/x]" in told
    assert "\x1b" not in told


def test_a_redis_that_has_no_room_is_one_sentence(
    store: RedisStore, redis_server: RedisServer, tmp_path: Path
) -> None:
    store.client.config_set("maxmemory", "1")
    try:
        env = {**os.environ, "WEIR_REDIS_URL": redis_server.url}
        done = subprocess.run(weir("pause"), env=env, capture_output=True, text=True)
    finally:
        store.client.config_set("maxmemory", "0")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
