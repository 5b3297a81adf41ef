"""Acting: scale, move, start, stop, restart, and the rate of a load generator."""

import time
from enum import StrEnum

from fastapi import APIRouter
from msgspec.structs import replace
from starlette.responses import Response

from weir.components.ui.asking import asked_before, propose, tell
from weir.components.web.api.bodies import MoveBody, RateBody, ScaleBody
from weir.components.web.api.bodies import Reason as Why
from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.api.look import CommandState, Name, found_cluster
from weir.components.web.api.recommendations import Shown, shown
from weir.components.web.api.reply import answers, json
from weir.components.web.security import Role, current_user, require
from weir.controllers.engine.ports import Store, Workload
from weir.controllers.model.decision import Move, Moves, Reason, Scale
from weir.controllers.model.errors import InvalidInput, NotFound, Unavailable
from weir.controllers.service.operating import VERBS, steer

EXPIRES_AFTER_S = 30.0


class Verb(StrEnum):
    """What can be done to an operator where it runs."""

    START = "start"
    STOP = "stop"
    RESTART = "restart"


def routes(store: Store) -> APIRouter:
    """Everything that acts on clusters, operators and generators."""
    router = APIRouter(prefix="/api/v1", tags=["act"], route_class=GuardedRoute)
    _plans(router, store)
    _commands(router, store)
    return router


def _plans(router: APIRouter, store: Store) -> None:
    @router.post("/clusters/{cluster}/scale", **answers(Shown, 400, 404, 409, status=202))
    @require(Role.APPROVER)
    def scale(cluster: Name, body: ScaleBody) -> Response:
        """Bring a cluster to a number of executors; with four eyes on, ask for it."""
        found = found_cluster(store, cluster)
        if not found.min_executors <= body.executors <= found.max_executors:
            raise InvalidInput(
                f"{cluster} may have {found.min_executors} to {found.max_executors} executors, "
                f"not {body.executors}"
            )
        decision = Scale(
            cluster=cluster, executors=body.executors, before=found.executors_wanted,
            reason=Reason(text=f"Asked for by {current_user().name}."),
        )  # fmt: skip
        made = propose(store, decision, id=body.id, now=time.time(), comment=body.comment)
        return json(shown(made), 202)

    @router.post("/operators/{operator}/move", **answers(Shown, 400, 404, 409, status=202))
    @require(Role.APPROVER)
    def move(operator: Name, body: MoveBody) -> Response:
        """Move an operator with its state to another cluster; with four eyes on, ask for it."""
        found_cluster(store, body.cluster)
        source = _placed(store, operator)
        if source == body.cluster and asked_before(store, body.id) is None:
            raise InvalidInput(f"{operator} is in {body.cluster} already")
        decision = Moves(
            moves=(Move(operator=operator, source=source, target=body.cluster),),
            reason=Reason(text=f"Asked for by {current_user().name}."),
        )
        made = propose(store, decision, id=body.id, now=time.time(), comment=body.comment)
        return json(shown(made), 202)


def _commands(router: APIRouter, store: Store) -> None:
    @router.post("/operators/{operator}/{verb}", **answers(CommandState, 400, 404, 409, status=202))
    @require(Role.APPROVER)
    def run(operator: Name, verb: Verb, body: Why | None = None) -> Response:
        """Start, stop or restart an operator where it is placed; not with four eyes on."""
        command = tell(
            store, _placed(store, operator), VERBS[verb](operator=operator),
            now=time.time(), expires_after_s=EXPIRES_AFTER_S,
            comment=body.comment if body else "",
        )  # fmt: skip
        found = store.command(command.id)
        if found is None:
            raise Unavailable("Redis did not keep the command; try again")
        return json(CommandState(*found), 202)

    @router.patch("/workloads/{workload}", **answers(Workload, 400, 404))
    @require(Role.APPROVER)
    def rate(workload: Name, body: RateBody) -> Response:
        """Steer a load generator. A rate set by hand ends a ramp."""
        found = next((w for w in store.workloads() if w.name == workload), None)
        if found is None:
            raise NotFound(f"there is no workload '{workload}'")
        changed = found
        if body.rows_per_s is not None:
            changed = replace(changed, rows_per_s=body.rows_per_s, ramp_rows_per_s2=0.0)
        if body.paused is not None:
            changed = replace(changed, paused=body.paused)
        person = current_user()
        steer(
            store, found, changed, by=person.name, now=time.time(), comment=body.comment,
            address=person.address,
        )  # fmt: skip
        return json(changed)


def _placed(store: Store, operator: str) -> str:
    found = store.placements().get(operator)
    if found is None:
        raise NotFound(f"there is no operator '{operator}'")
    return found.cluster
