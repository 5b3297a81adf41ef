"""The service as tests call it: who asks and when as keywords."""

from collections.abc import Callable
from typing import Any

from weir.controllers import service
from weir.controllers.service import Drifted, Request, find_pause
from weir.controllers.service.recommendations import propose

__all__ = [
    "Drifted",
    "approve",
    "cancel",
    "find_pause",
    "forget_cluster",
    "import_qtable",
    "named",
    "pause_all",
    "propose_by_hand",
    "reject",
    "reset_qtable",
    "resume_all",
    "rollback",
    "set_mode",
    "set_rate",
    "set_settings",
    "tell_operator",
]  # fmt: skip


def named(id: str, by: str = "ada") -> str:
    """The id of the recommendation that somebody asked for under an id of their own."""
    return Request(by=by, at=0.0, id=id).key("asked")


def _by_keywords(verb: Callable[..., Any]) -> Callable[..., Any]:
    def call(
        store: Any, *args: Any, by: str, now: float, comment: str = "", address: str = "",
        id: str | None = None, **more: Any,
    ) -> Any:  # fmt: skip
        request = Request(by=by, at=now, comment=comment, address=address, id=id or "")
        return verb(store, request, *args, **more)

    call.__name__ = verb.__name__
    return call


propose_by_hand = _by_keywords(propose)
approve = _by_keywords(service.approve)
reject = _by_keywords(service.reject)
cancel = _by_keywords(service.cancel)
rollback = _by_keywords(service.rollback)
pause_all = _by_keywords(service.pause_all)
resume_all = _by_keywords(service.resume_all)
set_mode = _by_keywords(service.set_mode)
set_settings = _by_keywords(service.set_settings)
set_rate = _by_keywords(service.set_rate)
tell_operator = _by_keywords(service.tell_operator)
import_qtable = _by_keywords(service.import_qtable)
reset_qtable = _by_keywords(service.reset_qtable)
forget_cluster = _by_keywords(service.forget_cluster)
