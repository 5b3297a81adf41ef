"""The upper half of the Scale page: how the engine fares, and every scaler's answer."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.note import Last, ScalerNote
from weir.components.pages.scale.view import SUMMARY, ReasonNumber
from weir.components.ui import text
from weir.components.ui.figure import Figures
from weir.components.ui.parts import (
    CHOICES_MOST,
    card,
    filter_box,
    folded_choice,
    icon,
    live,
    region,
    since,
    when,
)
from weir.components.ui.path import SCALE, scale_path
from weir.components.ui.surface import page_link, press
from weir.controllers.scaling.registry import scalers

_ICONS = {"ok": "check", "warn": "clock", "bad": "warn"}
_HEADS = (
    ("Scaler", ""),
    ("Answer", "Executors now and then, or stay"),
    ("Why", "With the inequality that fired and its numbers"),
    ("Load then", "Predicted, in per cent of the cores"),
    ("Latency then", "Predicted, where the scaler says"),
    ("", ""),
)


def scale_note(note: ScalerNote) -> Component:
    """One line on the engine, one on the answer that counts, one for each thing that is amiss."""
    age: list[Component | str] = [" ", since(note.since), " ago."] if note.since is not None else []
    lines: list[Component] = [
        html.P([icon(_ICONS[note.state]), html.Span([note.text, *age])], className="note-state")
    ]
    if note.message:
        lines.append(html.P([icon("warn"), note.message], className="note-message"))
    if note.answer:
        lines.append(
            html.P([html.Strong(f"{note.scaler}: {note.answer}. "), note.why], className="note-aid")
        )
        if note.rule or note.numbers:
            lines.append(_reckoning(note.rule, note.numbers))
    if note.last:
        lines.append(_last(note.last))
    return html.Div(lines, className="note", **{"data-state": note.state})


def served_line(said: str) -> Component:
    """Which scaler would have been best, under the table of all; what-if asks it of the past."""
    return html.P(
        [
            html.Strong(said),
            " ",
            page_link("What-if", "/history"),
            " simulates what each would have done in a recorded run.",
        ],
        className="served",
    )


def _last(last: Last) -> Component:
    """The last decision in words with its numbers."""
    return html.Div(
        [
            html.P(
                [
                    html.Strong(["Last decision, ", since(last.at), " ago: "]),
                    page_link(last.title, last.href),
                    f" {last.by}, at ",
                    when(last.at),
                    f", {last.status}. Its reason then: {last.why}",
                ]
            ),
            _reckoning(last.rule, last.numbers),
        ],
        className="note-last",
    )


def _reckoning(rule: str, numbers: Sequence[ReasonNumber]) -> Component:
    return html.Details(
        [
            html.Summary("The rule and its numbers"),
            html.Code(rule.replace("_", " ")) if rule else None,
            html.Dl(
                [html.Div([html.Dt(n.name), html.Dd(n.value)]) for n in numbers],
                className="measured",
            ),
        ],
        className="reckoning",
    )


def cluster_choice(names: Sequence[str], chosen: str) -> Component:
    """Which cluster the page is about; each has an address of its own."""
    return folded_choice(
        [
            page_link(name, scale_path(name), className="choice")
            if name != chosen
            else html.Span(name, className="choice", **{"aria-current": "page"})
            for name in names
        ]
        + [page_link("all", SCALE, className="choice")],
        className="choices",
        label="Cluster",
        said=f"{chosen}, one of {text.plural(len(names), 'cluster')}",
    )


def key_figures(name: str, figures: Figures) -> Component:
    """Five figures of the cluster."""
    base = f"scale/{name}"

    def figure(title: str, key: str, below: Component | str) -> Component:
        return html.Div(
            [
                html.Div(title, className="figure-title"),
                html.Div(live(figures, f"{base}/{key}"), className="figure-value"),
                html.Div(below, className="figure-below"),
            ],
            className="figure",
        )

    return html.Section(
        [
            figure("Executors present", "present", live(figures, f"{base}/asked")),
            figure("Load", "load", "of its cores"),
            figure("Latency, slowest operator", "latency", live(figures, f"{base}/aims")),
            figure("Engine follows", "scaler", "set below"),
            figure("Limits", "limits", "executors, for every scaler"),
        ],
        className="figures figures-5",
        **{"aria-label": "Key figures"},
    )


def answers_card(figures: Figures, cluster: str) -> Component:
    """The table; its cells follow the feed."""
    head = html.Tr([html.Th(name, scope="col", title=hint) for name, hint in _HEADS])
    body = [_row(name, kind.title, figures) for name, kind in scalers().items()]
    return card(
        html.Div(
            html.Table([html.Thead(head), html.Tbody(body)], className="table plans answers"),
            className="table-box",
        ),
        html.P(
            "All are asked at the same moment with the same figures. Only the answer of the one "
            "that the engine follows has consequences; the others learn alongside.",
            className="quiet steer-text",
        ),
        region(scale_ids.SERVED),
        title="Every scaler's answer for this moment",
        right=html.Button(
            "Limits",
            **press(scale_ids.SCALE_LIMITS),
            className="button",
            type="button",
            **{"aria-label": f"Limits of {cluster}"},
        ),
    )


def _row(name: str, title: str, figures: Figures) -> Component:
    base = f"answer/{name}"

    def cell(head: str, key: str, className: str = "") -> Component:
        return html.Td(live(figures, f"{base}/{key}"), className=className, **{"data-label": head})

    return html.Tr(
        [
            html.Th([title, live(figures, f"{base}/followed", "tag tag-followed")], scope="row"),
            cell("Answer", "answer", "answer"),
            html.Td(
                [
                    live(figures, f"{base}/why"),
                    html.Code(live(figures, f"{base}/rule"), className="answer-rule"),
                ],
                className="plan-words",
                **{"data-label": "Why"},
            ),
            cell("Load then", "load"),
            cell("Latency then", "latency"),
            html.Td(
                html.Span(
                    [
                        html.Button(
                            "Follow",
                            **press(scale_ids.follow(name)),
                            className="button",
                            type="button",
                            **{"aria-label": f"Follow {title}", "data-needs": "admin"},
                        ),
                        html.Button(
                            "Settings",
                            **press(scale_ids.scaler_settings(name)),
                            className="button",
                            type="button",
                            **{"aria-label": f"Settings of {title}"},
                        ),
                    ],
                    className="answer-buttons",
                ),
                className="row-actions",
            ),
        ],
        **{"data-scaler": name},
    )


def choice_card(names: Sequence[str], figures: Figures) -> Component:
    """All clusters, to choose one from."""
    heads = ("Cluster", "Executors", "Asked for", "Load", "Latency", "Follows", "Answer")
    body = [
        html.Tr(
            [
                html.Th(page_link(name, scale_path(name)), scope="row"),
                *(
                    html.Td(live(figures, f"scale/{name}/{key}"), **{"data-label": head})
                    for head, key in zip(
                        heads[1:],
                        ("present", "asked", "load", "latency", "followed", "says"),
                        strict=True,
                    )
                ),
            ],
            **{"data-cluster-row": name},
        )
        for name in names
    ]
    return card(
        html.P(live(figures, SUMMARY, "attention")),
        filter_box("cluster") if len(names) > CHOICES_MOST else None,
        html.Div(
            html.Table(
                [
                    html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])),
                    html.Tbody(body, **{"data-filtered": ""}),
                ],
                className="table operators choice-table",
            ),
            className="table-box",
        ),
        title="All clusters",
        **{"data-filters": ""},
    )
