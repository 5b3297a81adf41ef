"""How operators share the cores of their cluster."""

from fastapi import APIRouter
from msgspec import Struct
from starlette.responses import Response

from weir.components.ui.asking import request
from weir.components.web.api.bodies import SharesBody
from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.api.look import Name, find_cluster
from weir.components.web.api.reply import answers, json
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import share_settings
from weir.controllers.model.shares import ShareSource
from weir.controllers.scaling.drs.shares import ShareAdvice


class Shares(Struct, frozen=True, kw_only=True):
    """Weights that are set, by whom, and what the model says."""

    cluster: str
    source: ShareSource
    weights: dict[str, int]
    advice: ShareAdvice | None = None
    wait: str = ""  # why the engine does not follow the advice now


def routes(store: Store) -> APIRouter:
    """Looking at shares, and setting them."""
    router = APIRouter(prefix="/api/v1", tags=["steer"], route_class=GuardedRoute)

    @router.get("/clusters/{cluster}/shares", **answers(Shares, 404))
    @require(Role.VIEWER)
    def shares(cluster: Name) -> Response:
        """How operators share the cores of a cluster, and how the model would share them out."""
        return json(_shares(store, cluster))

    @router.put("/clusters/{cluster}/shares", **answers(Shares, 400, 404, 409))
    @require(Role.APPROVER)
    def set_shares(cluster: Name, body: SharesBody) -> Response:
        """Set the weights of operators, or let the engine set them by the model."""
        ask = request(body.comment)
        service.set_shares(store, ask, cluster, body.weights, source=body.source)
        return json(_shares(store, cluster))

    return router


def _shares(store: Store, cluster: str) -> Shares:
    find_cluster(store, cluster)
    settings = share_settings(store, cluster)
    outlook = store.scale_outlooks().get(cluster)
    return Shares(
        cluster=cluster, source=settings.source, weights=settings.by_operator,
        advice=outlook.shares if outlook else None, wait=outlook.share_wait if outlook else "",
    )  # fmt: skip
