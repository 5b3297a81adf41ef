"""Components as plain trees, for what `assets/live/regions.js` puts on the page instead of Dash."""

from typing import Any

import msgspec
from dash.development.base_component import Component

_OF_DASH = ("available_properties", "available_wildcard_properties")  # what a component may have


def as_json(value: Any) -> bytes:
    """Plain data with components in it, as a text.

    >>> from dash import html
    >>> as_json([html.B("5", title="five")])
    b'[{"type":"B","props":{"children":"5","title":"five"}}]'
    """
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """A component, or a number of numpy's."""
    if not isinstance(value, Component):
        return value.item()
    given = {k: v for k, v in vars(value).items() if v is not None and k[0] != "_"}
    for name in _OF_DASH:
        given.pop(name, None)
    return {"type": type(value).__name__, "props": given}
