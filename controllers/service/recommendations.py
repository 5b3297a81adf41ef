"""The life of a recommendation, as people and programs steer it.

Each verb checks, writes the change and its audit entry together, and returns the
recommendation as it then stands, or refuses with a sentence (`Refused`). Of two people who
decide at the same time one wins; the other is told who was first.
"""

from collections.abc import Callable, Iterable

from weir.controllers.engine.guard import guards
from weir.controllers.engine.guard.drift import drift
from weir.controllers.engine.guard.modes import may_act_unasked, strictest_mode
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.judge.figures import clusters_of, figures_now, since_recent
from weir.controllers.engine.ports import Recommendations, Samples, Store
from weir.controllers.engine.propose.make import (
    BY_HAND,
    ROLLBACK,
    new_recommendation,
    offer_again,
    undoing_decision,
)
from weir.controllers.engine.recommendation import (
    ENGINE,
    Recommendation,
    Status,
    hash_of,
    move_to,
)
from weir.controllers.engine.stored import engine_settings, scale_settings
from weir.controllers.engine.trail import entry_of, steps
from weir.controllers.model.decision import Change, Reslice, Scale
from weir.controllers.model.errors import Expired, NotFound, Refused
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.service.request import Request, require_comment, require_engine

RETRIES = 20
OTHER_PLAN = "Something else was asked for under this id. Ask anew."


class Drifted(Refused):
    """The world is no longer the one that the plan was made for; `offer` is a new proposal."""

    def __init__(self, message: str, offer: Recommendation | None) -> None:
        super().__init__(message)
        self.offer = offer


def find_repeated(store: Recommendations, request: Request) -> Recommendation | None:
    """What the caller has asked for under the same id, if anything."""
    return store.recommendation(request.key("asked")) if request.id else None


def propose(
    store: Store,
    request: Request,
    decision: Change,
    *,
    source: str = BY_HAND,
    rollback_of: str | None = None,
) -> Recommendation:
    """What a person wants done, approved by the same click unless a second person must approve.

    `source` is the method whose answer it is, if it is not the person's own.
    """
    settings = engine_settings(store)
    known = find_repeated(store, request)
    if known is not None:
        if _aim(known.decision) != _aim(decision):
            raise Refused(OTHER_PLAN)
        return known
    require_comment(request, settings)
    require_engine(store, request.at)
    snapshot = Snapshot.of(store.latest(), request.at)
    asked = new_recommendation(
        decision,
        snapshot,
        id=request.key("asked", decision, source, rollback_of),
        source=ROLLBACK if rollback_of else source,
        now=request.at,
        ttl_s=settings.ttl_s,
        by=request.by,
        comment=request.comment,
        address=request.address,
        why=request.comment,
        outlook=store.outlook(),
        recent=_recent(store, clusters_of(decision), snapshot),
        rollback_of=rollback_of,
    )
    drifted = drift(asked, snapshot, store.placements(), settings, slicings=store.slicings())
    why = drifted.text if drifted else _why_forbidden(store, asked, request.at)
    if why:
        raise Refused(f"Nothing was done: {why}.")
    if not store.save_recommendation(asked, audit=entry_of(asked)):
        return _get(store, asked.id)
    return asked if settings.four_eyes else _change(store, request, asked.id, Status.APPROVED)


def approve(store: Store, request: Request, id: str, plan_hash: str) -> Recommendation:
    """Let it be done, exactly as it was shown."""
    settings = engine_settings(store)
    snapshot = Snapshot.of(store.latest(), request.at)

    def check(found: Recommendation) -> None:
        _require_undecided(found)
        if found.plan_hash != plan_hash:
            raise Refused("The plan has changed since you saw it. Look at it again.")
        if request.at > found.expires_at:
            raise Expired("It has expired. The engine proposes anew if it is still needed.")
        if settings.four_eyes and found.by == request.by:
            raise Refused("Somebody else has to approve what you asked for yourself.")
        mode = strictest_mode(store.modes(), found.clusters)
        if found.by == ENGINE and mode.advice_only:
            raise Refused(
                f"In mode {mode.value} this is advice only: do it by hand, or set the mode to "
                "approve."
            )
        require_comment(request, settings)
        require_engine(store, request.at)
        why = _why_forbidden(store, found, request.at)
        if why:
            raise Refused(f"Nothing was done: {why}.")
        recent = _recent(store, found.clusters, snapshot)
        loads = figures_now(found.decision, snapshot, store.outlook(), recent).load
        drifted = drift(found, snapshot, store.placements(), settings, loads, store.slicings())
        if drifted:
            _refuse_drifted(store, request, found, drifted.text, snapshot, settings)

    return _change(store, request, id, Status.APPROVED, check)


