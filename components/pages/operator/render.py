"""One operator: its rates, where its latency comes from, its state and its lease."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.chart_tile import chart_tile
from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.operator.slices import groups_text, slices_card, slices_of
from weir.components.ui import ids
from weir.components.ui.buttons import operator_buttons
from weir.components.ui.parts import card, data_age, fact, live, region
from weir.components.ui.path import cluster_path, operator_path
from weir.components.ui.surface import page_link
from weir.controllers.model.sample import OperatorSample


def render(world: World, page: Page) -> Component:
    """The whole page."""
    name = page.place.name
    operator = world.snapshot.operator(name)
    assert operator is not None
    cluster = world.snapshot.cluster(operator.cluster)
    slices = slices_of(world, operator.slice_of)
    figures, base = page.figures, f"operator/{name}"

    def figure(label: str, key: str) -> Component:
        return fact(label, live(figures, f"{base}/{key}"))

    state = [figure("State", "state-rows"), figure("State size", "state-bytes")]
    facts = html.Dl(
        [
            fact("Cluster", page_link(operator.cluster, cluster_path(operator.cluster))),
            fact("Reads", ", ".join(operator.reads) or "–"),
            fact("Writes", ", ".join(operator.writes) or "–"),
            *_share(operator),
            figure("Last batch", "batch-id"),
            figure("Rows in it", "batch-rows"),
            figure("Its duration", "processing"),
            figure("Wait before it", "scheduling"),
            figure("Longest latency", "latency-max"),
            figure("Trigger", "trigger"),
            figure("Cost", "cost"),
            figure("Work done", "busy"),
            figure("Tasks", "tasks"),
            figure("Failed tasks", "failed"),
            figure("Restarts", "restarts"),
            figure("Lease token", "lease"),
            *(state if operator.stateful else []),
        ],
        className="facts",
    )
    return html.Div(
        [
            html.Div(
                [
                    html.Nav(
                        [
                            page_link("Control room", "/"),
                            page_link(operator.cluster, cluster_path(operator.cluster)),
                            html.Span("Operators"),
                        ],
                        className="crumbs",
                        **{"aria-label": "Where you are"},
                    ),
                    html.Div(
                        [
                            html.H1(name),
                            live(figures, f"{base}/status", "status"),
                            data_age(operator.cluster),
                            live(figures, f"{base}/message", "message"),
                        ],
                        className="card-title",
                    ),
                    html.Div(operator_buttons(figures, cluster, name), className="card-actions"),
                ],
                className="page-head",
            ),
            html.Div(
                [
                    card(
                        html.Div(
                            [chart_tile(c, figures, f"operator/{c.key}") for c in page.charts],
                            className="tiles tiles-2",
                        ),
                    ),
                    html.Div(
                        [
                            card(facts, title="Facts"),
                            card(
                                region(ids.COMMANDS),
                                title="Recent commands",
                            ),
                        ],
                        className="stack",
                    ),
                ],
                className="split",
            ),
            *([slices_card(slices, figures)] if slices else []),
        ],
        className="stack",
        **{"data-cluster": operator.cluster},
    )


def _share(operator: OperatorSample) -> list[Component]:
    """What it has of its operator, or why an operator with state is one query."""
    if operator.slice_of:
        whole = page_link(operator.slice_of, operator_path(operator.slice_of))
        return [fact("Slice of", whole), fact("Key groups", groups_text(operator.key_groups))]
    if operator.stateful and operator.unsliced:
        return [fact("Slices", f"one: {operator.unsliced}")]
    return []
