"""The pieces of a recommendation: reason, figures, guards, history, buttons."""

from collections.abc import Iterable, Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.live.recommendation_rows import FigureRow, JudgedRow, OptionRow
from weir.components.live.recommendation_words import LOOKS, Why
from weir.components.pages.recommendation import ids as recommendation_ids
from weir.components.ui import text
from weir.components.ui.parts import icon, stamp, until
from weir.components.ui.surface import press
from weir.components.ui.text import who
from weir.controllers.engine.recommendation import Entry, GuardState, Status

_BUTTONS = {
    "approve": ("check", "Approve", "button-primary"),
    "reject": ("cross", "Reject", ""),
    "cancel": ("cross", "Cancel", ""),
    "rollback": ("restart", "Roll back", ""),
}


def status_chip(status: Status) -> Component:
    """Where it stands: a shape and a word."""
    name, mood = LOOKS[status]
    return html.Span([icon(name), status.value], className="chip", **{"data-state": mood})


def expiry(at: float) -> Component:
    """The time that is left to decide."""
    return html.Span(
        [icon("clock"), html.Span(["expires in ", until(at)])],
        className="chip",
        **{"data-state": "warn"},
    )


def buttons(
    verbs: Iterable[str], recommendation_id: str, plan_hash: str, title: str
) -> list[Component]:
    """What can be done with it; each opens the dialog that says what will happen."""
    return [
        html.Button(
            [icon(_BUTTONS[verb][0]), _BUTTONS[verb][1]],
            # The hash of what is shown goes along: an approval is bound to it.
            **press(recommendation_ids.decide(verb, recommendation_id, plan_hash)),
            className=f"button {_BUTTONS[verb][2]}".rstrip(),
            type="button",
            **{
                "aria-label": f"{_BUTTONS[verb][1]}: {title}",
                "data-verb": verb,
                "data-needs": "approver",
            },
        )
        for verb in verbs
    ]


def reason(why: Why) -> Component:
    """The sentence, then the inequality with its numbers."""
    parts: list[Component] = [html.P(why.text, className="reason-text")]
    if why.rule or why.numbers:
        numbers = [
            html.Span([name, html.B(value)], className="reason-number")
            for name, value in why.numbers
        ]
        rule = [html.Code(why.rule, className="reason-rule")] if why.rule else []
        parts.append(
            html.Details(
                [
                    html.Summary("The rule and its numbers"),
                    html.Div([*rule, *numbers], className="reason-rule-line"),
                ],
                className="reason-details",
            )
        )
    return html.Div(parts, className="reason")


def figures_table(
    rows: Sequence[FigureRow], *, now: bool = False, measured: bool = False, final: bool = False
) -> Component | None:
    """Before, predicted and measured side by side; `now` follows the feed."""
    if not rows:
        return None
    heads = ["", "When proposed", *(["Now"] if now else []), "Predicted"]
    heads += ["Measured"] if measured else []
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])),
                html.Tbody([_figure_row(row, now, measured, final) for row in rows]),
            ],
            className="table predicted",
        ),
        className="table-box",
    )


def _figure_row(row: FigureRow, now: bool, measured: bool, final: bool) -> Component:
    judged = (
        html.Span("judged by this", className="tag", title="Its effect is measured on this figure")
        if row.judged
        else None
    )
    cells: list[Component] = [
        html.Th([row.name, judged], scope="row"),
        html.Td(row.before, **{"data-label": "When proposed"}),
    ]
    if now:
        # Empty on purpose: the browser fills it in from what the feed last brought.
        live = html.Span("", className="live", **{"data-live": row.now}) if row.now else "–"
        cells.append(html.Td(live, **{"data-label": "Now"}))
    band = html.Span(row.band, className="band", title="Range by the errors of past predictions")
    cells.append(
        html.Td(
            [html.Strong(row.predicted), band if row.band else None],
            **{"data-label": "Predicted"},
        )
    )
    if measured:
        value = html.Strong(row.measured) if row.measured else "–" if final else "not yet"
        cells.append(html.Td(value, **{"data-label": "Measured"}))
    return html.Tr(cells)


