"""What the Q-learning scaler has learned; `assets/pages/scale/qtable.js` draws into the empty boxes."""

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.qtable import MOST_BINS, TRAIL_SHOWN, Learner, LearnerText
from weir.components.ui.parts import card, fact, region
from weir.components.ui.surface import control, press

ROW_PX = 38
HEAD_PX = 74
MOST_PX = 560
_AID = (
    "A cell says what an action is worth at a latency, with the workload rising or not. Coloured: "
    "tried, and learned from rewards. Grey: never tried, so still the value it began with (prior)."
)


def learner_box(said: LearnerText) -> Component:
    """Facts, then the last decision with its numbers."""
    return html.Div(
        [
            html.Dl([fact(n.name, n.value) for n in said.facts], className="facts"),
            html.P(said.epsilon, className="quiet"),
            html.P([html.Strong("Last decision. "), said.decision], className="last-decision"),
        ],
        className="learner",
    )


def qtable_card(cluster: str, found: Learner) -> Component:
    """Table, curve, words and what can be done with the table."""
    rows = min(found.space.bins, MOST_BINS)
    height = min(rows * ROW_PX, MOST_PX) + HEAD_PX
    return card(
        html.Div(
            [
                html.Div(
                    [
                        html.P(_AID, className="quiet qtable-aid"),
                        html.Div(
                            className="qtable",
                            style={"height": f"{height}px"},
                            tabIndex=0,
                            role="img",
                            **{
                                "data-qtable": "table",
                                "aria-label": "Worth of every action in every state; "
                                "the arrow keys read one cell after the other",
                            },
                        ),
                        _legend(),
                    ],
                    className="qtable-box",
                ),
                html.Div(
                    [
                        region(scale_ids.LEARNER),
                        html.Figure(
                            [
                                html.Figcaption(
                                    html.Span(
                                        "Learning curve: reward of each decision, "
                                        "and the running mean",
                                        className="tile-title",
                                    )
                                ),
                                html.Div(
                                    className="plot curve",
                                    tabIndex=0,
                                    role="img",
                                    **{"data-curve": "rewards", "aria-label": "Learning curve"},
                                ),
                            ],
                            className="tile",
                        ),
                    ]
                ),
            ],
            className="learning",
        ),
        title="What Q-learning knows",
        right=_buttons(cluster),
    )


def _legend() -> Component:
    return html.Div(
        [
            html.Span([html.B("★"), "worth most in its state"]),
            html.Span([html.I(className="key-present"), "present state"]),
            html.Span([html.B("×3"), "times tried"]),
            html.Span([html.I(className="key-prior"), "never tried: prior"]),
            html.Span([html.I(className="key-trail"), f"last {TRAIL_SHOWN} steps, newest boldest"]),
            html.Span(
                [
                    "−",
                    html.I(className="matrix-scale", **{"aria-hidden": "true"}),
                    "+ learned worth",
                ],
                className="worth-scale",
            ),
        ],
        className="legend qtable-legend",
    )


def _buttons(cluster: str) -> Component:
    def button(word: str, name: str, needs: str) -> Component:
        return html.Button(
            word,
            **press(name),
            className="button",
            type="button",
            **{"aria-label": f"{word} the table of {cluster}", "data-needs": needs},
        )

    return html.Div(
        [
            dcc.Download(id=scale_ids.TABLE_DOWNLOAD),
            button("Export", scale_ids.TABLE_EXPORT, "viewer"),
            # The box itself takes the key: what is in it is only drawn like a button.
            html.Span(
                dcc.Upload(
                    html.Span("Import", className="button"),
                    **control(scale_ids.TABLE_IMPORT),
                    accept=".json,application/json",
                    max_size=700_000,  # what a callback takes, as base64
                    className="upload",
                    className_active="upload upload-active",
                ),
                **{"data-needs": "admin", "data-names": f"Import the table of {cluster}"},
            ),
            button("Reset", scale_ids.TABLE_RESET, "admin"),
        ],
        className="card-actions",
    )
