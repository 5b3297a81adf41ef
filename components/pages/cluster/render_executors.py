"""The executors of one cluster."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.ui import text
from weir.controllers.model.sample import Executor

_HEADS = ("Executor", "Host", "Cores", "Busy", "Tasks", "Failed", "Memory")


def executors_table(executors: Sequence[Executor]) -> Component:
    """One row per executor, over the last period."""
    if not executors:
        return html.P("No executor is there at present.", className="quiet")
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in _HEADS]))
    return html.Div(
        html.Table([head, html.Tbody([_row(e) for e in executors])], className="table labelled"),
        className="table-box",
        tabIndex=0,
        role="region",
        **{"aria-label": "Executors"},
    )


def _row(executor: Executor) -> Component:
    memory = text.size(executor.memory_bytes or None)
    if executor.memory_max_bytes:
        memory += f" of {text.size(executor.memory_max_bytes)}"
    busy = min(max(executor.busy_share, 0.0), 1.0)
    return html.Tr(
        [
            html.Th(executor.id, scope="row"),
            html.Td(executor.host, **{"data-label": "Host"}),
            html.Td(executor.cores, **{"data-label": "Cores"}),
            html.Td(
                [
                    html.Span(html.Span(style={"width": f"{busy * 100:.0f}%"}), className="bar"),
                    text.share(executor.busy_share),
                ],
                className="with-bar",
                **{"data-label": "Busy"},
            ),
            html.Td(text.amount(executor.tasks), **{"data-label": "Tasks"}),
            html.Td(
                text.amount(executor.failed_tasks),
                **{"data-label": "Failed", "data-state": "warn" if executor.failed_tasks else ""},
            ),
            html.Td(memory, **{"data-label": "Memory"}),
        ],
        **{"data-executor": executor.id},
    )
