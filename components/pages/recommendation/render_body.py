"""The page of one recommendation: the panel that changes with it."""

from dash import html
from dash.development.base_component import Component

from weir.components.pages.balance.render_rebalances import move_line
from weir.components.pages.control_room.inbox import UnderWay
from weir.components.pages.recommendation.render_parts import (
    buttons,
    expiry,
    figures_table,
    guards_list,
    history_list,
    judged_line,
    options_table,
    reason,
    status_chip,
)
from weir.components.pages.recommendation.view import Detail
from weir.components.ui import text
from weir.components.ui.parts import card, fact, icon, stamp
from weir.components.ui.path import cluster_path, recommendation_path
from weir.components.ui.surface import page_link


def recommendation_body(detail: Detail | None) -> Component:
    """Where it stands and what can be done; then why, figures, guards, history."""
    if detail is None:
        return html.Div()
    left = [
        card(reason(detail.why), title="Why"),
        _figures(detail),
        card(options_table(detail.options), title="The plan") if len(detail.options) > 1 else None,
        _way(detail.way) if detail.way else None,
        card(guards_list(detail.guards), title="Guards") if detail.guards else None,
    ]
    right = [
        card(_facts(detail), title="Facts"),
        card(history_list(detail.history), title="History") if detail.history else None,
    ]
    return html.Div(
        [
            _standing(detail),
            html.Div(
                [html.Div(left, className="stack"), html.Div(right, className="stack")],
                className="split",
            ),
        ],
        className="stack",
    )


def _standing(detail: Detail) -> Component:
    expires = expiry(detail.expires_at) if detail.expires_at is not None else None
    title = f"recommendation {detail.id}"
    return html.Section(
        [
            html.Div(
                [status_chip(detail.status), html.Span(f"It {detail.meaning}."), expires],
                className="standing-line",
            ),
            html.P(detail.verdict) if detail.verdict else None,
            judged_line(detail.row) if detail.row else None,
            html.P([icon("warn"), detail.hint], className="proposal-hint") if detail.hint else None,
            *(
                html.P([f"{link.text}: ", page_link(link.title, recommendation_path(link.id))])
                for link in detail.links
            ),
            html.Div(
                buttons(detail.verbs, detail.id, detail.plan_hash, title),
                className="proposal-buttons",
            )
            if detail.verbs
            else None,
        ],
        className="card standing",
        **{"data-recommendation": detail.id, "data-status": detail.status.value},
    )


def _figures(detail: Detail) -> Component | None:
    table = figures_table(
        detail.rows,
        now=not detail.status.final,
        measured=detail.measured,
        final=detail.status.final,
    )
    if table is None:
        return None
    error = detail.error_share
    note = (
        "No prediction of this kind has been checked yet, so there is no band."
        if error is None
        else f"Bands: past predictions of this kind were off by {text.share(error)}."
    )
    return card(table, html.P(note, className="quiet figures-note"), title="What it should bring")


def _way(way: UnderWay) -> Component:
    parts: list[Component] = []
    if way.share is not None:
        share = f"{way.share * 100:.0f}"
        parts.append(
            html.Div(
                html.Span(style={"width": f"{share}%"}),
                className="bar progress",
                role="progressbar",
                **{"aria-valuenow": share, "aria-label": way.title},
            )
        )
    if way.message:
        parts.append(html.P(way.message, className="command-message"))
    if way.moves:
        parts.append(html.Ol([move_line(m) for m in way.moves], className="moves"))
    if not parts:
        parts.append(html.P("Nothing has been reported about its steps.", className="quiet"))
    return card(*parts, title="Its steps")


def _facts(detail: Detail) -> Component:
    clusters: list[Component | str] = []
    for name in detail.clusters:
        clusters += [", "] if clusters else []
        clusters.append(page_link(name, cluster_path(name)))
    return html.Dl(
        [
            fact("Clusters", clusters),
            fact("Source", detail.source),
            fact("Comment", detail.comment) if detail.comment else None,
            fact("Proposed", stamp(detail.at)),
            fact("Applied", stamp(detail.applied_at)) if detail.applied_at else None,
            fact("Plan", html.Code(detail.plan_hash)),
            fact("Id", html.Code(detail.id)),
        ],
        className="facts",
    )
