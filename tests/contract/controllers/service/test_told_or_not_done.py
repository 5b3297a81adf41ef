"""What changes the state is told to the audit trail in the same step, or does not happen."""

import time
from collections.abc import Callable

import pytest
import redis

from tests.support.inside import Inside
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.model.errors import WeirError
from weir.controllers.service import Request
from weir.metrics.store import keys


class NoLab:
    """A lab that would fail the test if anything began."""

    def require(self, name: str) -> None: ...
    def require_idle(self) -> None: ...
    def start(self, name: str, quick: bool) -> None:
        pytest.fail("it was begun and not told")

    def stop(self, name: str) -> bool:
        return False

    def running(self) -> str:
        return ""


Verb = Callable[[Store, Request], object]
VERBS: dict[str, Verb] = {
    "pause_all": service.pause_all,
    "set_mode": lambda s, r: service.set_mode(s, r, "wide", "auto"),
    "set_settings": lambda s, r: service.set_settings(s, r, "engine", {"four_eyes": True}),
    "scale": lambda s, r: service.scale(s, r, "wide", 3),
    "move": lambda s, r: service.move(s, r, "top_n", "wide"),
    "tell_operator": lambda s, r: service.tell_operator(s, r, "stop", "top_n"),
    "set_rate": lambda s, r: service.set_rate(s, r, "tweets", 5.0, None),
    "run_experiment": lambda s, r: service.run_experiment(s, r, NoLab(), "dodo-ring", True),
    "reset_qtable": lambda s, r: service.reset_qtable(s, r, "wide"),
}

ALL_BUT_THE_TRAIL = ("~weir:[^a]*", "~weir:a[^u]*")
assert keys.AUDIT.startswith("weir:au")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("unchanged")
def test_nothing_is_done_where_the_trail_cannot_be_written(inside: Inside, verb: str) -> None:
    """Redis lets nobody touch the trail, and everybody all other keys."""
    client = inside.store.client
    client.execute_command("ACL", "SETUSER", "default", "resetkeys", *ALL_BUT_THE_TRAIL)
    try:
        request = Request(by="ada", at=time.time(), comment="why", id=f"told-{verb}")
        with pytest.raises((redis.exceptions.RedisError, WeirError)):
            VERBS[verb](inside.store, request)
    finally:
        client.execute_command("ACL", "SETUSER", "default", "allkeys")
