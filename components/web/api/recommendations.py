"""Recommendations: list, show, approve, reject, cancel, roll back."""

from typing import Annotated

from fastapi import APIRouter, Query
from msgspec import Struct
from starlette.responses import Response

from weir.components.ui.asking import request
from weir.components.web.api.bodies import ApproveBody, ReasonBody, RollbackBody
from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.api.look import Limit, Name
from weir.components.web.api.reply import answers, json
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.ports import Recommendations, Store
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.errors import NotFound


class Shown(Struct, frozen=True):
    """A recommendation with the hash that an approval has to name."""

    kind: str
    plan_hash: str
    recommendation: Recommendation


def shown_recommendation(found: Recommendation) -> Shown:
    """As the API answers with it."""
    return Shown(found.kind, found.plan_hash, found)


def routes(store: Store) -> APIRouter:
    """Everything about recommendations."""
    router = APIRouter(
        prefix="/api/v1/recommendations", tags=["recommendations"], route_class=GuardedRoute
    )
    _look(router, store)
    _decide(router, store)
    return router


def _look(router: APIRouter, store: Recommendations) -> None:
    @router.get("", **answers(list[Shown]))
    @require(Role.VIEWER)
    def recommendations(
        status: Status | None = None,
        cluster: Annotated[str | None, Query(max_length=200)] = None,
        limit: Limit = 100,
    ) -> Response:
        """The newest recommendations, newest first; of one status or cluster."""
        found = store.recommendations(limit)
        return json(
            [
                shown_recommendation(r)
                for r in found
                if (status is None or r.status is status)
                and (cluster is None or cluster in r.clusters)
            ]
        )

    @router.get("/{id}", **answers(Shown, 404))
    @require(Role.VIEWER)
    def recommendation(id: Name) -> Response:
        """One recommendation with its whole history."""
        found = store.recommendation(id)
        if found is None:
            raise NotFound(f"there is no recommendation {id}")
        return json(shown_recommendation(found))


def _decide(router: APIRouter, store: Store) -> None:
    @router.post("/{id}/approve", **answers(Shown, 400, 404, 409))
    @require(Role.APPROVER)
    def approve(id: Name, body: ApproveBody) -> Response:
        """Let it be done, exactly as shown; refused if the world has drifted since."""
        return json(
            shown_recommendation(service.approve(store, request(body.comment), id, body.plan_hash))
        )

    @router.post("/{id}/reject", **answers(Shown, 400, 404, 409))
    @require(Role.APPROVER)
    def reject(id: Name, body: ReasonBody) -> Response:
        """Say no; the same plan is not proposed again for a while."""
        return json(shown_recommendation(service.reject(store, request(body.comment), id)))

    @router.post("/{id}/cancel", **answers(Shown, 400, 404, 409))
    @require(Role.APPROVER)
    def cancel(id: Name, body: ReasonBody) -> Response:
        """Take back what has not begun yet."""
        return json(shown_recommendation(service.cancel(store, request(body.comment), id)))

    @router.post("/{id}/rollback", **answers(Shown, 400, 404, 409))
    @require(Role.APPROVER)
    def rollback(id: Name, body: RollbackBody) -> Response:
        """Undo what was done, as a recommendation of its own; answers with that one."""
        done = service.rollback(store, request(body.comment, body.id), id, body.plan_hash)
        return json(shown_recommendation(done))
