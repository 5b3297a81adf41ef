"""Buttons that ask an agent to do something; each opens the dialog first."""

from dash import html
from dash.development.base_component import Component

from weir.components.ui import ids
from weir.components.ui.figure import Figures
from weir.components.ui.parts import icon, live
from weir.components.ui.surface import press
from weir.components.web.security import Role, needs
from weir.controllers.model.sample import Cluster

_ICONS = {
    "scale": "scale", "start": "play", "stop": "stop", "restart": "restart", "forget": "cross",
    "share": "scale", "add": "plus", "end": "stop",
}  # fmt: skip


def ask_button(
    verb: str, cluster: str, operator: str = "", *, words: bool = True, role: Role = Role.APPROVER
) -> Component:
    """One button; where there is little room its name is only spoken and hinted."""
    label = f"{verb.capitalize()} {operator or cluster or 'a cluster'}"
    return html.Button(
        [icon(_ICONS[verb]), verb.capitalize() if words else ""],
        className=f"button button-{verb}" + ("" if words else " button-icon"),
        type="button",
        **press(ids.ask(verb, cluster, operator), title=label),
        **{"aria-label": label},
        **needs(role),
    )


def scale_button(cluster: Cluster) -> Component | None:
    """Scaling, where an agent is there that can carry it out."""
    return ask_button("scale", cluster.name) if cluster.can_scale else None


def operator_buttons(
    figures: Figures, cluster: Cluster | None, operator: str, *, words: bool = True
) -> Component | None:
    """Start, or stop and restart: the style sheet shows what the present status allows."""
    if cluster is None or not cluster.hosted:
        return None
    key = f"operator/{operator}/can"
    return html.Span(
        [ask_button(v, cluster.name, operator, words=words) for v in ("start", "restart", "stop")],
        className="operator-buttons",
        role="group",
        **{"data-live": key, "data-state": figures[key].state, "data-keep": "text"},
    )


def mode_button(figures: Figures, cluster: str) -> Component:
    """Shows the mode and opens the dialog that changes it."""
    return html.Button(
        [html.Span("Mode", className="quiet"), live(figures, f"mode/{cluster}", "mode-name")],
        className="button button-mode",
        type="button",
        **press(ids.mode(cluster), title=f"How much the engine may do on {cluster}"),
        **{"aria-label": f"Change the mode of {cluster}", "data-needs": "admin"},
    )
