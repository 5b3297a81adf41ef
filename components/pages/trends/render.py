"""A large chart with everything that chooses what it shows; each choice is a link."""

import json

from dash import html
from dash.development.base_component import Component

from weir.components.pages.trends.view import METRICS, MOST_CLUSTERS, SPANS, Trend, TrendQuery
from weir.components.ui.parts import card
from weir.components.ui.text import plural

LISTED = 30
"""Of more clusters than these, the others are found by name."""


def render(found: Trend) -> Component:
    """Choices over the chart, then the chart."""
    asked = found.asked
    return html.Div(
        [
            html.Div(
                [html.H1("Trends"), _tools()],
                className="page-head",
            ),
            card(
                _choice("Figure", [(m.title, asked.path(metric=k), k == asked.metric)
                                   for k, m in METRICS.items()]),
                _choice("Range", [(title, asked.path(span=k), k == asked.span)
                                  for k, (title, _) in SPANS.items()], _own_range(asked)),
                _choice("Clusters", [(name, _toggle_address(asked, name), name in asked.clusters)
                                     for name in _listed(found)], _another(found)),
                className="trend-choices",
            ),
            card(
                html.Figure(
                    [
                        html.Div(
                            className="hplot trend-plot",
                            role="group",
                            **{
                                "data-plot": "trend",
                                "data-model": json.dumps(found.plot, separators=(",", ":")),
                                "aria-label": found.summary,
                            },
                        ),
                        html.Figcaption(_below(found), className="quiet"),
                    ],
                    className="trend-figure",
                ),
                title=_title(found),
            ),
        ],
        className="stack",
    )  # fmt: skip


def _title(found: Trend) -> str:
    unit = found.plot["unit"]
    return METRICS[found.asked.metric].title + (f", {unit}" if unit else "")


def _below(found: Trend) -> str:
    if not found.points:
        return "Nothing was reported in this range."
    return (
        f"{plural(found.points, 'point')}. Drag to zoom, double-click to see all; "
        "a gap is time without reports."
    )


def _choice(
    label: str, options: list[tuple[str, str, bool]], more: Component | None = None
) -> Component:
    return html.Div(
        [
            html.Span(label, className="trend-label"),
            html.Div(
                [
                    html.A(
                        title,
                        href=path,
                        className="chip chosen" if on else "chip",
                        **{"data-go": "", "aria-current": "true" if on else "false"},
                    )
                    for title, path, on in options
                ]
                + ([more] if more else []),
                className="trend-options",
            ),
        ],
        className="trend-choice",
        role="group",
        **{"aria-label": label},
    )


def _toggle_address(asked: TrendQuery, name: str) -> str:
    """The address with that cluster added or taken away; the last one stays."""
    left = tuple(c for c in asked.clusters if c != name)
    if name not in asked.clusters:
        left = (*asked.clusters, name)[-MOST_CLUSTERS:]
    return asked.path(clusters=left or asked.clusters)


def _listed(found: Trend) -> list[str]:
    """The clusters to choose from; of very many those that are chosen, with a few more."""
    if len(found.known) <= LISTED:
        return list(found.known)
    others = [name for name in found.known if name not in found.asked.clusters]
    return [*found.asked.clusters, *others[: LISTED - len(found.asked.clusters)]]


def _another(found: Trend) -> Component | None:
    """A field for one that is not listed; `assets/pages/trends/page.js` adds what is chosen."""
    if len(found.known) <= LISTED:
        return None
    left = [name for name in found.known if name not in found.asked.clusters]
    room = found.asked.clusters[-(MOST_CLUSTERS - 1) :]
    return html.Span(
        [
            html.Datalist([html.Option(value=name) for name in left], id="trend-clusters"),
        ],
        className="trend-own",
        **{
            "data-add-cluster": found.asked.path(clusters=(*room, "NAME")),
            "data-count": f"another of {plural(len(found.known), 'cluster')}",
        },
    )


def _own_range(asked: TrendQuery) -> Component:
    """Two times in the viewer's zone; `assets/pages/trends/page.js` makes and reads the fields."""
    return html.Span(
        html.Button("Show", className="button", type="button", **{"data-range-go": ""}),
        className="trend-own",
        **{
            "data-own-range": asked.path(span="SINCE-UNTIL"),
            "data-from": round(asked.since * 1000),
            "data-to": round(asked.until * 1000),
        },
    )


def _tools() -> Component:
    return html.Div(
        [
            html.Button("Copy link", className="button", type="button", **{"data-copy-link": ""}),
            html.Button("Save as CSV", className="button", type="button", **{"data-csv": "trend"}),
            html.Button(
                "Save as picture", className="button", type="button", **{"data-picture": "trend"}
            ),
        ],
        className="card-actions",
    )
