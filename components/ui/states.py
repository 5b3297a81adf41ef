"""Pages without data: nothing yet, not there, not reachable. Each says what to do."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.ui.parts import icon
from weir.components.ui.path import Place, cluster_path, operator_path, scale_path
from weir.components.ui.surface import page_link

KNOWN_SHOWN = 12


def loading() -> Component:
    """While the first answer is on its way."""
    blocks = [html.Div(className="skeleton skeleton-row")]
    blocks += [html.Div(className="skeleton skeleton-card") for _ in range(2)]
    return html.Div(blocks, className="loading", role="status", **{"aria-label": "Loading"})


def unreachable(address: str) -> Component:
    """Redis has never answered this worker."""
    return _state(
        "cross",
        "Redis cannot be reached",
        [
            html.P(
                ["Weir keeps everything in Redis and looks for it at ", html.Code(address), "."]
            ),
            html.P(
                "Start it, or give the right address with --redis. This page goes on by itself."
            ),
        ],
        state="bad",
    )


def empty(address: str) -> Component:
    """Redis is there, but no cluster has reported."""
    return _state(
        "cluster",
        "No clusters yet",
        [
            html.P("Start one that runs your operators:"),
            html.Pre(
                "weir host my-cluster --operators my_operators \\\n"
                f"    --redis redis://{address} --master spark://my-master:7077"
            ),
            html.P("Or attach a job that you run yourself, with one line in it:"),
            html.Pre(
                "from weir.metrics.agent.agent import attach\n"
                f'attach(spark, "my-job", redis_url="redis://{address}")'
            ),
            html.P("It appears here with its first report; there is no need to reload."),
        ],
    )


def no_outlook(address: str, *, engine: bool) -> Component:
    """The engine, which looks at the balance, has not done so yet."""
    if engine:
        body: list[Component] = [
            html.P("The engine is at work; its first look at the balance takes some seconds.")
        ]
    else:
        body = [
            html.P(
                "The engine looks at the balance every 5 s, and no engine is running. Start it:"
            ),
            html.Pre(f"weir engine --redis redis://{address}"),
        ]
    return _state(
        "clock" if engine else "warn",
        "No look at the balance yet",
        [*body, html.P("It appears here by itself; there is no need to reload.")],
    )


def alone(clusters: Sequence[str], address: str) -> Component:
    """Fewer than two clusters that operators could move between."""
    links = _join([page_link(n, cluster_path(n)) for n in clusters])
    return _state(
        "cluster",
        "Nothing to balance yet",
        [
            html.P(
                "Balancing moves operators between clusters that Weir hosts and that have "
                "executors, so it needs at least two."
            ),
            html.P(["Reporting now: ", *links, "."]) if links else None,
            html.P("Start another one:"),
            html.Pre(
                "weir host another-cluster --operators my_operators \\\n"
                f"    --redis redis://{address} --master spark://my-master:7077"
            ),
        ],
    )


def unknown(place: Place, clusters: Sequence[str], operators: Sequence[str]) -> Component:
    """A cluster or operator that nobody reports."""
    path = {"cluster": cluster_path, "scale": scale_path, "operator": operator_path}[place.kind]
    kind = "operator" if place.kind == "operator" else "cluster"
    known = [page_link(n, path(n)) for n in (operators if kind == "operator" else clusters)]
    return _state(
        "search",
        f"There is no {kind} {place.name}",
        [
            html.P(
                "Nothing reports under this name: it may have been renamed, or not have started yet."
            ),
            html.P(["Known: ", *_join(known[:KNOWN_SHOWN]), _more(len(known) - KNOWN_SHOWN)])
            if known
            else None,
            html.P(page_link("To the control room", "/")),
        ],
    )


def missing(title: str, text: str, href: str, link: str) -> Component:
    """Something that is not kept, and where to look instead."""
    return _state("search", title, [html.P(text), html.P(page_link(link, href))])


def lost_page(path: str) -> Component:
    """An address that leads nowhere."""
    return _state(
        "search",
        "There is no such page",
        [
            html.P([html.Code(path), " leads nowhere."]),
            html.P(page_link("To the control room", "/")),
        ],
    )


def _state(picture: str, title: str, body: list[Component | None], state: str = "") -> Component:
    return html.Section(
        [icon(picture), html.H1(title), *body], className="state", **{"data-state": state}
    )


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _join(links: list[Component]) -> list[Component | str]:
    parts: list[Component | str] = []
    for link in links:
        parts += [", ", link] if parts else [link]
    return parts
