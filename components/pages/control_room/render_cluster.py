"""One cluster in the control room: who it is, its operators and its five series."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.live.chart_tile import chart_tile
from weir.components.live.charts import Chart
from weir.components.ui.buttons import mode_button, operator_buttons, scale_button
from weir.components.ui.figure import Figures
from weir.components.ui.parts import Child, data_age, icon, live, live_bar
from weir.components.ui.path import cluster_path, operator_path
from weir.components.ui.surface import page_link
from weir.components.ui.text import plural
from weir.controllers.model.sample import Cluster, OperatorSample


def cluster_card(
    cluster: Cluster,
    operators: tuple[OperatorSample, ...],
    charts: list[Chart],
    figures: Figures,
    *,
    listed: bool = True,
) -> Component:
    """The whole panel; where operators are not `listed` it says where they are."""
    base = f"cluster/{cluster.name}"
    return html.Section(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H2(page_link(cluster.name, cluster_path(cluster.name))),
                            mode_tag(cluster),
                            data_age(cluster.name),
                            live(figures, f"{base}/message", "message"),
                        ],
                        className="card-title",
                    ),
                    html.Div(
                        [
                            live(figures, f"{base}/executors", "quiet"),
                            mode_button(figures, cluster.name),
                            scale_button(cluster),
                        ],
                        className="card-actions",
                    ),
                ],
                className="card-head",
            ),
            html.Div(
                [chart_tile(c, figures, f"cluster/{c.key}") for c in charts],
                className="tiles tiles-5",
            ),
            operators_table(operators, cluster, figures)
            if listed
            else _operators_elsewhere(operators, cluster),
        ],
        className="card cluster",
        **{"data-cluster": cluster.name, "aria-label": f"Cluster {cluster.name}"},
    )


def mode_tag(cluster: Cluster) -> Component:
    """Hosted or attached: decides which buttons there are."""
    word = "hosted" if cluster.hosted else "attached"
    hint = (
        "Weir runs its operators"
        if cluster.hosted
        else "A job of its own, watched through attach()"
    )
    return html.Span(word, className="tag", title=hint)


def operators_table(
    operators: tuple[OperatorSample, ...], cluster: Cluster, figures: Figures
) -> Component:
    """The operators of a cluster with their present figures and buttons."""
    if not operators:
        return html.P("No operator runs here.", className="quiet")
    heads = ("Operator", "Status", "Load", "Arriving", "Processed", "Queue", "Latency", "")
    return html.Div(
        html.Table(
            [
                html.Thead(html.Tr([html.Th(h, scope="col") for h in heads])),
                html.Tbody([_operator_row(o, cluster, figures) for o in operators]),
            ],
            className="table operators",
        ),
        className="table-box",
    )


def _operators_elsewhere(operators: tuple[OperatorSample, ...], cluster: Cluster) -> Component:
    many = page_link(plural(len(operators), "operator"), cluster_path(cluster.name))
    where = ", with figures and buttons on the cluster's page."
    return html.P([many, where], className="quiet")


def _operator_row(operator: OperatorSample, cluster: Cluster, figures: Figures) -> Component:
    base = f"operator/{operator.name}"
    cells = [
        html.Th(
            [
                page_link(operator.name, operator_path(operator.name)),
                icon("state", "keeps state") if operator.stateful else None,
            ],
            scope="row",
        ),
        _cell("Status", live(figures, f"{base}/status", "status")),
        _cell(
            "Load",
            [live_bar(figures, f"{base}/load"), live(figures, f"{base}/load")],
            "with-bar",
        ),
        _cell("Arriving", live(figures, f"{base}/arriving")),
        _cell("Processed", live(figures, f"{base}/processed")),
        _cell("Queue", live(figures, f"{base}/queue")),
        _cell("Latency", live(figures, f"{base}/latency")),
        html.Td(
            operator_buttons(figures, cluster, operator.name, words=False), className="row-actions"
        ),
    ]
    return html.Tr(cells, **{"data-operator": operator.name})


def _cell(label: str, value: Child | Sequence[Child], className: str = "") -> Component:
    """A cell that carries its column's name, for the phone's stacked rows."""
    return html.Td(value, className=className, **{"data-label": label})
