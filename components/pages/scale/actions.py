"""What the buttons of the Scale page do. By HTTP, like all buttons."""

import asyncio
import uuid
from typing import Any

import redis
from dash import ALL, Dash, Input, Output, State, ctx, no_update

from weir.components.live.hub import Hub
from weir.components.live.recommendation_words import MEANINGS
from weir.components.live.world import World
from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.hand import preview, read_request
from weir.components.pages.scale.render_hand import prediction, render_refusal
from weir.components.pages.scale.render_settings import form_body
from weir.components.pages.scale.settings import LIMITS, Form, form, read
from weir.components.pages.scale.view import title_of
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.ui.dialog import Ask, Dialog, Done, Said, Stays, outputs, toast
from weir.components.ui.path import scale_path
from weir.components.ui.text import plural
from weir.components.web.security import Role, current_user, require
from weir.controllers import service
from weir.controllers.engine.propose.scaling import scale_group
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.errors import InvalidInput, WeirError
from weir.metrics.store.redis_store import RedisStore

_FAILURES = (redis.exceptions.RedisError, OSError)
ASKER = "scaler settings"


def register(app: Dash, hub: Hub, dialog: Dialog) -> None:
    """All buttons of the page and of its dialogs."""
    _register_hand(app, hub)
    _register_follow(app, hub)
    _register_form(app, hub, dialog)


def _register_hand(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(scale_ids.SCALE_PREDICTION, "children"),
        Output(scale_ids.SCALE_APPLY, "disabled"),
        Output(scale_ids.SCALE_APPLY, "children"),
        Output(scale_ids.SCALE_ASKED, "data"),
        Input(scale_ids.SCALE_NUMBER, "value"),
        State(scale_ids.SCALE_CLUSTER, "data"),
    )
    @require(Role.VIEWER)
    async def predict(executors: Any, cluster: Any) -> Any:
        try:
            shown = preview(await _world(hub, cluster), str(cluster), executors)
        except WeirError as error:
            return render_refusal(str(error)), True, "Scale", None
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
        Output(scale_ids.SCALE_PREDICTION, "children", allow_duplicate=True),
        Output(scale_ids.SCALE_APPLY, "disabled", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(scale_ids.SCALE_APPLY, "n_clicks"),
        State(scale_ids.SCALE_ASKED, "data"),
        State(scale_ids.SCALE_COMMENT, "value"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def apply(_clicks: int | None, asked: Any, comment: Any) -> Any:
        only_clicks()
        try:
            made = await _propose(hub, asked, comment)
        except WeirError as error:
            return render_refusal(_sentence(error)), no_update, no_update
        except _FAILURES:
            return render_refusal(AWAY), no_update, no_update
        await hub.refresh()
        return no_update, True, toast(_outcome(made))


def _register_follow(app: Dash, hub: Hub) -> None:
    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(scale_ids.follow(ALL), "n_clicks"),
        State(scale_ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def follow(_clicks: list[int | None], cluster: Any) -> Any:
        only_clicks()
        scaler = ctx.triggered_id["scaler"]
        try:
            await asyncio.to_thread(_set, hub.store, scale_group(str(cluster)), {"scaler": scaler})
        except WeirError as error:
            return toast(_sentence(error), "bad")
        except _FAILURES:
            return toast(AWAY, "bad")
        await hub.refresh()
        return toast(f"The engine follows {title_of(scaler)} on {cluster} from now on.")


def _register_form(app: Dash, hub: Hub, dialog: Dialog) -> None:
    @app.callback(
        outputs(),
        Input(scale_ids.scaler_settings(ALL), "n_clicks"),
        Input(scale_ids.SCALE_LIMITS, "n_clicks"),
        State(scale_ids.SCALE_CLUSTER, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def open_(_clicks: list[int | None], _limits: int | None, cluster: Any) -> Any:
        only_clicks()
        asked = ctx.triggered_id
        of = LIMITS if asked == scale_ids.SCALE_LIMITS else asked["scaler"]
        shown = form(await _world(hub, cluster), str(cluster), of)
        ask = Ask(
            title=shown.title,
            body=form_body(shown),
            confirm="Save" if shown.fields else "",
            other="Defaults" if shown.fields else "",
            size=760,
            pending={"cluster": cluster, "of": of},
        )
        return dialog.open_outputs(ASKER, ask)

    async def defaults(about: Any) -> Any:
        return form_body(await _form(hub, about), defaults=True)

    async def save(said: Said) -> Done | Stays:
        try:
            shown = await _form(hub, said.pending)
            await asyncio.to_thread(_set, hub.store, shown.group, read(shown, said.fields))
        except InvalidInput as error:
            return Stays(error=_sentence(error), field=error.field or "")
        except WeirError as error:
            return Stays(error=_sentence(error))
        await hub.refresh()
        return Done(said=f"Kept: {shown.title}.")

    dialog.on(ASKER, Role.ADMIN, save, defaults)


async def _world(hub: Hub, cluster: Any) -> World:
    """The world with all that is known of the scaling of a cluster."""
    return await hub.world_for(scale_path(str(cluster)))


async def _form(hub: Hub, about: Any) -> Form:
    """The form that the open dialog shows."""
    if not isinstance(about, dict) or not {"cluster", "of"} <= about.keys():
        raise InvalidInput("Open the dialog again; nothing was kept.")
    cluster = str(about["cluster"])
    return form(await _world(hub, cluster), cluster, str(about["of"]))


async def _propose(hub: Hub, data: Any, comment: Any) -> Recommendation:
    """Ask for exactly what was predicted, once."""
    asked = read_request(data)
    ask = request(comment, asked.id)
    return await asyncio.to_thread(
        service.scale, hub.store, ask, asked.cluster, asked.executors, before=asked.before
    )


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
