"""What every callback behind a button does first."""

from collections.abc import Iterable
from typing import Any

from dash import ctx
from dash.exceptions import PreventUpdate

AWAY = "Redis cannot be reached, so nothing was sent. Try again when it is back."


def only_clicks() -> None:
    """Buttons that have just been drawn report too, but without a click."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate


def pressed_id(told: Any, like: Iterable[str]) -> dict[str, str]:
    """The id of what was pressed, as a script of the page tells it; nothing if it is none."""
    if not isinstance(told, dict) or not all(isinstance(told.get(key), str) for key in like):
        raise PreventUpdate
    return {key: told[key] for key in like}
