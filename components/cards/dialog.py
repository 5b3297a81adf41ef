"""The one dialog: says what will happen, then does it."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from components import ids


def dialog() -> Component:
    """The dialog, closed. It stands outside the pages so that a redraw cannot take it away."""
    return dmc.Modal(
        id=ids.DIALOG,
        title="",
        centered=True,
        closeButtonProps={"aria-label": "Close"},
        children=html.Div(
            [
                dcc.Store(id=ids.PENDING),
                html.Div(
                    dmc.NumberInput(
                        id=ids.DIALOG_NUMBER,
                        label="Executors",
                        min=1,
                        max=1,
                        clampBehavior="strict",
                        allowDecimal=False,
                    ),
                    id=ids.DIALOG_NUMBER_BOX,
                ),
                html.P(id=ids.DIALOG_TEXT),
                html.P(id=ids.DIALOG_ERROR, className="dialog-error", role="alert"),
                html.Div(
                    [
                        html.Button(
                            "Cancel", id=ids.DIALOG_CANCEL, className="button", type="button"
                        ),
                        html.Button(
                            "Confirm",
                            id=ids.DIALOG_CONFIRM,
                            className="button button-primary",
                            type="button",
                        ),
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
