"""What pages and programs ask for, in the name of whoever is asking now, and once.

The caller chooses an id before it asks, so that a second click or a repeated request is the
same action. It is kept under a hash of that id and of who asks: nobody can name an action of
somebody else's, or one of the engine's.
"""

import uuid

from weir.components.web.security import current_user
from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.make import BY_HAND, new_id
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.command import Command
from weir.controllers.model.decision import Moves, Scale
from weir.controllers.model.errors import Refused
from weir.controllers.service import operating
from weir.controllers.service import recommendations as people

COMMENT_MOST = 500
OTHER_PLAN = "Something else was asked for under this id. Ask anew."


def own_id(kind: str, id: str) -> str:
    """Under which an action is kept that the present person has chosen an id for."""
    return new_id(kind, current_user().name, id)


def asked_before(store: Store, id: str | None) -> Recommendation | None:
    """What the present person has asked for under this id, if anything."""
    return store.recommendation(own_id("asked", id)) if id else None


def propose(
    store: Store,
    decision: Scale | Moves,
    *,
    id: str | None,
    now: float,
    comment: str = "",
    source: str = BY_HAND,
) -> Recommendation:
    """Ask the engine for it; the same id twice is one recommendation."""
    person = current_user()
    made = people.propose_by_hand(
        store, decision, by=person.name, now=now, comment=comment,
        address=person.address, id=own_id("asked", id) if id else None, source=source,
    )  # fmt: skip
    if _aim(made.decision) != _aim(decision):
        raise Refused(OTHER_PLAN)
    return made


def tell(
    store: Store,
    cluster: str,
    action: operating.Told,
    *,
    now: float,
    expires_after_s: float,
    comment: str = "",
    id: str | None = None,
) -> Command:
    """Start, stop or restart an operator; the same id twice is one command."""
    person = current_user()
    return operating.tell(
        store, cluster, action, id=own_id("told", id or uuid.uuid4().hex), by=person.name,
        now=now, expires_after_s=expires_after_s, comment=comment, address=person.address,
    )  # fmt: skip


def _aim(decision: Scale | Moves) -> object:
    """What is to be reached. From where is left out: it is another once the action has begun."""
    if isinstance(decision, Scale):
        return decision.cluster, decision.executors
    return [(m.operator, m.target) for m in decision.moves]
