"""Every planner's and scaler's answer at a past moment, beside what was done then."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.commands_list import commands_list
from weir.components.pages.balance.render_plans import agreement
from weir.components.pages.replay.advice import Advice, Answers
from weir.components.pages.settings.then import SettingsShown
from weir.components.ui.parts import card, when

FOLLOWED = " (followed)"


def advice_card(found: Advice) -> Component:
    """One table per question, and the list of what was done."""
    return html.Div(
        [
            card(
                _settings(found.settings),
                *[_answers(a) for a in found.asked]
                or [html.P("Nothing to decide at this moment.")],
                title="What would have been recommended at this moment",
                right=html.Span(["at ", when(found.at)], className="quiet"),
            ),
            card(
                commands_list(found.done)
                if found.done
                else html.P(
                    "Nothing was asked for within two minutes of this moment.", className="quiet"
                ),
                title="What was done then",
            ),
        ],
        className="split",
    )


def _settings(shown: SettingsShown) -> Component:
    return html.Details(
        [
            html.Summary("Settings then"),
            html.P(shown.note, className="quiet"),
            html.Dl(
                [part for name, words in shown.rows for part in (html.Dt(name), html.Dd(words))]
            ),
        ],
        open=True,
        className="settings-then",
        **{"data-recorded": str(shown.recorded)},
    )


def _answers(asked: Answers) -> Component:
    head = html.Tr([html.Th(h, scope="col") for h in (asked.asked, "Answer", "Why")])
    body = [
        html.Tr(
            [
                html.Th(
                    [
                        said.who,
                        FOLLOWED if said.followed else None,
                        agreement(said.agree),
                    ],
                    scope="row",
                ),
                html.Td(
                    said.answer,
                    className="advice-answer wide",
                    **{"data-acts": str(said.acts), "data-label": "Answer"},
                ),
                html.Td(said.why, className="advice-why wide", **{"data-label": "Why"}),
            ]
        )
        for said in asked.answers
    ]
    return html.Div(
        [
            html.H3(
                [asked.about, html.Span(asked.now, className="quiet")], className="advice-about"
            ),
            html.Div(
                html.Table([html.Thead(head), html.Tbody(body)], className="table advice labelled"),
                className="table-box",
            ),
        ],
        **{"data-advice": asked.about},
    )
