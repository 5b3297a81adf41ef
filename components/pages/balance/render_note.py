"""How the engine fares with the balance, and the reading aid of the planner it follows."""

from dash import html
from dash.development.base_component import Component

from weir.components.pages.balance.view import PlansNote
from weir.components.ui.parts import icon, since

_ICONS = {"ok": "check", "warn": "clock", "bad": "warn"}


def balance_note(note: PlansNote) -> Component:
    """One line on the engine, one on what its planner sees."""
    age: list[Component | str] = [" ", since(note.since), " ago."] if note.since is not None else []
    lines: list[Component] = [
        html.P([icon(_ICONS[note.state]), html.Span([note.text, *age])], className="note-state")
    ]
    if note.aid:
        lines.append(html.P([html.Strong(f"{note.planner}: "), note.aid], className="note-aid"))
    return html.Div(lines, className="note", **{"data-state": note.state})
