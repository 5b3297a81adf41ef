"""The dialog before anything is decided: what will happen, a comment, one button."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.recommendation.ask import Ask
from weir.components.pages.recommendation.render_parts import figures_table
from weir.components.ui import ids
from weir.components.ui.dialog import button, comment_field, modal
from weir.components.ui.parts import icon
from weir.components.ui.path import recommendation_path


def decision_dialog() -> Component:
    """The dialog, closed."""
    return modal(
        ids.DECISION,
        dcc.Store(id=ids.DECIDING),
        html.Div(id=ids.DECISION_BODY),
        html.Div(
            [
                dmc.RadioGroup(id=ids.DECISION_MODE, children=[], label="Mode"),
                html.P(id=ids.DECISION_MODE_TEXT, role="status"),
            ],
            id=ids.DECISION_MODE_BOX,
            className="mode-choice",
            style={"display": "none"},
        ),
        comment_field(ids.DECISION_COMMENT, **{"data-autofocus": "true"}),
        error=ids.DECISION_ERROR,
        buttons=(
            button("Back", ids.DECISION_CANCEL),
            button("Confirm", ids.DECISION_CONFIRM, "primary"),
        ),
        size=640,
    )


def decision_body(ask: Ask) -> Component:
    """What it is about and what will happen."""
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
    return html.Div(parts, className="decision")


def mode_radios(ask: Ask) -> list[Component]:
    """The modes with what each means."""
    return [
        dmc.Radio(
            value=value,
            label=f"{label} (now)" if value == ask.mode else label,
            description=meaning,
        )
        for value, label, meaning in ask.modes
    ]


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
