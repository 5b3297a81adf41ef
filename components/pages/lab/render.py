"""The Lab: the table of claims, and one experiment with ours beside what was published."""

from collections.abc import Callable, Sequence
from urllib.parse import quote

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.history.render_plots import plot_tiles
from weir.components.pages.lab import ids as own
from weir.components.pages.lab.view import plots, progress_words
from weir.components.ui import text
from weir.components.ui.parts import card, stamp
from weir.components.ui.path import LAB, replay_path
from weir.metrics.lab.catalogue import EXPERIMENTS
from weir.metrics.lab.experiment import Experiment, Paper
from weir.metrics.lab.lab import ExperimentStatus, Lab
from weir.metrics.lab.outcome import ClaimVerdict, Conclusion, ExperimentResult, Table
from weir.metrics.lab.report import first_words, number_words

_STATES = {ClaimVerdict.REPRODUCED: "ok", ClaimVerdict.PARTLY: "warn", ClaimVerdict.NOT: "bad"}


def render_list(lab: Lab) -> Component:
    """Every experiment, by paper: the table of claims."""
    found = {e.name: lab.result(e.name) for e in EXPERIMENTS}
    running = lab.running()
    done = [r for r in found.values() if r is not None]
    held = sum(r.outcome.verdict is ClaimVerdict.REPRODUCED for r in done)
    return html.Div(
        [
            html.H1("Lab"),
            html.P(
                f"The experiments of five papers, run on this machine: "
                f"{text.plural(len(EXPERIMENTS), 'experiment')}, {len(done)} with a result here, "
                f"{held} of these reproduced. Open one to run it and to see its figure beside the "
                "published one.",
                className="quiet",
            ),
            *(_paper(paper, found.get, running) for paper in Paper),
            dcc.Store(id=own.LAB, data=""),
        ],
        className="stack lab",
    )


def _paper(
    paper: Paper, result: Callable[[str], ExperimentResult | None], running: str
) -> Component | None:
    rows = [e for e in EXPERIMENTS if e.paper is paper]
    if not rows:
        return None
    heads = ("Experiment", "Published", "Here", "How", "Verdict")
    return card(
        html.P(paper.citation, className="quiet"),
        html.Div(
            html.Table(
                [
                    html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])),
                    html.Tbody([_claim(e, result(e.name), running) for e in rows]),
                ],
                className="table claims",
            ),
            className="table-box",
        ),
        title=paper.value,
    )


def _claim(described: Experiment, result: ExperimentResult | None, running: str) -> Component:
    outcome = result.outcome if result else None
    return html.Tr(
        [
            html.Th(
                [
                    dcc.Link(described.title, href=lab_path(described.name)),
                    html.Span(described.where, className="claim-where"),
                ],
                scope="row",
            ),
            html.Td(described.published, **{"data-label": "Published"}),
            html.Td(first_words(outcome) if outcome else text.NOTHING, **{"data-label": "Here"}),
            html.Td(described.how.value, **{"data-label": "How"}),
            html.Td(
                html.Span("running", className="lab-verdict", **{"data-state": "run"})
                if running == described.name
                else verdict_tag(result)
            ),
        ]
    )


def verdict_tag(result: ExperimentResult | None) -> Component:
    """The verdict; of the quick size it says so."""
    if result is None:
        return html.Span("not run here", className="lab-verdict", **{"data-state": "none"})
    verdict = result.outcome.verdict
    said = verdict.words + (", quick size" if result.quick else "")
    return html.Span(said, className="lab-verdict", **{"data-state": _STATES[verdict]})


