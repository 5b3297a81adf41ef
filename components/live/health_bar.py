"""The health of every part, in the header."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.live.health import PartHealth
from weir.components.ui.parts import icon, since

_ICONS = {
    "up": "check",
    "starting": "clock",
    "silent": "warn",
    "down": "cross",
    "unseen": "warn",
    "unknown": "search",
    "amiss": "warn",
}
_WORDS = {"starting": "starting", "unseen": "not seen yet", "unknown": "unknown", "down": "down"}

_FOR = {"down": "down for ", "amiss": "for "}


def health_bar(parts: Sequence[PartHealth]) -> Component:
    """One chip per part; a shape and a word beside the colour."""
    return html.Ul([_chip(part) for part in parts], className="health", **{"aria-label": "Health"})


def _chip(part: PartHealth) -> Component:
    return html.Li(
        [icon(_ICONS[part.state]), html.Span(part.title, className="health-name"), *_words(part)],
        className="chip",
        title=part.detail,
        **{"data-part": part.id, "data-state": part.state},
    )


def _words(part: PartHealth) -> list[Component]:
    if part.state == "up":
        return [html.Span("up", className="visually-hidden")]
    if part.at is None or part.state in ("starting", "unseen", "unknown"):
        return [html.Span(_WORDS.get(part.state, part.state), className="health-word")]
    words = _FOR.get(part.state, "no sign of life for ")
    return [html.Span([words, since(part.at)], className="health-word")]
