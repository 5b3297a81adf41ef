"""Who asks, from where and why: the first thing every verb of the service is told."""

from collections.abc import Mapping

from msgspec import Struct

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.ports import Placements, Samples, Store
from weir.controllers.engine.propose.make import new_id
from weir.controllers.model.errors import InvalidInput, NotFound, Unavailable
from weir.controllers.model.placement import LEADER, Placement

COMMENT_MOST = 2000
ENGINE_SEEN_S = 10.0
"""A standby takes over within this time, so a missing leader is no reason to refuse yet."""


class Request(Struct, frozen=True, kw_only=True):
    """One person or program asking for one thing.

    `id` is chosen by the caller, so that a second click or a repeated call is the same
    request. It is combined with who asks, so nobody can name another's request.
    """

    by: str
    at: float
    address: str = ""  # from where; empty: a terminal on this machine
    comment: str = ""
    id: str = ""

    def key(self, kind: str, *what: object) -> str:
        """The id under which the thing asked for is kept."""
        return new_id(kind, self.by, self.id) if self.id else new_id(kind, self.by, self.at, *what)

    def entry(
        self,
        action: str,
        subject: str = "",
        *,
        before: Mapping[str, object] = {},
        detail: str = "",
    ) -> AuditEntry:
        """What the audit trail says of it."""
        return AuditEntry(
            at=self.at, by=self.by, action=action, subject=subject, address=self.address,
            why=self.comment, before=dict(before), detail=detail,
        )  # fmt: skip


def require_comment(request: Request, settings: EngineSettings) -> None:
    """Refuse a request without a reason where one is required."""
    if settings.comment_required and not request.comment.strip():
        raise InvalidInput("Say why: a comment is required.", field="comment")
    if len(request.comment) > COMMENT_MOST:
        raise InvalidInput(f"A comment has at most {COMMENT_MOST} characters.", field="comment")


def require_cluster(store: Samples, cluster: str) -> None:
    """Refuse a cluster that never reported."""
    known = store.clusters()
    if cluster not in known:
        raise NotFound(f"there is no cluster '{cluster}'; known: {', '.join(known) or 'none'}")


def placement_of(store: Placements, operator: str) -> Placement:
    """Where an operator should run."""
    placements = store.placements()
    if operator not in placements:
        known = ", ".join(sorted(placements)) or "none"
        raise NotFound(f"there is no operator '{operator}'; known: {known}")
    return placements[operator]


def require_engine(store: Store, at: float) -> None:
    """Refuse what no engine is there to carry out."""
    if store.lease(LEADER) is not None:
        return
    if any(p.kind == "engine" and at - p.at <= ENGINE_SEEN_S for p in store.parts()):
        return
    raise Unavailable(
        "Nothing was done: no engine is at work, so nobody would carry it out. Start `weir engine`."
    )