def reject(store: Store, request: Request, id: str) -> Recommendation:
    """Say no. The same plan is not proposed again for a while."""
    settings = engine_settings(store)

    def check(found: Recommendation) -> None:
        _require_undecided(found)
        require_comment(request, settings)

    return _change(store, request, id, Status.REJECTED, check)


def cancel(store: Store, request: Request, id: str) -> Recommendation:
    """Take back what has not begun yet."""
    settings = engine_settings(store)

    def check(found: Recommendation) -> None:
        if found.status is Status.APPLYING:
            raise Refused("It is being carried out. Wait for its end, then roll it back.")
        if found.status not in (Status.PROPOSED, Status.APPROVED):
            raise Refused(_decided_words(found))
        require_comment(request, settings)

    return _change(store, request, id, Status.CANCELLED, check)


def rollback(
    store: Store, request: Request, id: str, plan_hash: str | None = None
) -> Recommendation:
    """Undo what was done, as a recommendation of its own; with `plan_hash`, only as was shown."""
    done = _get(store, id)
    if done.applied_at is None and done.status is not Status.FAILED:
        raise Refused(f"There is nothing to undo: it is {done.status}.")
    open_ = [r for r in store.recommendations() if r.rollback_of == id and not r.status.final]
    if open_:
        raise Refused(f"Its rollback is {open_[0].status} already: {open_[0].id}.")
    snapshot = Snapshot.of(store.latest(), request.at)
    text = f"Takes back {done.id}."
    back = undoing_decision(done, snapshot, store.placements(), text, store.slicings())
    if back is None:
        raise Refused("There is nothing left of it to undo.")
    if plan_hash is not None and plan_hash != hash_of(back):
        raise Refused(
            f"The plan has changed since you saw it. Now it is: {steps(back)}. Look at it again."
        )
    return propose(store, request, back, rollback_of=id)


def _change(
    store: Recommendations,
    request: Request,
    id: str,
    status: Status,
    check: Callable[[Recommendation], None] = lambda found: None,
) -> Recommendation:
    """Bring it to its next status; if somebody else was first, look again."""
    for _ in range(RETRIES):
        found = _get(store, id)
        check(found)
        after = move_to(
            found, status, at=request.at, by=request.by, why=request.comment,
            address=request.address,
        )  # fmt: skip
        if store.save_recommendation(after, audit=entry_of(after)):
            return after
    raise Refused("Others change it all the time. Try again.")


def _refuse_drifted(
    store: Store,
    request: Request,
    found: Recommendation,
    why: str,
    snapshot: Snapshot,
    settings: EngineSettings,
) -> None:
    """Replace a proposal that no longer holds with a new one, and say so."""
    after = move_to(
        found, Status.SUPERSEDED, at=request.at, by=request.by, why=why, address=request.address
    )
    offer = None
    if store.save_recommendation(after, audit=entry_of(after)) and not may_act_unasked(
        found, store.modes()
    ):
        offer = offer_again(
            found, snapshot, store.placements(), store.outlook(), settings, request.at, why,
            _recent(store, found.clusters, snapshot), store.slicings(),
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
    store: Samples, clusters: Iterable[str], snapshot: Snapshot
) -> dict[str, list[ClusterSample]]:
    since = since_recent(snapshot)
    return {c: store.samples(c, since, float("inf")) for c in clusters}


def _get(store: Recommendations, id: str) -> Recommendation:
    found = store.recommendation(id)
    if found is None:
        raise NotFound(f"there is no recommendation {id}")
    return found


def _require_undecided(found: Recommendation) -> None:
    if found.status is not Status.PROPOSED:
        raise Refused(_decided_words(found))


def _decided_words(found: Recommendation) -> str:
    decision = next((e for e in found.history if e.status is not Status.PROPOSED), None)
    who = f" by {decision.by}" if decision else ""
    said = decision.status if decision else found.status
    now = "" if said is found.status else f" and is {found.status} now"
    return f"It was {said} already{who}{now}."


def _aim(decision: Change) -> object:
    """The goal of a decision. Its starting point is left out: it changes once the action begins."""
    if isinstance(decision, Scale):
        return decision.cluster, decision.executors
    if isinstance(decision, Reslice):
        return decision.operator, decision.owners
    return [(m.operator, m.target) for m in decision.moves]


def _why_forbidden(store: Store, found: Recommendation, now: float) -> str:
    """Why a guard that holds for everybody is closed; empty if all are open."""
    case = guards.Case(
        recommendation=found,
        snapshot=Snapshot.of(store.latest(), now),
        now=now,
        engine=engine_settings(store),
        scaling={c: scale_settings(store, c) for c in found.clusters},
        others=store.recommendations(),
    )
    closed = guards.first_closed(guards.guard_states(case), guards.HARD)
    return closed.reason if closed else ""
