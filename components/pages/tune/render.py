"""Tune: search a scaler's settings on a run, and take the best over."""

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.history.render_plots import plot_tiles
from weir.components.pages.tune import ids as own
from weir.components.pages.tune.view import (
    FrontRow,
    front_rows,
    importance_plot,
    judged_plot,
    progress_words,
    searched_plot,
)
from weir.components.pages.what_if.render import cluster_choice, head, target_choice
from weir.components.pages.what_if.render_form import TUNABLE_FIRST, scaler_choices
from weir.components.ui.parts import card
from weir.controllers.simulator.tuning import Trial, Tuning
from weir.metrics.runs.library import RunInfo
from weir.metrics.runs.tuning import TRIALS_MOST, TuneStatus

_STATES = {"running": "run", "done": "ok", "stopped": "warn", "failed": "bad"}


def render(
    run: RunInfo, target_latency_s: float, status: TuneStatus | None, found: Tuning | None
) -> Component:
    """The form, and the newest search on this run."""
    running = status is not None and status.state == "running"
    return html.Div(
        [
            head(run, "Tune", "Searches for a scaler's best settings: on one half of the run, judged on the other."),
            dcc.Store(id=own.TUNE, data=run.id),
            dcc.Interval(id=own.TUNE_TICK, interval=1000, disabled=not running),
            card(
                html.Div(
                    [
                        dmc.Select(
                            id=own.TUNE_SCALER,
                            label="Scaler",
                            data=scaler_choices(),
                            value=status.request.scaler if status else TUNABLE_FIRST,
                            allowDeselect=False,
                        ),
                        cluster_choice(own.TUNE_CLUSTER, run.clusters),
                        target_choice(own.TUNE_TARGET, target_latency_s),
                        dmc.NumberInput(
                            id=own.TUNE_TRIALS,
                            label="Trials",
                            value=60,
                            min=1,
                            max=TRIALS_MOST,
                            w=110,
                        ),
                        html.Button(
                            "Search", id=own.TUNE_GO, className="button button-primary",
                            type="button", **{"data-needs": "approver"},
                        ),
                        html.Button(
                            "Stop", id=own.TUNE_STOP, className="button", type="button",
                            **{"data-needs": "approver"},
                        ),
                    ],
                    className="form-head",
                ),
                html.P(id=own.TUNE_ERROR, className="dialog-error", role="alert"),
                title="Search",
            ),
            html.Div(result(status, found), id=own.TUNE_RESULT, className="stack"),
        ],
        className="stack",
    )  # fmt: skip


def result(status: TuneStatus | None, found: Tuning | None) -> list[Component]:
    """How far it is, and what it has found."""
    if status is None:
        return [html.P("No search on this run yet.", className="quiet")]
    parts: list[Component] = [_progress(status)]
    if found is None:
        if status.trials:
            parts.append(card(plot_tiles([_search_plot(status, status.trials)], tall=True)))
        return parts
    plots = [judged_plot(found), _search_plot(status, found.trials)]
    parts.append(
        card(
            html.P(found.verdict, className="verdict"),
            plot_tiles(plots, tall=True),
            title="Trade-offs",
            right=html.Span("simulated", className="simulated"),
        )
    )
    important = importance_plot(found)
    parts.append(
        html.Div(
            [
                card(_table(front_rows(found)), title="Settings to choose from"),
                card(plot_tiles([important]), className="importance") if important else None,
            ],
            className="stack",
        )
    )
    return parts


def _search_plot(status: TuneStatus, trials: Sequence[Trial]) -> dict[str, Any]:
    return searched_plot(status.request.scaler, trials, status.request.target_latency_s)


def _progress(status: TuneStatus) -> Component:
    share = 100 * status.done / max(status.request.trials, 1)
    return html.Section(
        [
            html.P([html.Strong(status.state.capitalize()), " · ", progress_words(status)]),
            html.Div(
                html.Span(style={"width": f"{min(share, 100):.0f}%"}),
                className="bar progress",
                role="progressbar",
                **{"aria-valuenow": f"{share:.0f}", "aria-label": "Search"},
            ),
            html.P(status.message, className="quiet") if status.state != "done" else None,
        ],
        className="trust",
        **{"data-state": {"run": "warn"}.get(_STATES[status.state], _STATES[status.state]),
           "data-tuning": status.state},
    )  # fmt: skip


def _table(rows: Sequence[FrontRow]) -> Component:
    heads = ("", "Over target, unseen", "Executor-hours, unseen", "On the searched part",
             "Different from the defaults", "")  # fmt: skip
    body = [
        html.Tr(
            [
                html.Th(
                    [
                        row.label,
                        html.Span(
                            "recommended" if row.usable else "keep", className="tag tag-followed"
                        )
                        if row.recommended
                        else None,
                    ],
                    scope="row",
                ),
                html.Td(row.judged),
                html.Td(row.judged_hours),
                html.Td(row.trained),
                html.Td(row.settings, className="advice-why"),
                html.Td(
                    html.Button(
                        "Use these settings",
                        id=own.use(row.number),
                        className="button" + (" button-primary" if row.recommended else ""),
                        type="button",
                        **{"data-needs": "admin"},
                    )
                    if row.usable
                    else None,
                    className="row-actions",
                ),
            ]
        )
        for row in rows
    ]
    return html.Div(
        html.Table(
            [html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])), html.Tbody(body)],
            className="table advice front",
        ),
        className="table-box",
    )
