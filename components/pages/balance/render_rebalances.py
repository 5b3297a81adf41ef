"""Rebalances: those under way with their steps, the last ones with what was measured."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.pages.balance.rebalances import MoveRow, RebalanceRow
from weir.components.ui.parts import icon, when
from weir.controllers.engine.apply.moves import MoveStep

_STATUS = {
    "waiting": ("clock", "warn"),
    "under way": ("run", "run"),
    "draining": ("run", "run"),
    "done": ("check", "ok"),
    "went back": ("restart", "bad"),
    "not done": ("cross", "bad"),
}
_WAY = (MoveStep.PLANNED, MoveStep.RELEASING, MoveStep.ADOPTING, MoveStep.DONE)
_BACK = (MoveStep.RETURNING, MoveStep.RETURNED)


def rebalances_list(rows: Sequence[RebalanceRow]) -> Component:
    """Newest first, those under way on top."""
    if not rows:
        return html.P(
            "Nothing has been moved yet. Preview a plan and apply it, or move an operator by hand.",
            className="quiet",
        )
    return html.Ol([_rebalance(row) for row in rows], className="rebalances")


def _rebalance(row: RebalanceRow) -> Component:
    name, state = _STATUS[row.status]
    chip = html.Span([icon(name), row.status], className="chip", **{"data-state": state})
    parts = [
        html.Div(
            [html.Span([html.Strong(row.title), when(row.at)], className="command-line"), chip],
            className="rebalance-head",
        ),
        html.P(row.why, className="quiet rebalance-why"),
    ]
    if row.progress is not None:
        share = f"{row.progress * 100:.0f}"
        parts.append(
            html.Div(
                html.Span(style={"width": f"{share}%"}),
                className="bar progress",
                role="progressbar",
                **{"aria-valuenow": share, "aria-label": f"Rebalance {row.title}"},
            )
        )
    parts.append(html.Ol([move_line(m) for m in row.moves], className="moves"))
    return html.Li(parts, **{"data-rebalance": row.id, "data-status": row.status})


def move_line(row: MoveRow) -> Component:
    """One move with its step and what was measured."""
    parts: list[Component] = [
        html.Div(
            [
                html.Strong(row.operator),
                html.Span([row.source, icon("arrow", "to"), row.target]),
                _way(row.step),
                html.Span(row.words, className="move-words"),
            ],
            className="move-line",
        )
    ]
    if row.message:
        parts.append(html.Div(row.message, className="move-message"))
    if row.measured:
        parts.append(
            html.Dl(
                [html.Div([html.Dt(m.name), html.Dd(m.value)]) for m in row.measured],
                className="measured",
            )
        )
    return html.Li(parts, **{"data-move": row.operator, "data-step": row.step.value})


def _way(step: MoveStep) -> Component:
    """The steps as dots: how far it has come; the words beside it say the same."""
    if step in _BACK or step is MoveStep.FAILED:
        dots = [html.I(className="dot dot-bad")]
    else:
        reached = _WAY.index(step)
        dots = [
            html.I(className="dot dot-past" if i < reached or step is MoveStep.DONE else
                   "dot dot-now" if i == reached else "dot")
            for i in range(len(_WAY))
        ]  # fmt: skip
    return html.Span(dots, className="way", **{"aria-hidden": "true"})
