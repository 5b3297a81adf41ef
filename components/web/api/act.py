"""Acting: scale, move, start, stop, restart, and the rate of a load generator."""

from enum import StrEnum
from uuid import uuid4

from fastapi import APIRouter
from starlette.responses import Response

from weir.components.ui.asking import request
from weir.components.web.api.bodies import MoveBody, RateBody, ResliceBody, ScaleBody
from weir.components.web.api.bodies import ReasonBody as Why
from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.api.look import CommandState, Name
from weir.components.web.api.recommendations import Shown, shown_recommendation
from weir.components.web.api.reply import answers, json
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.ports import Store, Workload
from weir.controllers.model.errors import Unavailable


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
        ask = request(body.comment, body.id)
        return json(shown_recommendation(service.scale(store, ask, cluster, body.executors)), 202)

    @router.post("/operators/{operator}/move", **answers(Shown, 400, 404, 409, status=202))
    @require(Role.APPROVER)
    def move(operator: Name, body: MoveBody) -> Response:
        """Move an operator with its state to another cluster; with four eyes on, ask for it."""
        ask = request(body.comment, body.id)
        return json(shown_recommendation(service.move(store, ask, operator, body.cluster)), 202)

    @router.post("/operators/{operator}/reslice", **answers(Shown, 400, 404, 409, status=202))
    @require(Role.APPROVER)
    def reslice(operator: Name, body: ResliceBody) -> Response:
        """Give an operator other slices, or hand key groups over; with four eyes on, ask for it."""
        done = service.reslice(
            store, request(body.comment, body.id), operator,
            slices=body.slices, groups=body.groups, to=body.to, cluster=body.cluster,
            plan_hash=body.plan_hash,
        )  # fmt: skip
        return json(shown_recommendation(done), 202)


def _commands(router: APIRouter, store: Store) -> None:
    @router.post("/operators/{operator}/{verb}", **answers(CommandState, 400, 404, 409, status=202))
    @require(Role.APPROVER)
    def run(operator: Name, verb: Verb, body: Why | None = None) -> Response:
        """Start, stop or restart an operator where it is placed; not with four eyes on."""
        ask = request(body.comment if body else "", uuid4().hex)
        command = service.tell_operator(store, ask, verb, operator)
        found = store.command(command.id)
        if found is None:
            raise Unavailable("Redis did not keep the command; try again")
        return json(CommandState(*found), 202)

    @router.patch("/workloads/{workload}", **answers(Workload, 400, 404))
    @require(Role.APPROVER)
    def rate(workload: Name, body: RateBody) -> Response:
        """Steer a load generator. A rate set by hand ends the profile before it."""
        profile = body.profile.model_dump() if body.profile else None
        done = service.set_rate(
            store, request(body.comment), workload,
            body.rows_per_s, body.paused, body.skew, profile,
        )  # fmt: skip
        return json(done)
