"""What the buttons of the Scale page do. By HTTP, like all buttons."""

import asyncio
import uuid
from typing import Any

import redis
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from msgspec.structs import replace

from weir.components.live.hub import Hub
from weir.components.live.world import World
from weir.components.pages.recommendation.text import MEANINGS
from weir.components.pages.scale import qtable_actions as scale_memory_actions
from weir.components.pages.scale.hand import asked_of, preview
from weir.components.pages.scale.render_hand import prediction, refused
from weir.components.pages.scale.render_settings import form_body
from weir.components.pages.scale.settings import LIMITS, Form, form, read
from weir.components.pages.scale.view import title_of
from weir.components.ui import ids
from weir.components.ui.actions import AWAY, only_clicks
from weir.components.ui.asking import request
from weir.components.ui.dialog import toast
from weir.components.ui.path import scale_path
from weir.components.ui.text import plural
from weir.components.web.security import Role, current_user, require
from weir.controllers import service
from weir.controllers.engine.propose.scaling import group
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.metrics.store.redis_store import RedisStore

_FAILURES = (redis.exceptions.RedisError, OSError)


def register(app: Dash, hub: Hub) -> None:
    """All buttons of the page and of its dialogs."""
    _register_hand(app, hub)
    _register_follow(app, hub)
    _register_form(app, hub)
    _register_save(app, hub)
    scale_memory_actions.register(app, hub)


