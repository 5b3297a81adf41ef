"""The inbox on the control room: decide, watch, and see what came of it."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.recommendation_words import MEANINGS
from weir.components.pages.balance.render_rebalances import move_line
from weir.components.pages.control_room.inbox import (
    EndedRow,
    Inbox,
    Later,
    Proposed,
    UnderWay,
    Wait,
)
from weir.components.pages.recommendation.render_parts import (
    buttons,
    expiry,
    figures_table,
    guards_list,
    judged_line,
    options_table,
    reason,
    status_chip,
)
from weir.components.ui.parts import Child, icon, since, stamp
from weir.components.ui.path import recommendation_path
from weir.components.ui.surface import page_link
from weir.components.ui.text import plural, who

FEW_WAITS = 4
"""More reasons for proposing nothing than this are folded: they are not the news."""


def inbox_body(inbox: Inbox) -> Component:
    """Proposals first, then what is under way, then the last outcomes."""
    parts: list[Component] = []
    if inbox.silent:
        said = "No engine is at work: nothing new is proposed, and what is approved waits."
        parts.append(html.P([icon("warn"), said], className="proposal-hint"))
    if inbox.proposed:
        parts.append(
            html.Ol(
                [_render_proposal(item) for item in inbox.proposed],
                className="proposals",
                **{"aria-label": "Waiting for a decision"},
            )
        )
        parts += _later(inbox.later, inbox.more_proposed)
        parts.append(
            html.P(
                [
                    html.Kbd("j"), html.Kbd("k"), " choose ", html.Kbd("a"), " approve ",
                    html.Kbd("r"), " reject ", html.Kbd("Enter"), " details ", html.Kbd("?"),
                    " all keys",
                ],
                className="keys-hint quiet",
            )
        )  # fmt: skip
    else:
        parts.append(_nothing(inbox.waits, inbox.more_waits, paused=inbox.paused))
    if inbox.under_way:
        parts += [
            html.H3("Under way"),
            html.Ol([_under_way(item) for item in inbox.under_way], className="under-way"),
        ]
        if inbox.more_under_way:
            parts.append(html.P(f"{inbox.more_under_way} more are under way.", className="quiet"))
    if inbox.outcomes:
        parts += [
            html.H3("Last outcomes"),
            html.Ol([_outcome(item) for item in inbox.outcomes], className="outcomes"),
        ]
    return html.Div(parts, className="inbox-body")


def _render_proposal(item: Proposed) -> Component:
    path = recommendation_path(item.id)
    said = f": “{item.comment}”" if item.comment else ""
    return html.Li(
        [
            html.Div(
                [
                    html.Span(item.kind, className="tag"),
                    html.H3(page_link(item.title, path)),
                    expiry(item.expires_at),
                ],
                className="proposal-head",
            ),
            html.Div(
                [
                    reason(item.why),
                    figures_table(item.rows, now=True),
                    options_table(item.options),
                ],
                className="proposal-main",
            ),
            html.Div(
                [
                    guards_list(item.guards),
                    html.P([item.source, " ", since(item.at), " ago", said], className="quiet"),
                    html.P([icon("warn"), item.hint], className="proposal-hint")
                    if item.hint
                    else None,
                    html.Div(
                        [
                            *buttons(item.verbs, item.id, item.plan_hash, item.title),
                            page_link("Details", path, className="button"),
                        ],
                        className="proposal-buttons",
                    ),
                ],
                className="proposal-side",
            ),
        ],
        className="proposal",
        tabIndex=0,
        **{"data-recommendation": item.id, "aria-label": f"{item.kind}: {item.title}"},
    )


def _later(later: tuple[Later, ...], more: int) -> list[Component]:
    """Those that expire later, by title: each moves up when one above is decided."""
    if not later:
        return []
    links = [html.Li(page_link(item.title, recommendation_path(item.id))) for item in later]
    if more:
        links.append(html.Li(f"and {more} more", className="quiet"))
    return [html.H3("Expire later"), html.Ul(links, className="proposals-later")]


def _nothing(waits: tuple[Wait, ...], more: int, *, paused: bool) -> Component:
    lines = [html.Li([html.Strong(w.where), html.Span(w.text)]) for w in waits]
    if more:
        others = f"{plural(more, 'more cluster')}: the Scale page of each says why"
        lines.append(html.Li([html.Strong("…"), html.Span(others)]))
    said = "Nothing waits for a decision."
    if paused:
        said += " Everything is paused, so nothing is carried out either."
    elif lines:
        said += " The engine says why it proposes nothing:"
    reasons: Component | None = html.Ul(lines, className="waits") if lines else None
    if len(lines) > FEW_WAITS:
        reasons = html.Details([html.Summary(f"{plural(len(waits) + more, 'reason')}"), reasons])
    return html.Div(
        [html.P([icon("check"), said], className="nothing-said"), reasons],
        className="nothing",
    )


def _under_way(item: UnderWay) -> Component:
    parts: list[Child] = [
        html.Div(
            [
                html.Strong(page_link(item.title, recommendation_path(item.id))),
                status_chip(item.status),
            ],
            className="item-head",
        ),
        html.P(
            [f"It {MEANINGS[item.status]}; by {who(item.by)}, ", since(item.since), " ago."],
            className="quiet",
        ),
    ]
    if item.message:
        parts.append(html.P(item.message, className="command-message"))
    if item.share is not None:
        share = f"{item.share * 100:.0f}"
        parts.append(
            html.Div(
                html.Span(style={"width": f"{share}%"}),
                className="bar progress",
                role="progressbar",
                **{"aria-valuenow": share, "aria-label": item.title},
            )
        )
    if item.moves:
        parts.append(html.Ol([move_line(m) for m in item.moves], className="moves"))
    parts.append(guards_list(item.guards))
    if item.verbs:
        parts.append(
            html.Div(
                buttons(item.verbs, item.id, item.plan_hash, item.title),
                className="proposal-buttons",
            )
        )
    return html.Li(parts, **{"data-under-way": item.id})


def _gist(item: EndedRow) -> str:
    """What came of it, in as few words as fit into its line."""
    if item.row is None:
        return item.text
    return (
        f"{item.row.name.lower()} {item.row.before_now} → {item.row.measured}; "
        f"as predicted: {item.row.came_true}; helped: {item.row.helped}"
    )


def _outcome(item: EndedRow) -> Component:
    """One line; who asked, the figures that it was judged by and the way back unfold."""
    path = recommendation_path(item.id)
    newer = (
        html.P([page_link("There is a newer proposal", recommendation_path(item.replaced_by)), "."])
        if item.replaced_by
        else None
    )
    return html.Li(
        [
            html.Details(
                [
                    html.Summary(
                        [
                            status_chip(item.status),
                            html.Strong(item.title),
                            html.Span(_gist(item), className="quiet outcome-gist"),
                            html.Span(stamp(item.at), className="quiet"),
                        ]
                    ),
                    html.P(
                        [f"By {who(item.by)}. ", page_link("Everything about it", path), "."],
                        className="quiet",
                    ),
                    judged_line(item.row) if item.row else None,
                    newer,
                ],
                className="outcome-line",
            ),
            html.Div(
                buttons(item.verbs, item.id, item.plan_hash, item.title),
                className="proposal-buttons",
            )
            if item.verbs
            else None,
        ],
        **{"data-outcome": item.id, "data-status": item.status.value},
    )
