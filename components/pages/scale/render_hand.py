"""Scaling by hand: choose a number, read what it should bring, then ask for it."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.hand import Bound, HandPreview, latency_words
from weir.components.ui import text
from weir.components.ui.parts import card, fact, icon
from weir.components.ui.surface import control, press


def hand_card(cluster: str, bound: Bound, *, comment_required: bool = False) -> Component:
    """The number, its prediction and the button; or why there is none."""
    if bound.refusal:
        return card(
            html.P([icon("clock"), bound.refusal], className="quiet refusal"),
            title="Scale by hand",
        )
    return card(
        dcc.Store(id=scale_ids.SCALE_ASKED),
        html.Div(
            [
                dmc.NumberInput(
                    **control(scale_ids.SCALE_NUMBER),
                    label="Executors",
                    description=f"{bound.least} to {bound.most} allowed",
                    value=bound.executors,
                    min=bound.least,
                    max=bound.most,
                    clampBehavior="none",  # a number outside is refused in words
                    allowDecimal=False,
                    persistence=cluster,
                    persistence_type="memory",
                ),
                dmc.TextInput(
                    **control(scale_ids.SCALE_COMMENT),
                    label="Why",
                    description="required here" if comment_required else "for the audit trail",
                    required=comment_required,
                    persistence=cluster,
                    persistence_type="memory",
                ),
                html.Button(
                    "Scale",
                    **press(scale_ids.SCALE_APPLY, disabled=True),
                    className="button button-primary",
                    type="button",
                ),
            ],
            className="steer scale-steer",
        ),
        html.Div(id=scale_ids.SCALE_PREDICTION, className="prediction", role="status"),
        title="Scale by hand",
    )


def prediction(shown: HandPreview, *, may: bool = True) -> Component:
    """What the chosen number should bring; who may not ask for it is told so."""
    parts: list[Component] = [html.P(shown.words)]
    if shown.changes:
        after = html.Strong(text.load(shown.load_after), **{"data-state": shown.load_state})
        parts.append(
            html.Dl(
                [
                    fact("Load", [f"{text.load(shown.load_before)} → ", after]),
                    fact(
                        "Latency",
                        f"{text.seconds(shown.latency_before_s)} → {latency_words(shown)}",
                    ),
                ],
                className="facts",
            )
        )
    if shown.warning:
        parts.append(html.P([icon("warn"), shown.warning], className="note-message"))
    if shown.changes and not may:
        parts.append(html.P("To ask for it needs the role approver.", className="quiet"))
    return html.Div(parts)


def render_refusal(why: str) -> Component:
    """Why the chosen number cannot be had."""
    return html.P(why, className="dialog-error", role="alert")
