"""The small pieces that every panel is made of."""

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.ui.figure import Figures
from weir.components.ui.trees import as_json

Child = Component | str | None


def icon(name: str, label: str = "") -> Component:
    """One of the icons in `assets/ui/icons`; with a label it speaks, without it is decoration."""
    if label:
        return html.Span(
            className=f"icon icon-{name}", role="img", **{"aria-label": label}, title=label
        )
    return html.Span(className=f"icon icon-{name}", **{"aria-hidden": "true"})


def live(figures: Figures, key: str, className: str = "") -> Component:
    """A text that follows the feed."""
    figure = figures[key]
    return html.Span(
        figure.text,
        className=f"live {className}".strip(),
        **{"data-live": key, "data-state": figure.state},
    )


def live_bar(figures: Figures, key: str) -> Component:
    """A bar that follows the feed; the figure beside it says the same in words."""
    fill = figures[key].fill or 0.0
    return html.Span(
        html.Span(style={"width": f"{fill * 100:.1f}%"}, **{"data-bar": key}),
        className="bar",
        **{"aria-hidden": "true"},
    )


def when(at: float) -> Component:
    """A time of day in the viewer's zone; the browser fills it in."""
    return html.Span("", className="time", **{"data-time": round(at * 1000)})


def since(at: float | None) -> Component:
    """How long ago something was, counting on; the browser fills it in."""
    return html.Span("", className="age", **{"data-since": round((at or 0.0) * 1000)})


def until(at: float) -> Component:
    """How long it takes until a moment, counting down; the browser fills it in."""
    return html.Span("", className="age", **{"data-until": round(at * 1000)})


def stamp(at: float) -> Component:
    """A date and time of day in the viewer's zone; the browser fills it in."""
    return html.Span("", className="time", **{"data-stamp": round(at * 1000)})


def data_age(cluster: str) -> Component:
    """How old a cluster's data is; says so aloud when it is too old."""
    return html.Span("", className="data-age", **{"data-age-of": cluster})


def large_button(key: str, title: str) -> Component:
    """Opens a chart large; `assets/live/large.js` does it."""
    return html.Button(
        html.Span("⤢", **{"aria-hidden": "true"}),
        className="open-large",
        type="button",
        title="Open large: zoom, exact values, save",
        **{"data-large": key, "data-large-title": title, "aria-label": f"Open {title} large"},
    )


def region(name: str, className: str | None = None) -> Component:
    """Where a panel goes that is sent whole when it changes; `assets/live/regions.js` fills it."""
    return html.Div(id=name, className=className, **{"data-region": name})


def still(parts: list[Component]) -> dict[str, Any]:
    """The content of an element that Dash has nothing to do with: no ids, no callbacks.

    Each of its components would look at every change of any other (see `assets/live/regions.js`).
    """
    return {"data-tree": as_json(parts).decode()}


def card(
    *children: Child, title: str = "", right: Any = None, className: str = "", **more: Any
) -> Component:
    """A panel with an optional heading."""
    head = [html.Div([html.H2(title), right], className="card-head")] if title else []
    return html.Section([*head, *children], className=f"card {className}".strip(), **more)


CHOICES_MOST = 14


def filter_box(of: str) -> Component:
    """A field that filters the children of what is marked `data-filtered`, within the nearest
    `data-filters` around both; `assets/ui/filter.js` does it."""
    return html.Div(
        [
            dmc.TextInput(
                size="sm",
                debounce=False,
                placeholder=f"Name of a {of}",
                className="filter-box",
                **{
                    "data-filter": of,
                    "aria-label": f"Show only {of}s whose name has these letters",
                },
            ),
            html.Span("", className="quiet", role="status", **{"data-filter-count": ""}),
        ],
        className="filter-line",
    )


def folded_choice(
    links: Sequence[Component], *, className: str, label: str, said: str
) -> Component:
    """Links to the same page of another cluster; of very many only when they are asked for."""
    nav = html.Nav(links, className=className, **{"aria-label": label, "data-filtered": ""})
    if len(links) <= CHOICES_MOST:
        return nav
    return html.Details(
        [html.Summary(said), filter_box(label.lower()), nav],
        className="folded-choice",
        **{"data-filters": ""},
    )


def fact(label: str, value: Child | Sequence[Child]) -> Component:
    """One line of a list of facts."""
    return html.Div([html.Dt(label), html.Dd(value)], className="fact")
