"""What every callback behind a button does first."""

from dash import ctx
from dash.exceptions import PreventUpdate

AWAY = "Redis cannot be reached, so nothing was sent. Try again when it is back."


def only_clicks() -> None:
    """Buttons that have just been drawn report too, but without a click."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate
