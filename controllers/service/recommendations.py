"""What people do: ask, approve, reject, cancel, roll back. One service for page, API and terminal.

Each checks, writes the change and its audit entry at once, and answers with the
recommendation as it stands then, or with a sentence on why not (`Refused`). Of two who
decide at the same time one wins; the other is told who was first.
"""

import uuid
from collections.abc import Callable, Iterable

from weir.controllers.engine.guard import guards
from weir.controllers.engine.guard.drift import drift
from weir.controllers.engine.guard.modes import nobody_asked, strictest
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.judge.figures import clusters_of, figures_now, since_recent
from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.make import (
    BACK,
    BY_HAND,
    ROLLBACK,
    UNDO,
    made,
    offered_again,
    undoing,
)
from weir.controllers.engine.recommendation import ENGINE, Recommendation, Status, hash_of, moved_to
from weir.controllers.engine.stored import engine_settings, scale_settings
from weir.controllers.engine.trail import entry_of, steps
from weir.controllers.model.decision import Moves, Scale
from weir.controllers.model.errors import Expired, InvalidInput, NotFound, Refused
from weir.controllers.model.snapshot import ClusterSample, Mode, Snapshot
from weir.controllers.service.steering import (
    pause_all,
    paused,
    reset_memory,
    resume_all,
    set_mode,
    set_settings,
)

__all__ = [
    "Drifted", "approve", "cancel", "pause_all", "paused", "propose_by_hand", "reject",
    "reset_memory", "resume_all", "rollback", "set_mode", "set_settings",
]  # fmt: skip

RETRIES = 20
_PASSIVE = (Mode.OBSERVE, Mode.RECOMMEND)


class Drifted(Refused):
    """The world is no longer the one that the plan was made for; `offer` is a new proposal."""

    def __init__(self, message: str, offer: Recommendation | None) -> None:
        super().__init__(message)
        self.offer = offer


def propose_by_hand(
    store: Store,
    decision: Scale | Moves,
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
    id: str | None = None,
    source: str = BY_HAND,
    rollback_of: str | None = None,
) -> Recommendation:
    """What a person wants done, approved by the same click unless four eyes are asked for.

    The same `id` twice is one recommendation. `source` is the method whose answer it is, if
    it is not the person's own.
    """
    settings = engine_settings(store)
    if id and ("~" in id or id.endswith((UNDO, BACK))):
        raise InvalidInput(
            f"Only the engine's own ids have a ~ or end with {UNDO} or {BACK}.", field="id"
        )
    known = store.recommendation(id) if id else None
    if known is not None:
        return known
    _want_comment(settings, comment)
    snapshot = Snapshot.of(store.latest(), now)
    recent = _recent(store, clusters_of(decision), snapshot)
    asked = made(
        decision,
        snapshot,
        id=id or uuid.uuid4().hex,
        source=ROLLBACK if rollback_of else source,
        now=now,
        ttl_s=settings.ttl_s,
        by=by,
        comment=comment,
        address=address,
        why=comment,
        outlook=store.outlook(),
        recent=recent,
        rollback_of=rollback_of,
    )
    why = drift(asked, snapshot, store.placements(), settings) or _forbidden(store, asked, now)
    if why:
        raise Refused(f"Nothing was done: {why}.")
    if not store.save_recommendation(asked, audit=entry_of(asked)):
        return _found(store, asked.id)
    if settings.four_eyes:
        return asked
    return _changed(store, asked.id, Status.APPROVED, by, comment, address, now)


def approve(
    store: Store,
    id: str,
    plan_hash: str,
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
) -> Recommendation:
    """Let it be done, exactly as it was shown."""
    settings = engine_settings(store)
    snapshot = Snapshot.of(store.latest(), now)

    def check(found: Recommendation) -> None:
        _undecided(found)
        if found.plan_hash != plan_hash:
            raise Refused("The plan has changed since you saw it. Look at it again.")
        if now > found.expires_at:
            raise Expired("It has expired. The engine proposes anew if it is still needed.")
        if settings.four_eyes and found.by == by:
            raise Refused("Somebody else has to approve what you asked for yourself.")
        mode = strictest(store.modes(), found.clusters)
        if found.by == ENGINE and mode in _PASSIVE:
            raise Refused(
                f"In mode {mode.value} this is advice only: do it by hand, or set the mode to "
                "approve."
            )
        _want_comment(settings, comment)
        why = _forbidden(store, found, now)
        if why:
            raise Refused(f"Nothing was done: {why}.")
        recent = _recent(store, found.clusters, snapshot)
        loads = figures_now(found.decision, snapshot, store.outlook(), recent).load
        why = drift(found, snapshot, store.placements(), settings, loads)
        if why:
            _refuse_drifted(store, found, why, snapshot, settings, by, address, now)

    return _changed(store, id, Status.APPROVED, by, comment, address, now, check)


def reject(
    store: Store, id: str, *, by: str, now: float, comment: str = "", address: str = ""
) -> Recommendation:
    """Say no. The same plan is not proposed again for a while."""
    settings = engine_settings(store)

    def check(found: Recommendation) -> None:
        _undecided(found)
        _want_comment(settings, comment)

    return _changed(store, id, Status.REJECTED, by, comment, address, now, check)


def cancel(
    store: Store, id: str, *, by: str, now: float, comment: str = "", address: str = ""
) -> Recommendation:
    """Take back what has not begun yet."""
    settings = engine_settings(store)

    def check(found: Recommendation) -> None:
        if found.status is Status.APPLYING:
            raise Refused("It is being carried out. Wait for its end, then roll it back.")
        if found.status not in (Status.PROPOSED, Status.APPROVED):
            raise Refused(_decided(found))
        _want_comment(settings, comment)

    return _changed(store, id, Status.CANCELLED, by, comment, address, now, check)


def rollback(
    store: Store,
    id: str,
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
    plan_hash: str | None = None,
) -> Recommendation:
    """Undo what was done, as a recommendation of its own; with `plan_hash`, only as was shown."""
    done = _found(store, id)
    if done.applied_at is None and done.status is not Status.FAILED:
        raise Refused(f"There is nothing to undo: it is {done.status}.")
    open_ = [r for r in store.recommendations() if r.rollback_of == id and not r.status.final]
    if open_:
        raise Refused(f"Its rollback is {open_[0].status} already: {open_[0].id}.")
    back = undoing(
        done, Snapshot.of(store.latest(), now), store.placements(), f"Takes back {done.id}."
    )
    if back is None:
        raise Refused("There is nothing left of it to undo.")
    if plan_hash is not None and plan_hash != hash_of(back):
        raise Refused(
            f"The plan has changed since you saw it. Now it is: {steps(back)}. Look at it again."
        )
    return propose_by_hand(
        store, back, by=by, now=now, comment=comment, address=address, rollback_of=id
    )


def _changed(
    store: Store,
    id: str,
    status: Status,
    by: str,
    comment: str,
    address: str,
    now: float,
    check: Callable[[Recommendation], None] = lambda found: None,
) -> Recommendation:
    """One step on; if somebody else writes meanwhile, look again."""
    for _ in range(RETRIES):
        found = _found(store, id)
        check(found)
        after = moved_to(found, status, at=now, by=by, why=comment, address=address)
        if store.save_recommendation(after, audit=entry_of(after)):
            return after
    raise Refused("Others change it all the time. Try again.")


def _refuse_drifted(
    store: Store,
    found: Recommendation,
    why: str,
    snapshot: Snapshot,
    settings: EngineSettings,
    by: str,
    address: str,
    now: float,
) -> None:
    """Put a new proposal in the place of one that no longer holds, and say so."""
    after = moved_to(found, Status.SUPERSEDED, at=now, by=by, why=why, address=address)
    offer = None
    if store.save_recommendation(after, audit=entry_of(after)) and not nobody_asked(
        found, store.modes()
    ):
        offer = offered_again(
            found, snapshot, store.placements(), store.outlook(), settings, now, why,
            _recent(store, found.clusters, snapshot),
        )  # fmt: skip
    if offer is not None:
        store.save_recommendation(offer, audit=entry_of(offer))
    rest = (
        f"A new proposal is there: {offer.id}."
        if offer
        else "The engine looks again and proposes anew if something is to be done."
    )
    raise Drifted(f"Not approved: {why}. {rest}", offer)


def _recent(
    store: Store, clusters: Iterable[str], snapshot: Snapshot
) -> dict[str, list[ClusterSample]]:
    since = since_recent(snapshot)
    return {c: store.samples(c, since, float("inf")) for c in clusters}


def _found(store: Store, id: str) -> Recommendation:
    found = store.recommendation(id)
    if found is None:
        raise NotFound(f"there is no recommendation {id}")
    return found


def _undecided(found: Recommendation) -> None:
    if found.status is not Status.PROPOSED:
        raise Refused(_decided(found))


def _decided(found: Recommendation) -> str:
    decision = next((e for e in found.history if e.status is not Status.PROPOSED), None)
    who = f" by {decision.by}" if decision else ""
    said = decision.status if decision else found.status
    now = "" if said is found.status else f" and is {found.status} now"
    return f"It was {said} already{who}{now}."


def _want_comment(settings: EngineSettings, comment: str) -> None:
    if settings.comment_required and not comment.strip():
        raise InvalidInput("Say why: a comment is required.", field="comment")


def _forbidden(store: Store, found: Recommendation, now: float) -> str:
    """The guard that holds for everybody and is closed."""
    scaling = {c: scale_settings(store, c) for c in found.clusters}
    case = guards.Case(
        recommendation=found,
        snapshot=Snapshot.of(store.latest(), now),
        now=now,
        engine=engine_settings(store),
        scaling=scaling,
        others=store.recommendations(),
    )
    closed = guards.closed(guards.look(case), guards.HARD)
    return closed.reason if closed else ""
