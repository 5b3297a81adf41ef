"""The one dialog: it says what will happen, then has it done.

A page opens it with an `Ask` and registers who carries out what was confirmed. What cannot be
done is said in the open dialog, and nothing that was typed is lost.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import dash_mantine_components as dmc
import redis
from dash import (
    ALL,
    ClientsideFunction,
    Dash,
    Input,
    Output,
    State,
    ctx,
    dcc,
    html,
    no_update,
    set_props,
)
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate
from msgspec import Struct

from weir.components.ui import ids
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.ui.text import sentence
from weir.components.web.security import Role, check, require
from weir.controllers.model.errors import InvalidInput, WeirError

HIDDEN = {"display": "none"}


class Ask(Struct, frozen=True, kw_only=True):
    """What the dialog says, and what it lets people fill in."""

    title: str
    body: Any
    confirm: str  # the word of the button; empty where there is nothing to confirm
    cancel: str = "Cancel"
    other: str = ""  # the word of a further button
    danger: bool = False
    comment: bool = False  # there is a field for the reason
    comment_required: bool = False
    comment_first: bool = False  # that field has the focus
    error: str = ""  # what speaks against it from the start
    size: int | str = "md"
    pending: Any = None  # what the confirming click sends back


class Said(Struct, frozen=True, kw_only=True):
    """What somebody has confirmed."""

    pending: Any
    comment: str
    fields: Mapping[str, Any]  # the controls in the body, by key
    href: str


class Done(Struct, frozen=True, kw_only=True):
    """It is done: a note about it, and what changes on the page, by id."""

    said: str
    shown: Mapping[str, Mapping[str, Any]] = {}


class Stays(Struct, frozen=True, kw_only=True):
    """It was not done: why, and which field it is about."""

    error: Any
    field: str = ""


Confirm = Callable[[Said], Awaitable[Done | Stays]]
Other = Callable[[Any], Awaitable[Any]]


class _Asker(Struct, frozen=True):
    role: Role
    confirm: Confirm
    other: Other | None


class Dialog:
    """Who asks in the dialog, and what happens when it is answered."""

    def __init__(self) -> None:
        self._askers: dict[str, _Asker] = {}

    def on(self, asker: str, role: Role, confirm: Confirm, other: Other | None = None) -> None:
        """`confirm` carries out what `asker` asked, for people of a role and those above.

        `other` is what a further button brings: a new body, made of what is pending.
        """
        self._askers[asker] = _Asker(role, confirm, other)

    def open_outputs(self, asker: str, ask: Ask) -> dict[str, Any]:
        """What a callback with the `outputs` returns to open it."""
        look = "danger" if ask.danger else "primary"
        return {
            "opened": True,
            "title": ask.title,
            "size": ask.size,
            # Another key makes the controls new ones: they keep what was typed otherwise.
            "body": html.Div(ask.body, key=uuid.uuid4().hex),
            "error": ask.error,
            "comment": "",
            "required": ask.comment_required,
            "focus": "true" if ask.comment_first else None,
            "why": {} if ask.comment else HIDDEN,
            "other": ask.other,
            "other_style": {} if ask.other else HIDDEN,
            "cancel": ask.cancel,
            "confirm": ask.confirm,
            "confirm_style": {} if ask.confirm else HIDDEN,
            "look": f"button button-{look}",
            "needs": str(self._askers[asker].role),
            "pending": {"asker": asker, "about": ask.pending},
            "toast": no_update,
        }

    async def ask(self, asker: str, ask: Callable[..., Ask], *about: Any) -> dict[str, Any]:
        """The same, where there may be nothing to ask about any more: a note says so."""
        try:
            return self.open_outputs(asker, await asyncio.to_thread(ask, *about))
        except WeirError as error:
            return self._refuse(sentence(str(error)))
        except (redis.exceptions.RedisError, OSError):
            return self._refuse(AWAY)

    def _refuse(self, why: str) -> dict[str, Any]:
        """A note in place of the dialog."""
        return {**dict.fromkeys(outputs(), no_update), "toast": toast(why, "bad")}

    def register(self, app: Dash) -> None:
        """Cancel, confirm, and the further button."""
        app.clientside_callback(
            ClientsideFunction("weir", "close"),
            Output(ids.DIALOG, "opened", allow_duplicate=True),
            Input(ids.DIALOG_CANCEL, "n_clicks"),
            prevent_initial_call=True,
        )

        @app.callback(
            Output(ids.DIALOG, "opened", allow_duplicate=True),
            Output(ids.DIALOG_ERROR, "children", allow_duplicate=True),
            Output(ids.field(ALL, ALL), "error"),
            Output(ids.TOAST, "children", allow_duplicate=True),
            Input(ids.DIALOG_CONFIRM, "n_clicks"),
            State(ids.DIALOG_PENDING, "data"),
            State(ids.DIALOG_COMMENT, "value"),
            State(ids.field(ALL, ALL), "value"),
            State(ids.field(ALL, ALL), "id"),
            State(ids.switch(ALL, ALL), "checked"),
            State(ids.switch(ALL, ALL), "id"),
            State(ids.URL, "href"),
            running=[(Output(ids.DIALOG_CONFIRM, "disabled"), True, False)],
            prevent_initial_call=True,
        )
        @require(Role.VIEWER)  # each question has a role of its own, which is checked with it
        async def confirm(
            _clicks: int | None, pending: Any, comment: Any, values: list[Any],
            fields: list[dict[str, str]], checked: list[Any], switches: list[dict[str, str]],
            href: Any,
        ) -> Any:  # fmt: skip
            only_clicks()
            keys = [f["key"] for f in fields]
            given = dict(zip(keys, values, strict=True)) | {
                s["key"]: c for s, c in zip(switches, checked, strict=True)
            }
            found = await self._answer(pending, str(comment or ""), given, str(href or ""))
            if isinstance(found, Stays):
                marks = [found.error if key == found.field else "" for key in keys]
                return no_update, found.error, marks, no_update
            for name, properties in found.shown.items():
                set_props(name, dict(properties))
            return False, "", [""] * len(keys), toast(found.said)

        @app.callback(
            Output(ids.DIALOG_BODY, "children", allow_duplicate=True),
            Output(ids.DIALOG_ERROR, "children", allow_duplicate=True),
            Input(ids.DIALOG_OTHER, "n_clicks"),
            State(ids.DIALOG_PENDING, "data"),
            prevent_initial_call=True,
        )
        @require(Role.VIEWER)
        async def other(_clicks: int | None, pending: Any) -> Any:
            only_clicks()
            try:
                asker = self._asker(pending)
                if asker.other is None:
                    raise InvalidInput("there is no such button")
                body = await asker.other(pending["about"])
            except WeirError as error:
                return no_update, sentence(str(error))
            return html.Div(body, key=uuid.uuid4().hex), ""

    async def _answer(
        self, pending: Any, comment: str, given: dict[str, Any], href: str
    ) -> Done | Stays:
        try:
            asker = self._asker(pending)
        except InvalidInput as error:
            return Stays(error=sentence(str(error)))
        check(asker.role, f"dialog.{pending['asker']}")
        said = Said(pending=pending["about"], comment=comment, fields=given, href=href)
        try:
            return await asker.confirm(said)
        except WeirError as error:
            return Stays(error=sentence(str(error)))
        except (redis.exceptions.RedisError, OSError):
            return Stays(error=AWAY)

    def _asker(self, pending: Any) -> _Asker:
        """Who asked, as it came back from the browser."""
        name = pending.get("asker") if isinstance(pending, dict) else None
        found = self._askers.get(name) if isinstance(name, str) else None
        if found is None or "about" not in pending:
            raise InvalidInput("Open the dialog again; nothing was done.")
        return found


def outputs() -> dict[str, Output]:
    """What a callback that opens the dialog puts out."""
    parts = {
        "opened": (ids.DIALOG, "opened"),
        "title": (ids.DIALOG, "title"),
        "size": (ids.DIALOG, "size"),
        "body": (ids.DIALOG_BODY, "children"),
        "error": (ids.DIALOG_ERROR, "children"),
        "comment": (ids.DIALOG_COMMENT, "value"),
        "required": (ids.DIALOG_COMMENT, "required"),
        "focus": (ids.DIALOG_COMMENT, "data-autofocus"),
        "why": (ids.DIALOG_COMMENT_BOX, "style"),
        "other": (ids.DIALOG_OTHER, "children"),
        "other_style": (ids.DIALOG_OTHER, "style"),
        "cancel": (ids.DIALOG_CANCEL, "children"),
        "confirm": (ids.DIALOG_CONFIRM, "children"),
        "confirm_style": (ids.DIALOG_CONFIRM, "style"),
        "look": (ids.DIALOG_CONFIRM, "className"),
        "needs": (ids.DIALOG_CONFIRM, "data-needs"),
        "pending": (ids.DIALOG_PENDING, "data"),
        "toast": (ids.TOAST, "children"),
    }
    return {key: Output(*part, allow_duplicate=True) for key, part in parts.items()}


def chosen_control() -> tuple[str, Any]:
    """What a control of the dialog is about, and its value, in a callback that follows it."""
    if not isinstance(ctx.triggered_id, dict):
        raise PreventUpdate
    return str(ctx.triggered_id["of"]), ctx.triggered[0]["value"]


def dialog() -> Component:
    """The dialog, closed. It stands outside the pages, so that a redraw cannot take it away."""
    comment = dmc.TextInput(
        id=ids.DIALOG_COMMENT,
        label="Comment",
        debounce=False,
        attributes={"input": {"maxLength": 500}},
    )
    return dmc.Modal(
        id=ids.DIALOG,
        title="",
        centered=True,
        closeButtonProps={"aria-label": "Close"},
        children=html.Div(
            [
                dcc.Store(id=ids.DIALOG_PENDING),
                html.Div(id=ids.DIALOG_BODY),
                html.Div(comment, id=ids.DIALOG_COMMENT_BOX),
                html.Div(id=ids.DIALOG_ERROR, className="dialog-error", role="alert"),
                html.Div(
                    [
                        html.Button(id=ids.DIALOG_OTHER, className="button", type="button"),
                        html.Button(id=ids.DIALOG_CANCEL, className="button", type="button"),
                        html.Button(id=ids.DIALOG_CONFIRM, className="button", type="button"),
                    ],
                    className="dialog-buttons",
                ),
            ],
            className="dialog",
        ),
    )


def toast(message: str, state: str = "ok") -> Component:
    """A short note in the corner; goes by itself. The key makes each one new."""
    return html.Div(message, className="toast", **{"data-state": state})