def _register_hand(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.SCALE_PREDICTION, "children"),
        Output(ids.SCALE_APPLY, "disabled"),
        Output(ids.SCALE_APPLY, "children"),
        Output(ids.SCALE_ASKED, "data"),
        Input(ids.SCALE_NUMBER, "value"),
        State(ids.SCALE_CLUSTER, "data"),
    )
    @require(Role.VIEWER)
    async def predict(executors: Any, cluster: Any) -> Any:
        try:
            shown = preview(await _world(hub, cluster), str(cluster), executors)
        except WeirError as error:
            return refused(str(error)), True, "Scale", None
        decision = shown.decision
        asked = {
            "id": uuid.uuid4().hex,  # given before the click: a second click is the same request
            "cluster": decision.cluster,
            "executors": decision.executors,
            "before": decision.before,
        }
        words = f"Scale to {decision.executors}" if shown.changes else "Scale"
        may = current_user().may(Role.APPROVER)
        return prediction(shown, may=may), not (shown.changes and may), words, asked

    @app.callback(
        Output(ids.SCALE_PREDICTION, "children", allow_duplicate=True),
        Output(ids.SCALE_APPLY, "disabled", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.SCALE_APPLY, "n_clicks"),
        State(ids.SCALE_ASKED, "data"),
        State(ids.SCALE_COMMENT, "value"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def apply(_clicks: int | None, asked: Any, comment: Any) -> Any:
        only_clicks()
        try:
            made = await _propose(hub, asked, comment)
        except WeirError as error:
            return refused(_sentence(error)), no_update, no_update
        except _FAILURES:
            return refused(AWAY), no_update, no_update
        await hub.refresh()
        return no_update, True, toast(_outcome(made))


def _register_follow(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.follow(ALL), "n_clicks"),  # type: ignore[arg-type]
        State(ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def follow(_clicks: list[int | None], cluster: Any) -> Any:
        only_clicks()
        scaler = ctx.triggered_id["scaler"]
        try:
            await asyncio.to_thread(_set, hub.store, group(str(cluster)), {"scaler": scaler})
        except WeirError as error:
            return toast(_sentence(error), "bad")
        except _FAILURES:
            return toast(AWAY, "bad")
        await hub.refresh()
        return toast(f"The engine follows {title_of(scaler)} on {cluster} from now on.")


def _register_form(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.FORM, "opened"),
        Output(ids.FORM, "title"),
        Output(ids.FORM_BODY, "children"),
        Output(ids.FORM_ERROR, "children"),
        Output(ids.FORM_SAVE, "style"),
        Output(ids.FORM_RESET, "style"),
        Output(ids.FORM_OF, "data"),
        Input(ids.scaler_settings(ALL), "n_clicks"),  # type: ignore[arg-type]
        Input(ids.SCALE_LIMITS, "n_clicks"),
        State(ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def open_(_clicks: list[int | None], _limits: int | None, cluster: Any) -> Any:
        only_clicks()
        asked = ctx.triggered_id
        of = LIMITS if asked == ids.SCALE_LIMITS else asked["scaler"]
        shown = form(await _world(hub, cluster), str(cluster), of)
        buttons = {} if shown.fields else {"display": "none"}
        about = {"cluster": cluster, "of": of}
        return True, shown.title, form_body(shown), "", buttons, buttons, about

    @app.callback(
        Output(ids.FORM_BODY, "children", allow_duplicate=True),
        Output(ids.FORM_ERROR, "children", allow_duplicate=True),
        Input(ids.FORM_RESET, "n_clicks"),
        State(ids.FORM_OF, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def defaults(_clicks: int | None, about: Any) -> Any:
        only_clicks()
        try:
            return form_body(await _form(hub, about), defaults=True), ""
        except WeirError as error:
            return no_update, _sentence(error)

    app.clientside_callback(
        ClientsideFunction("weir", "close"),
        Output(ids.FORM, "opened", allow_duplicate=True),
        Input(ids.FORM_CANCEL, "n_clicks"),
        prevent_initial_call=True,
    )


def _register_save(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.FORM, "opened", allow_duplicate=True),
        Output(ids.FORM_ERROR, "children", allow_duplicate=True),
        Output(ids.field(ALL, ALL), "error"),  # type: ignore[arg-type]
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(ids.FORM_SAVE, "n_clicks"),
        State(ids.FORM_OF, "data"),
        State(ids.field(ALL, ALL), "value"),  # type: ignore[arg-type]
        State(ids.field(ALL, ALL), "id"),  # type: ignore[arg-type]
        State(ids.switch(ALL, ALL), "checked"),  # type: ignore[arg-type]
        State(ids.switch(ALL, ALL), "id"),  # type: ignore[arg-type]
        running=[(Output(ids.FORM_SAVE, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def save(
        _clicks: int | None, about: Any, values: list[Any], fields: list[dict[str, str]],
        checked: list[Any], switches: list[dict[str, str]],
    ) -> Any:  # fmt: skip
        only_clicks()
        keys = [f["key"] for f in fields]
        given = dict(zip(keys, values, strict=True)) | {
            s["key"]: c for s, c in zip(switches, checked, strict=True)
        }
        nothing = [""] * len(keys)
        try:
            shown = await _form(hub, about)
            await asyncio.to_thread(_set, hub.store, shown.group, read(shown, given))
        except InvalidInput as error:
            marks = [_sentence(error) if key == error.field else "" for key in keys]
            return no_update, _sentence(error), marks, no_update
        except WeirError as error:
            return no_update, _sentence(error), nothing, no_update
        except _FAILURES:
            return no_update, AWAY, nothing, no_update
        await hub.refresh()
        return False, "", nothing, toast(f"Kept: {shown.title}.")


async def _world(hub: Hub, cluster: Any) -> World:
    """The world with all that is known of the scaling of a cluster."""
    return await hub.shown(scale_path(str(cluster)))


async def _form(hub: Hub, about: Any) -> Form:
    """The form that the open dialog shows."""
    if not isinstance(about, dict) or not {"cluster", "of"} <= about.keys():
        raise InvalidInput("Open the dialog again; nothing was kept.")
    cluster = str(about["cluster"])
    return form(await _world(hub, cluster), cluster, str(about["of"]))


async def _propose(hub: Hub, data: Any, comment: Any) -> Recommendation:
    """Ask for exactly what was predicted, once."""
    asked, ask = asked_of(data), request(comment)
    return await asyncio.to_thread(
        service.scale, hub.store, replace(ask, id=asked.id), asked.cluster, asked.executors,
        before=asked.before,
    )  # fmt: skip


def _set(store: RedisStore, name: str, values: dict[str, Any]) -> None:
    service.set_settings(store, request(), name, values)


def _outcome(made: Recommendation) -> str:
    number = getattr(made.decision, "executors", 0)
    what = f"{', '.join(made.clusters)} to {plural(number, 'executor')}"
    if made.status is Status.PROPOSED:
        return f"Scaling {what} waits for somebody else to approve it."
    return f"Scaling {what} is {made.status.value}: it {MEANINGS[made.status]}."


def _sentence(error: WeirError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