def render_one(described: Experiment, lab: Lab) -> Component:
    """One experiment."""
    status = lab.status(described.name)
    return html.Div(
        [
            html.Nav(dcc.Link("Lab", href=LAB), className="crumbs", **{"aria-label": "Back"}),
            html.H1(described.title),
            html.P(f"{described.paper.value}, {described.where}. {described.paper.citation}.",
                   className="quiet"),
            dcc.Store(id=own.LAB, data=described.name),
            dcc.Interval(
                id=own.TICK, interval=1000, disabled=status is None or status.state != "running"
            ),
            card(
                html.P(described.question, className="verdict"),
                html.P([html.Strong("Published: "), described.published]),
                html.P(described.how.words, className=f"how how-{described.how.value}"),
                html.Div(
                    [
                        _button("Run quick", own.QUICK, described.quick.about_s),
                        _button("Run full size", own.FULL, described.full.about_s),
                        html.Button("Stop", id=own.STOP, className="button", type="button",
                                    **{"data-needs": "approver"}),
                    ],
                    className="form-head",
                ),
                html.P(
                    f"Full: {described.full.words}. Quick: {described.quick.words}. It runs beside "
                    "whatever else this machine does, one experiment at a time; a stopped one goes "
                    "on where it was.",
                    className="quiet",
                ),
                html.P(id=own.ERROR, className="dialog-error", role="alert"),
                title="The question",
            ),
            html.Div(result_parts(described, status, lab.result(described.name)), id=own.RESULT,
                     className="stack"),
        ],
        className="stack lab",
    )  # fmt: skip


def _button(label: str, id: str, about_s: float) -> Component:
    return html.Button(
        f"{label}, about {text.seconds(max(1.0, about_s))}",
        id=id,
        className="button button-primary" if id == own.QUICK else "button",
        type="button",
        **{"data-needs": "approver"},
    )


def result_parts(
    described: Experiment, status: ExperimentStatus | None, result: ExperimentResult | None
) -> list[Component]:
    """How far it is, and what was found last."""
    parts: list[Component] = []
    if status is not None and status.state != "done":
        parts.append(_progress(status))
    if result is None:
        if status is None:
            parts.append(html.P("This was not run here yet.", className="quiet"))
        return parts
    outcome = result.outcome
    parts.append(
        card(
            _numbers(outcome),
            html.P([html.Strong(f"{outcome.verdict.words}: "), outcome.reason]),
            html.P(
                [
                    f"{described.how.words} {described.ran_words(result.quick)} "
                    f"{result.machine}; took {text.seconds(result.took_s)}, ended ",
                    stamp(result.at),
                    ".",
                ],
                className="quiet",
            ),
            _replays(outcome.runs),
            title="What came out",
            right=verdict_tag(result),
        )
    )
    if outcome.charts:
        parts.append(
            card(plot_tiles(plots(described.name, outcome.charts), tall=True), title="Charts")
        )
    parts += [_table(t) for t in outcome.tables]
    return parts


def _progress(status: ExperimentStatus) -> Component:
    state = {"running": "warn", "failed": "bad"}.get(status.state, "warn")
    words = progress_words(status) if status.state == "running" else status.message
    return html.Section(
        [
            html.P([html.Strong(status.state.capitalize()), " · ", words]),
            html.Div(
                html.Span(style={"width": f"{100 * status.share:.0f}%"}),
                className="bar progress",
                role="progressbar",
                **{"aria-valuenow": f"{100 * status.share:.0f}", "aria-label": "Experiment"},
            ),
        ],
        className="trust",
        **{"data-state": state, "data-experiment": status.state},
    )


def _numbers(outcome: Conclusion) -> Component | None:
    if not outcome.numbers:
        return None
    heads = ("Figure", "Ours", "Published")
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])),
                html.Tbody(
                    [
                        html.Tr(
                            [
                                html.Th(n.name, scope="row"),
                                html.Td(number_words(n), **{"data-label": "Ours"}),
                                html.Td(n.published or text.NOTHING, **{"data-label": "Published"}),
                            ]
                        )
                        for n in outcome.numbers
                    ]
                ),
            ],
            className="table lab-numbers labelled",
        ),
        className="table-box",
    )


def _replays(runs: Sequence[str]) -> Component | None:
    if not runs:
        return None
    links = [html.Li(dcc.Link(run, href=replay_path(run))) for run in runs]
    return html.Div([html.P("The runs behind it, to replay:"), html.Ul(links)])


def _table(shown: Table) -> Component:
    return card(
        html.Details(
            [
                html.Summary(f"{shown.title}: {text.plural(len(shown.rows), 'row')}"),
                html.Div(
                    html.Table(
                        [
                            html.Thead(html.Tr([html.Th(h, scope="col") for h in shown.header])),
                            html.Tbody(
                                [html.Tr([html.Td(value) for value in row]) for row in shown.rows]
                            ),
                        ],
                        className="table",
                    ),
                    className="table-box",
                ),
            ]
        )
    )


def lab_path(name: str) -> str:
    """The address of an experiment."""
    return f"{LAB}/{quote(name, safe='')}"
