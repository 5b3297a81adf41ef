"""`weir recommendations` on a narrow terminal, from a real Redis."""

import pytest
import typer
from typer.testing import CliRunner

from weir.commands.recommendations import register
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.decision import Reason, Scale
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.redis_server import RedisServer


def test_the_id_can_be_read_whole(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    why = "The rates to meet need 1.26 cores at 70 % utilisation; 1 is there."
    scale = Scale(cluster="narrow", executors=2, before=1, reason=Reason(text=why))
    asked = Recommendation(
        id="65f27b513b92f2aa65f27b51-back", at=1.0, expires_at=9.0, decision=scale,
        source="rate_based", clusters=("narrow",),
    )  # fmt: skip
    store = RedisStore.at(redis_server.url)
    store.client.flushall()
    store.save_recommendation(asked)
    app = typer.Typer()
    register(app)
    done = CliRunner().invoke(app, ["recommendations", "--redis", redis_server.url])
    assert done.exception is None
    assert asked.id in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
