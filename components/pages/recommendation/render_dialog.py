"""The dialog before anything is decided: what will happen, a comment, one button."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.recommendation.ask import DecisionDialog
from weir.components.pages.recommendation.render_parts import figures_table
from weir.components.ui import ids
from weir.components.ui.parts import icon
from weir.components.ui.path import recommendation_path


def decision_body(ask: DecisionDialog) -> Component:
    """What it is about and what will happen; of a mode, the choice."""
    parts: list[Component | None] = []
    if ask.subject:
        parts.append(html.P(html.Strong(ask.subject), className="decision-subject"))
    if ask.record:
        parts.append(html.P([html.Strong("Track record: "), ask.record]))
    if ask.lines:
        parts.append(html.Ul([html.Li(line) for line in ask.lines], className="happens"))
    parts.append(figures_table(ask.rows))
    if ask.warning:
        parts.append(html.P([icon("warn"), ask.warning], className="proposal-hint"))
    said = html.Div(parts, className="decision")
    return html.Div([said, _modes(ask)], className="dialog") if ask.modes else said


def _modes(ask: DecisionDialog) -> Component:
    """The modes with what each means."""
    cluster = ask.pending["id"]
    radios = [
        dmc.Radio(
            value=value,
            label=f"{label} (now)" if value == ask.mode else label,
            description=meaning,
        )
        for value, label, meaning in ask.modes
    ]
    return html.Div(
        [
            dmc.RadioGroup(
                radios, id=ids.field("mode", cluster), label="Mode", value=ask.mode or None
            ),
            html.P(ask.mode_words, id=ids.field_text("mode", cluster), role="status"),
        ],
        className="mode-choice",
    )


def refusal(sentence: str, newer: str = "") -> list[Component | str]:
    """Why it was refused, and the new proposal where there is one."""
    if not newer:
        return [sentence]
    return [
        sentence,
        " ",
        dcc.Link("Look at the new proposal", href=recommendation_path(newer)),
        ".",
    ]
