"""Steering the engine: modes, pause-all, settings; and the audit trail of all that."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from msgspec import Struct
from msgspec.json import encode
from starlette.responses import Response

from weir.components.pages.settings.view import public_value
from weir.components.ui.asking import request
from weir.components.web.api.bodies import ModeBody, PauseBody, ReasonBody, SettingsBody, TableBody
from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.api.look import Limit, Name
from weir.components.web.api.reply import answers, json
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.groups import groups, settings_type
from weir.controllers.engine.ports import Rules, Store
from weir.controllers.model.hosting import HostOrder
from weir.controllers.model.sample import Mode
from weir.controllers.model.settings import SettingInfo, describe
from weir.controllers.scaling.qlearning.table import QTable


class Pause(Struct, frozen=True, kw_only=True):
    """Whether every automatic action is stopped, and by whom."""

    paused: bool
    by: str = ""
    at: float | None = None
    why: str = ""


class SettingsGroup(Struct, frozen=True, kw_only=True):
    """One group of settings: what can be set, and what was."""

    name: str
    title: str = ""
    cluster: str = ""
    settings: tuple[SettingInfo, ...] = ()
    values: dict[str, Any] = {}


def routes(store: Store) -> APIRouter:
    """Modes, pause-all, settings, what was learned, and audit."""
    router = APIRouter(prefix="/api/v1", tags=["steer"], route_class=GuardedRoute)
    _modes(router, store)
    _settings(router, store)
    _add_qtable_routes(router, store)
    return router


def _modes(router: APIRouter, store: Store) -> None:
    @router.get("/modes", **answers(dict[str, Mode]))
    @require(Role.VIEWER)
    def modes() -> Response:
        """How much each cluster lets the engine do."""
        chosen = store.modes()
        return json({name: chosen.get(name, Mode.APPROVE) for name in store.clusters()})

    @router.put("/modes/{cluster}", **answers(dict[str, Mode], 404))
    @require(Role.ADMIN)
    def set_mode(cluster: Name, body: ModeBody) -> Response:
        """Say how much a cluster lets the engine do."""
        return json({cluster: service.set_mode(store, request(body.comment), cluster, body.mode)})

    @router.get("/pause", **answers(Pause))
    @require(Role.VIEWER)
    def pause() -> Response:
        """Whether every automatic action is stopped."""
        return json(_pause(store))

    @router.put("/pause", **answers(Pause))
    @require(Role.APPROVER)
    def set_pause(body: PauseBody) -> Response:
        """Stop every automatic action at once, or let the engine act again."""
        change = service.pause_all if body.paused else service.resume_all
        change(store, request(body.comment))
        return json(_pause(store))


def _settings(router: APIRouter, store: Store) -> None:
    @router.get("/settings", **answers(list[SettingsGroup]))
    @require(Role.VIEWER)
    def settings() -> Response:
        """Every group of settings, with what was changed from the defaults."""
        kept = store.all_settings()
        return json(
            [
                SettingsGroup(
                    name=g.name, title=g.title, cluster=g.cluster,
                    settings=tuple(describe(g.kind)), values=_open(kept.get(g.name, {})),
                )
                for g in groups(store.clusters())
            ]
        )  # fmt: skip

    @router.get("/settings/{group}", **answers(SettingsGroup, 404))
    @require(Role.VIEWER)
    def one(group: Name) -> Response:
        """One group of settings."""
        return json(_group(store, group))

    @router.patch("/settings/{group}", **answers(SettingsGroup, 400, 404))
    @require(Role.ADMIN)
    def change(group: Name, body: SettingsBody) -> Response:
        """Change settings of a group; null brings one back to its default."""
        service.set_settings(store, request(body.comment), group, body.values)
        return json(_group(store, group))

    @router.get("/audit", **answers(list[AuditEntry]))
    @require(Role.VIEWER)
    def audit(
        limit: Limit = 100,
        before_number: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    ) -> Response:
        """The audit trail, newest first; each entry carries the seal of the one before."""
        return json(store.audit(limit, before_number))


def _add_qtable_routes(router: APIRouter, store: Store) -> None:
    @router.get("/clusters/{cluster}/qtable", **answers(QTable, 400, 404))
    @require(Role.VIEWER)
    def qtable(cluster: Name) -> Response:
        """The Q-table of a cluster, as `import` takes it."""
        return json(service.qtable(store, cluster))

    @router.put("/clusters/{cluster}/qtable", **answers(QTable, 400, 404))
    @require(Role.ADMIN)
    def put_qtable(cluster: Name, body: TableBody) -> Response:
        """Put a table in the place of the learned one, if it fits the settings."""
        data = encode(body.table)
        return json(service.import_qtable(store, request(body.comment), cluster, data))

    @router.delete("/clusters/{cluster}/qtable", **answers(QTable, 400, 404))
    @require(Role.ADMIN)
    def reset_qtable(cluster: Name, body: ReasonBody | None = None) -> Response:
        """Let Q-learning begin anew; answers with the table that it begins with."""
        service.reset_qtable(store, request(body.comment if body else ""), cluster)
        return json(service.qtable(store, cluster))

    @router.post("/clusters/{cluster}/add", **answers(HostOrder, 400, 409))
    @require(Role.ADMIN)
    def add(cluster: Name, body: ReasonBody | None = None) -> Response:
        """Ask the launcher for one more cluster, within the limits of the settings `clusters`."""
        return json(service.add_cluster(store, request(body.comment if body else ""), cluster))

    @router.post("/clusters/{cluster}/end", **answers(HostOrder, 404, 409))
    @require(Role.ADMIN)
    def end(cluster: Name, body: ReasonBody | None = None) -> Response:
        """Let planners empty a cluster; once it is empty it is ended."""
        return json(service.end_cluster(store, request(body.comment if body else ""), cluster))

    @router.delete("/clusters/{cluster}", **answers(list[str], 404, 409))
    @require(Role.ADMIN)
    def forget(cluster: Name, body: ReasonBody | None = None) -> Response:
        """Remove a cluster that is gone for good; answers with those that are left."""
        service.forget_cluster(store, request(body.comment if body else ""), cluster)
        return json(store.clusters())


def _pause(store: Rules) -> Pause:
    found = service.find_pause(store)
    if found is None:
        return Pause(paused=False)
    return Pause(paused=True, by=found.by, at=found.at, why=found.why)


def _group(store: Rules, name: str) -> SettingsGroup:
    kind = settings_type(name)
    return SettingsGroup(
        name=name, settings=tuple(describe(kind)), values=_open(store.settings(name))
    )


def _open(values: dict[str, Any]) -> dict[str, Any]:
    """Without what may hold a key."""
    return {key: public_value(key, value) for key, value in values.items()}
