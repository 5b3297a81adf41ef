"""The slices of an operator, side by side."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.figures import operator_brief
from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.ui import text
from weir.components.ui.figure import Figure, Figures
from weir.components.ui.parts import card, live
from weir.components.ui.path import cluster_path, operator_path
from weir.components.ui.surface import page_link
from weir.controllers.model.sample import OperatorSample


def slices_of(world: World, operator: str) -> tuple[OperatorSample, ...]:
    """The slices of an operator, by number; none if it is not sliced."""
    found = [o for o in world.snapshot.operators if operator and o.slice_of == operator]
    return tuple(sorted(found, key=lambda o: int(o.name.rpartition(".")[2] or 0)))


def slices_figures(world: World, slices: tuple[OperatorSample, ...]) -> Figures:
    """What changes in the list."""
    figures: Figures = {}
    for one in slices:
        base = f"operator/{one.name}"
        figures |= operator_brief(world, one)
        figures[f"{base}/slice-load"] = Figure(f"{one.load:.2f} cores")
        figures[f"{base}/slice-state"] = Figure(text.rows(one.state_rows))
        figures[f"{base}/slice-size"] = Figure(text.size(one.state_bytes))
    return figures


def slices_card(slices: tuple[OperatorSample, ...], figures: Figures) -> Component:
    """Every slice with where it runs, what it owns and its present figures."""
    heads = (
        "Slice", "Cluster", "Key groups", "Status", "Load", "Arriving", "Queue", "Latency", "Keys",
        "State",
    )  # fmt: skip
    return card(
        html.Div(
            html.Table(
                [
                    html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])),
                    html.Tbody([_row(one, figures) for one in slices]),
                ],
                className="table operators",
            ),
            className="table-box",
        ),
        title=f"Slices of {slices[0].slice_of}",
    )


def render_sliced(world: World, page: Page) -> Component:
    """The page of an operator that runs as slices only."""
    slices = slices_of(world, page.place.name)
    return html.Div(
        [
            html.Div(
                [
                    html.Nav(
                        [page_link("Control room", "/"), html.Span("Operators")],
                        className="crumbs",
                        **{"aria-label": "Where you are"},
                    ),
                    html.Div([html.H1(page.place.name)], className="card-title"),
                ],
                className="page-head",
            ),
            slices_card(slices, page.figures),
        ],
        className="stack",
    )


def groups_text(groups: tuple[int, ...]) -> str:
    """Key groups in few words.

    >>> groups_text((0, 1, 2, 3)), groups_text((0, 1, 5, 6, 9))
    ('4: 0–3', '5: 0–1, 5–6, 9')
    """
    runs: list[list[int]] = []
    for group in sorted(groups):
        if runs and group == runs[-1][1] + 1:
            runs[-1][1] = group
        else:
            runs.append([group, group])
    parts = [str(a) if a == b else f"{a}–{b}" for a, b in runs]
    return f"{len(groups)}: {', '.join(parts)}"


def _row(one: OperatorSample, figures: Figures) -> Component:
    base = f"operator/{one.name}"
    shown = (
        ("Arriving", "arriving"), ("Queue", "queue"), ("Latency", "latency"),
        ("Keys", "slice-state"), ("State", "slice-size"),
    )  # fmt: skip
    return html.Tr(
        [
            html.Th(page_link(one.name, operator_path(one.name)), scope="row"),
            _cell("Cluster", page_link(one.cluster, cluster_path(one.cluster))),
            _cell("Key groups", groups_text(one.key_groups)),
            _cell("Status", live(figures, f"{base}/status", "status")),
            _cell("Load", live(figures, f"{base}/slice-load")),
            *(_cell(label, live(figures, f"{base}/{key}")) for label, key in shown),
        ],
        **{"data-operator": one.name},
    )


def _cell(label: str, content: Component | str) -> Component:
    return html.Td(content, **{"data-label": label})
