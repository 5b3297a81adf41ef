"""What-if: the same input under another policy, after the simulator has earned trust."""

from collections.abc import Mapping, Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.history.render_plots import plot_legend, plot_tiles
from weir.components.pages.history.view import tune_path
from weir.components.pages.what_if import ids as own
from weir.components.pages.what_if.child import WhatIfAnswer
from weir.components.pages.what_if.choices import Choices
from weir.components.pages.what_if.render_form import (
    TUNABLE_FIRST,
    fields_of,
    form_of,
    scaler_choices,
)
from weir.components.pages.what_if.view import (
    HEADS,
    PolicyRow,
    Trust,
    conclusion,
    plots,
    rows,
    trust,
)
from weir.components.ui import text
from weir.components.ui.parts import card, stamp
from weir.components.ui.path import replay_path
from weir.metrics.runs.library import RunInfo

FIRST = (TUNABLE_FIRST, "thresholds")


def render(run: RunInfo, target_latency_s: float, asked: Choices) -> Component:
    """The frame, with what the address asks; the answer comes when the simulator has run."""
    cluster = asked.cluster if asked.cluster in run.clusters else ""
    return html.Div(
        [
            head(run, "What-if", "The same input under another policy."),
            dcc.Store(id=own.WHAT_IF, data=run.id),
            dcc.Store(id=own.WI_ADDRESS),
            dcc.Store(id=own.WI_KEPT),
            card(
                html.Div(
                    [
                        cluster_choice(own.WI_CLUSTER, run.clusters, cluster),
                        target_choice(own.WI_TARGET, asked.target_latency_s or target_latency_s),
                        dmc.MultiSelect(
                            id=own.WI_POLICIES,
                            label="Scalers, each with its defaults",
                            data=scaler_choices(),
                            value=list(FIRST if asked.policies is None else asked.policies),
                            maxValues=6,
                            className="wide-input",
                        ),
                        html.Button(
                            "Simulate",
                            id=own.WI_GO,
                            className="button button-primary",
                            type="button",
                            **{"data-needs": "approver"},
                        ),
                    ],
                    className="form-head",
                ),
                html.Details(
                    [
                        html.Summary("And one with settings of your own"),
                        html.Div(
                            [
                                dmc.Select(
                                    id=own.WI_SCALER,
                                    label="Scaler",
                                    data=[{"value": "", "label": "none"}, *scaler_choices()],
                                    value=asked.scaler,
                                    allowDeselect=False,
                                ),
                                html.Div(own_form(asked.scaler, asked.settings), id=own.WI_FORM),
                            ],
                            className="stack own-settings",
                        ),
                    ],
                    open=bool(asked.scaler),
                ),
                title="Ask",
            ),
            html.Div(_waiting(), id=own.WI_RESULT, className="stack"),
        ],
        className="stack",
    )


def result(answer: WhatIfAnswer) -> list[Component]:
    """Trust first, then figures and series."""
    shown, drawn = rows(answer), plots(answer)
    part = "" if answer.whole else "the last part of the run, "
    return [
        trust_card(trust(answer)),
        card(
            html.P(html.Strong(conclusion(answer)), className="conclusion"),
            _table(shown),
            html.P(
                f"{answer.cluster}, {part}{text.seconds(answer.hours * 3600)} of input, target "
                f"{answer.target_latency_s:g} s. Changes are against what was done, simulated too.",
                className="quiet",
            ),
            title="Policies side by side",
            right=html.Span("simulated", className="simulated"),
        ),
        card(
            plot_legend(drawn),
            plot_tiles(drawn),
            title="Measured against simulated",
            right=html.Span("dashed: simulated, with its error as a band", className="simulated"),
        ),
    ]


def render_refusal(why: str) -> list[Component]:
    """Why there is nothing to show."""
    return [html.Div([html.P(why)], className="trust", role="alert", **{"data-state": "bad"})]


def trust_card(found: Trust) -> Component:
    """How far the simulator can be trusted on this run."""
    figures = [
        html.Div(
            [
                html.Div(f"{name}, median error", className="figure-title"),
                html.Div(value, className="figure-value"),
            ],
            className="figure",
        )
        for name, value in found.figures
    ]
    return html.Section(
        [
            html.H2(found.title),
            html.P(found.words),
            html.Div(figures, className="trust-figures") if figures else None,
        ],
        className="trust",
        **{"data-state": found.state, "aria-label": "Trust"},
    )


def head(run: RunInfo, what: str, words: str) -> Component:
    """Where one is, and of which run."""
    return html.Div(
        [
            html.Nav(
                [
                    dcc.Link("History", href="/history"),
                    dcc.Link(run.name, href=replay_path(run.id)),
                    html.Span(what),
                ],
                className="crumbs",
                **{"aria-label": "Where you are"},
            ),
            html.Div(
                [
                    html.H1(f"{what}: {run.name}"),
                    html.Span("simulated", className="simulated"),
                    html.Span([words, " Recorded ", stamp(run.first_at), "."], className="quiet"),
                ],
                className="card-title",
            ),
            html.Div(
                [
                    dcc.Link("Replay", href=replay_path(run.id), className="button"),
                    dcc.Link("Tune", href=tune_path(run.id), className="button")
                    if what != "Tune"
                    else None,
                ],
                className="card-actions",
            ),
        ],
        className="page-head",
    )


def cluster_choice(name: str, clusters: Sequence[str], chosen: str = "") -> Component:
    """The cluster that is asked about."""
    options = [{"value": "", "label": "the busiest"}, *({"value": c, "label": c} for c in clusters)]
    return dmc.Select(
        id=name, label="Cluster", data=options, value=chosen, allowDeselect=False
    )  # fmt: skip


def target_choice(name: str, target_latency_s: float) -> Component:
    """The latency to stay below."""
    return dmc.NumberInput(
        id=name, label="Target latency", value=target_latency_s, suffix=" s", min=0.1, w=140
    )


def own_form(scaler: str, given: Mapping[str, Any] | None = None) -> Component | None:
    """The settings of the policy of one's own."""
    return fields_of(form_of(scaler, given)) if scaler else None


def _waiting() -> Component:
    return html.Section(
        "The simulator is calibrated on this run and replays what was done …",
        className="trust",
        role="status",
        **{"data-state": "warn"},
    )


def _table(shown: Sequence[PolicyRow]) -> Component:
    heads = html.Tr([html.Th(h, scope="col") for h in ("Policy", *HEADS)])
    body = [
        html.Tr(
            [
                html.Th(
                    [
                        row.label,
                        html.Div(
                            row.note, className="simulated-note" if row.simulated else "run-id"
                        ),
                    ],
                    scope="row",
                ),
                *[
                    html.Td(
                        [words, html.Div(change, className="run-id") if change else None],
                        **{"data-label": head},
                    )
                    for head, (words, change) in zip(HEADS, row.cells, strict=True)
                ],
            ],
            **{"data-policy": row.label},
        )
        for row in shown
    ]
    return html.Div(
        html.Table([html.Thead(heads), html.Tbody(body)], className="table policies labelled"),
        className="table-box",
    )
