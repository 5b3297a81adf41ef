"""Dialogs: say what will happen, then do it."""

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.ui import ids
from weir.components.web.security import Role, needs


def modal(
    name: str,
    *body: Component,
    error: str,
    buttons: Sequence[Component],
    title: str = "",
    **more: Any,
) -> Component:
    """The frame of every dialog, closed: what it says, why it could not, and its buttons.

    It stands outside the pages, so that a redraw cannot take it away.
    """
    return dmc.Modal(
        id=name,
        title=title,
        centered=True,
        closeButtonProps={"aria-label": "Close"},
        children=html.Div(
            [
                *body,
                html.Div(id=error, className="dialog-error", role="alert"),
                html.Div(list(buttons), className="dialog-buttons"),
            ],
            className="dialog",
        ),
        **more,
    )


def button(word: str, name: str, look: str = "", role: Role | None = None) -> Component:
    """A button of a dialog: plain, "primary" or "danger"; for whom, if not for all."""
    return html.Button(
        word,
        id=name,
        className=f"button button-{look}" if look else "button",
        type="button",
        **(needs(role) if role else {}),
    )


def comment_field(name: str, **more: Any) -> Component:
    """Why it is done, for the audit trail."""
    return dmc.TextInput(
        id=name, label="Comment", debounce=False, attributes={"input": {"maxLength": 500}}, **more
    )


def dialog() -> Component:
    """Scale a cluster, or start, stop or restart an operator."""
    executors = dmc.NumberInput(
        id=ids.DIALOG_NUMBER,
        label="Executors",
        min=1,
        max=1,
        clampBehavior="strict",
        allowDecimal=False,
    )
    return modal(
        ids.DIALOG,
        dcc.Store(id=ids.PENDING),
        html.Div(executors, id=ids.DIALOG_NUMBER_BOX),
        html.P(id=ids.DIALOG_TEXT),
        comment_field(ids.DIALOG_COMMENT),
        error=ids.DIALOG_ERROR,
        buttons=(
            button("Cancel", ids.DIALOG_CANCEL),
            button("Confirm", ids.DIALOG_CONFIRM, "primary", Role.APPROVER),
        ),
    )


def toast(message: str, state: str = "ok") -> Component:
    """A short note in the corner; goes by itself. The key makes each one new."""
    return html.Div(message, className="toast", **{"data-state": state})