def judged_line(row: JudgedRow) -> Component:
    """What came of an action: one row of figures, and two answers."""
    figures = f"{row.name}: {row.before} before"
    if row.before_now not in (row.before, text.NOTHING):
        figures += f", {row.before_now} at today's input"
    figures += f", {row.predicted} predicted, {row.measured} measured."
    return html.P(
        [
            figures,
            html.Br(),
            html.Strong("Did the prediction come true? "),
            f"{row.came_true}. ",
            html.Strong("Did it help? "),
            f"{row.helped}.",
        ],
        className="outcome-facts",
    )


def options_table(rows: Sequence[OptionRow]) -> Component | None:
    """The plan with its steps, and the alternatives beside it."""
    if len(rows) < 2:
        return None
    heads = ("Way", "Steps", "Executors", "Highest load", "Latency", "Pause", "Cost")
    body = [
        html.Tr(
            [
                html.Th(f"{row.way} (the plan)" if at == 0 else row.way, scope="row"),
                html.Td(
                    ", then ".join(row.steps) or "none",
                    className="wide",
                    **{"data-label": "Steps"},
                ),
                *(
                    html.Td(value, **{"data-label": head})
                    for head, value in zip(
                        heads[2:],
                        (row.executors, row.load, row.latency, row.pause, row.cost),
                        strict=True,
                    )
                ),
            ],
            **{"data-option": row.way},
        )
        for at, row in enumerate(rows)
    ]
    return html.Details(
        [
            html.Summary(f"The plan beside {text.plural(len(rows) - 1, 'alternative')}"),
            html.Div(
                html.Table(
                    [
                        html.Thead(html.Tr([html.Th(head, scope="col") for head in heads])),
                        html.Tbody(body),
                    ],
                    className="table labelled",
                ),
                className="table-box",
            ),
            html.P(
                "Cost, in executors: those that run, and what moves, changes of size and the "
                "risk of clusters above half of their capacity are worth.",
                className="quiet",
            ),
        ],
        className="options",
        open=True,
    )


def _guard_words(guard: GuardState) -> str:
    name = guard.name.replace("_", " ")
    return {"still to come": "executors still to come"}.get(name, name)


def guards_list(guards: Sequence[GuardState]) -> Component | None:
    """Closed ones with reason and time until they open; open ones in a line."""
    if not guards:
        return None
    shut = [g for g in guards if not g.open]
    free = [_guard_words(g) for g in guards if g.open]
    lines = [
        html.Li(
            [
                html.Span(
                    [icon("clock" if g.opens_at is not None else "cross"), "closed"],
                    className="chip",
                    **{"data-state": "warn"},
                ),
                html.Strong(_guard_words(g)),
                html.Span(g.reason, className="quiet"),
                html.Span(["opens in ", until(g.opens_at)], className="guard-opens")
                if g.opens_at is not None
                else html.Span("does not open by waiting", className="guard-opens"),
            ],
            **{"data-guard": g.name},
        )
        for g in shut
    ]
    if free:
        lines.append(
            html.Li(
                [
                    html.Span(
                        [icon("check"), "guards open"], className="chip", **{"data-state": "ok"}
                    ),
                    html.Span(", ".join(free), className="quiet"),
                ]
            )
        )
    return html.Ul(lines, className="guards", **{"aria-label": "Guards"})


def history_list(entries: Sequence[Entry]) -> Component:
    """Who did what, when, why and from where, newest last."""
    return html.Ol(
        [
            html.Li(
                [
                    html.Div(
                        [status_chip(e.status), html.Span(f"by {who(e.by)}"), stamp(e.at)],
                        className="history-line",
                    ),
                    html.Div(e.why, className="history-why") if e.why else None,
                    html.Div(f"from {e.address}", className="quiet history-from")
                    if e.address
                    else None,
                ]
            )
            for e in entries
        ],
        className="history",
    )
