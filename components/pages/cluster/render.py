"""One cluster: load by operator, executors, rates, and what went wrong."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.chart_tile import chart_tile
from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.cluster import ids as cluster_ids
from weir.components.pages.control_room.render_cluster import mode_tag, operators_table
from weir.components.ui import ids
from weir.components.ui.buttons import ask_button, mode_button, scale_button
from weir.components.ui.parts import card, data_age, fact, icon, live, region
from weir.components.ui.surface import page_link
from weir.components.ui.text import plural
from weir.components.web.security import Role


def render(world: World, page: Page) -> Component:
    """The whole page."""
    name = page.place.name
    cluster = world.snapshot.cluster(name)
    assert cluster is not None
    figures, base = page.figures, f"cluster/{name}"
    stacked, *others = page.charts
    spark_ui = (
        html.A(
            ["Spark UI", icon("out")], href=cluster.ui_url, target="_blank", rel="noopener noreferrer",
            className="button",
        )
        if cluster.ui_url.startswith(("http://", "https://"))
        else None
    )  # fmt: skip
    facts = html.Dl(
        [
            fact("Executors", live(figures, f"{base}/executors")),
            fact(
                "Limits", f"{cluster.min_executors} to {plural(cluster.max_executors, 'executor')}"
            ),
            fact("Cores", live(figures, f"{base}/capacity")),
            fact("Failed tasks", live(figures, f"{base}/failed")),
            fact("Executors lost", live(figures, f"{base}/lost")),
            fact("Dropped events", live(figures, f"{base}/dropped-events")),
            fact("Dropped reports", live(figures, f"{base}/dropped-samples")),
            fact("Mode", live(figures, f"mode/{name}")),
            fact("Application", cluster.app_id or "–"),
            fact("Spark", cluster.spark_version or "–"),
        ],
        className="facts",
    )
    return html.Div(
        [
            html.Div(
                [
                    html.Nav(
                        [page_link("Control room", "/"), html.Span("Clusters")],
                        className="crumbs", **{"aria-label": "Where you are"},
                    ),
                    html.Div(
                        [
                            html.H1(name), mode_tag(cluster), data_age(name),
                            live(figures, f"{base}/message", "message"),
                        ],
                        className="card-title",
                    ),
                    html.Div(
                        [spark_ui, mode_button(figures, name), scale_button(cluster)],
                        className="card-actions",
                    ),
                ],
                className="page-head",
            ),
            html.Div(
                [
                    card(
                        html.Div(
                            chart_tile(stacked, figures, f"{base}/load-by-operator", tall=True),
                            className="tiles",
                        ),
                    ),
                    card(
                        facts,
                        html.Div(
                            [
                                ask_button("end", name, role=Role.ADMIN) if cluster.hosted else None,
                                ask_button("forget", name, role=Role.ADMIN),
                            ],
                            className="card-actions",
                        ),
                        title="Facts",
                    ),
                ],
                className="split",
            ),
            card(
                html.Div(
                    [chart_tile(c, figures, f"cluster/{c.key}") for c in others],
                    className="tiles tiles-5",
                ),
            ),
            card(
                operators_table(world.snapshot.operators_of(name), cluster, figures),
                title="Operators",
            ),
            card(
                region(cluster_ids.SHARES),
                title="Shares of the cores",
                right=ask_button("share", name) if cluster.hosted else None,
            ),
            html.Div(
                [
                    card(
                        region(cluster_ids.EXECUTORS),
                        title="Executors",
                    ),
                    card(
                        region(ids.COMMANDS),
                        title="Recent commands",
                    ),
                ],
                className="split",
            ),
        ],
        className="stack",
        **{"data-cluster": name},
    )  # fmt: skip
