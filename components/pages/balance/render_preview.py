"""What a plan would bring, shown before it is carried out."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.pages.balance.preview import LoadBar, MoveLine, Preview
from weir.components.ui import text
from weir.components.ui.parts import fact, icon

FULL = 100.0


def preview_body(shown: Preview) -> Component:
    """The prediction: load of every cluster, moves in their order, what they cost."""
    parts = [html.P(shown.words, className="quiet"), load_bars(shown.loads)]
    if shown.moves:
        parts += [
            html.H3("Moves, in this order"),
            html.Ol([_move(line) for line in shown.moves], className="preview-moves"),
            html.Dl(
                [
                    fact(
                        "Load distance",
                        f"{shown.distance_before:.1f} → {shown.distance_after:.1f} points",
                    ),
                    fact("Pause, all moves together", f"about {text.seconds(shown.pause_s)}"),
                    fact("State that goes along", text.size(shown.state_bytes)),
                    fact("Queue expected to build up", _queue(shown.queue_rows)),
                ],
                className="facts",
            ),
        ]
    else:
        parts.append(html.P("This plan changes nothing, so there is nothing to apply."))
    return html.Div(parts, className="preview")


def load_bars(loads: Sequence[LoadBar]) -> Component:
    """The load of every cluster now and then, with what the colours mean."""
    top = max([FULL, *(b.before for b in loads), *(b.after for b in loads)])
    return html.Div(
        [
            html.Div([_load(bar, top) for bar in loads], className="loads"),
            html.P(
                [html.I(className="key key-before"), "now", html.I(className="key key-after"),
                 "then", html.I(className="key key-full"), "full"],
                className="loads-legend",
            ),
        ]
    )  # fmt: skip


def _load(bar: LoadBar, top: float) -> Component:
    def fill(points: float, name: str) -> Component:
        return html.Span(className=f"load-{name}", style={"width": f"{points / top * 100:.1f}%"})

    return html.Div(
        [
            html.Span(bar.cluster, className="load-name"),
            html.Div(
                [
                    fill(bar.before, "before"),
                    fill(bar.after, "after"),
                    html.I(className="load-full", style={"left": f"{FULL / top * 100:.1f}%"}),
                ],
                className="load-track",
                **{"aria-hidden": "true"},
            ),
            html.Span(
                [
                    f"{bar.before:.0f} % → ",
                    html.Strong(f"{bar.after:.0f} %", **{"data-state": _state(bar.after)}),
                ],
                className="load-text",
            ),
        ],
        className="load",
        **{"data-load": bar.cluster},
    )


def _state(points: float) -> str:
    return "bad" if points > FULL else ""


def _move(line: MoveLine) -> Component:
    return html.Li(
        [
            html.Div(
                [
                    html.Strong(line.operator),
                    html.Span([line.source, icon("arrow", "to"), line.target]),
                ],
                className="move-line",
            ),
            html.Div(
                f"pause about {text.seconds(line.pause_s)}, state {text.size(line.state_bytes)}, "
                f"queue {_queue(line.queue_rows)}",
                className="quiet",
            ),
        ]
    )


def _queue(rows: float | None) -> str:
    return text.NOTHING if rows is None else f"+{text.rows(round(rows))}"
