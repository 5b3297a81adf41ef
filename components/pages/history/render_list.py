"""The table of runs."""

from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.history import ids as own
from weir.components.pages.history.view import Listing, Query, RunRow, tune_path, what_if_path
from weir.components.ui.parts import Child, icon, stamp
from weir.components.ui.path import replay_path
from weir.components.ui.text import plural

_HEADS = (
    ("", ""), ("Run", "name"), ("Kind", ""), ("Start", "start"), ("Duration", "duration"),
    ("Clusters", ""), ("Operators", ""), ("Samples", "samples"), ("Size", "size"),
    ("State", ""), ("", ""),
)  # fmt: skip


def runs_table(found: Listing, chosen: Sequence[str] = ()) -> Component:
    """One page of the list, or why it is empty."""
    if not found.all:
        return _nothing()
    if not found.rows:
        return html.P("No run fits. Try fewer words.", className="quiet runs-none")
    head = html.Tr([_head(name, key, found.query) for name, key in _HEADS])
    return html.Div(
        [
            html.Div(
                html.Table(
                    [html.Thead(head), html.Tbody([_row(r, r.id in chosen) for r in found.rows])],
                    className="table runs",
                ),
                className="table-box",
            ),
            _pages(found),
        ]
    )


def _nothing() -> Component:
    return html.Div(
        [
            html.P("No run yet. Every live run is recorded by itself while this runs:"),
            html.Pre("weir record --runs runs"),
            html.P("Or import a Spark event log: drop it above, or"),
            html.Pre("weir import my-event-log --runs runs"),
        ],
        className="runs-none",
    )


def _head(name: str, key: str, query: Query) -> Component:
    if not key:
        more = "run-more" if name == "Operators" else ""
        return html.Th(name, scope="col", className=more)
    mine = query.sort == key
    sign = (" ↓" if query.down else " ↑") if mine else ""
    order = ("descending" if query.down else "ascending") if mine else "none"
    return html.Th(
        html.Button(name + sign, id=own.sort(key), type="button", className="head-button"),
        scope="col",
        **{"aria-sort": order},
    )


def _row(row: RunRow, chosen: bool) -> Component:
    def cell(label: str, value: Child, className: str = "") -> Component:
        return html.Td(value, className=className, **{"data-label": label})

    return html.Tr(
        [
            html.Td(
                dmc.Checkbox(
                    id=own.tick(row.id),
                    checked=chosen,
                    radius="xs",  # else it looks like a choice of one
                    **{"aria-label": f"Compare {row.id}"},
                ),
                title="Choose two to compare them",
                **{"data-label": "Compare"},
            ),
            html.Th(
                [
                    dcc.Link(row.name, href=replay_path(row.id), title=row.name),
                    html.Div(row.id, className="run-id"),
                ],
                scope="row",
            ),
            cell("Kind", row.kind),
            cell("Start", stamp(row.start)),
            cell("Duration", row.duration),
            cell("Clusters", html.Span(row.clusters, title=row.clusters), "run-names"),
            cell("Operators", html.Span(row.operators, title=row.operators), "run-names run-more"),
            cell("Samples", row.samples),
            cell("Size", row.size),
            cell(
                "State",
                html.Span(
                    row.state_words, className="chip", title=row.note, **{"data-state": row.state}
                ),
            ),
            html.Td(
                html.Span(
                    [
                        dcc.Link([icon("play"), "Replay"], href=replay_path(row.id), className="button"),
                        dcc.Link("What-if", href=what_if_path(row.id), className="button"),
                        dcc.Link("Tune", href=tune_path(row.id), className="button"),
                        html.Button(
                            icon("cross"),
                            id=own.delete(row.id),
                            className="button button-icon",
                            type="button",
                            title=f"Delete {row.id}",
                            **{"aria-label": f"Delete {row.id}", "data-needs": "admin"},
                        ),
                    ],
                    className="run-actions",
                ),
                className="row-actions",
            ),
        ],
        **{"data-run": row.id},
    )  # fmt: skip


def _pages(found: Listing) -> Component:
    page = found.query.page
    words = plural(found.found, "run")
    if found.found != found.all:
        words += f" of {found.all:,}"
    if found.pages == 1:
        return html.P(words, className="quiet runs-pages")
    return html.Div(
        [
            html.Span(f"{words}, page {page + 1} of {found.pages}", className="quiet"),
            html.Button("Previous", id=own.turn("before"), className="button", disabled=page == 0),
            html.Button(
                "Next", id=own.turn("after"), className="button", disabled=page + 1 == found.pages
            ),
        ],
        className="runs-pages",
    )
