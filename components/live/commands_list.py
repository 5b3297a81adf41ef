"""What was asked for, and what became of it."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.live.commands import CommandRow
from weir.components.ui.parts import icon, when
from weir.controllers.model.command import CommandStatus

_LOOK = {
    CommandStatus.PENDING: ("clock", "warn"),
    CommandStatus.RUNNING: ("run", "run"),
    CommandStatus.DONE: ("check", "ok"),
    CommandStatus.FAILED: ("cross", "bad"),
    CommandStatus.EXPIRED: ("clock", "off"),
    CommandStatus.REFUSED: ("cross", "bad"),
}


def commands_list(rows: Sequence[CommandRow]) -> Component:
    """The newest commands with status, progress and message."""
    if not rows:
        return html.P("No command has been given yet.", className="quiet")
    return html.Ol([_row(row) for row in rows], className="commands")


def _row(row: CommandRow) -> Component:
    name, state = _LOOK[row.status]
    lines: list[Component] = [
        html.Div(
            [html.Strong(row.cluster), html.Span(row.what), when(row.at)], className="command-line"
        )
    ]
    if row.message:
        lines.append(html.Div(row.message, className="command-message"))
    if row.progress is not None:
        share = f"{row.progress * 100:.0f}%"
        lines.append(
            html.Div(
                html.Span(style={"width": share}),
                className="bar progress",
                role="progressbar",
                **{"aria-valuenow": share[:-1], "aria-label": f"{row.what} on {row.cluster}"},
            )
        )
    word = row.word or row.status.value
    status = html.Span([icon(name), word], className="chip", **{"data-state": state})
    return html.Li([html.Div(lines, className="command-body"), status], **{"data-command": row.id})
