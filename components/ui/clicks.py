"""What every callback behind a button does first."""

from typing import Any

from dash import ctx
from dash.exceptions import PreventUpdate

from weir.components.ui.asking import COMMENT_MOST

AWAY = "Redis cannot be reached, so nothing was sent. Try again when it is back."


def commented(given: Any) -> str:
    """What a person wrote into a field for the reason."""
    return str(given or "")[:COMMENT_MOST]


def only_clicks() -> None:
    """Buttons that have just been drawn report too, but without a click."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate
