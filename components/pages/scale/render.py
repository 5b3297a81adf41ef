"""Scale: executors and what every scaler would do about them, what was learned, and by hand."""

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.live.chart_tile import chart_tile
from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.hand import bounds_of
from weir.components.pages.scale.qtable import learner
from weir.components.pages.scale.render_answers import (
    answers_card,
    choice_card,
    cluster_choice,
    key_figures,
)
from weir.components.pages.scale.render_hand import hand_card
from weir.components.pages.scale.render_qtable import qtable_card
from weir.components.ui import ids
from weir.components.ui.parts import card, data_age, live, region
from weir.components.ui.path import cluster_path, scale_path
from weir.components.ui.surface import page_link
from weir.controllers.model.words import by_number


def render(world: World, page: Page) -> Component:
    """The scaling of one cluster."""
    name, figures = page.place.name, page.figures
    names = sorted((c.name for c in world.snapshot.clusters), key=by_number)
    return html.Div(
        [
            dcc.Store(id=scale_ids.SCALE_CLUSTER, data=name),
            html.Div(
                [
                    html.Div([html.H1(f"Scale {name}"), data_age(name)], className="card-title"),
                    html.Div(
                        [
                            cluster_choice(names, name),
                            page_link("Cluster page", cluster_path(name), className="button"),
                        ],
                        className="card-actions",
                    ),
                ],
                className="page-head",
            ),
            key_figures(name, figures),
            region(scale_ids.SCALE_NOTE),
            card(
                html.Div(
                    chart_tile(page.charts[0], figures, f"scale/{name}/steps", tall=True),
                    className="tiles",
                ),
                html.P(
                    [
                        html.Span("▲ ▼ executors came or went"),
                        html.Span("◆ a recommendation was carried out"),
                        html.Span("● asked for by hand"),
                    ],
                    className="legend",
                ),
            ),
            answers_card(figures, name),
            html.Div(
                [
                    hand_card(
                        name,
                        bounds_of(world, name),
                        comment_required=world.control.settings.comment_required,
                    ),
                    card(
                        region(ids.COMMANDS),
                        title="Recent commands",
                    ),
                ],
                className="halves",
            ),
            qtable_card(name, learner(world, name)),
            _model_card(page),
        ],
        className="stack scale",
        **{"data-cluster": name},
    )


def render_choice(world: World, page: Page) -> Component:
    """All clusters, before one is chosen: what their scalers want; of few with the course."""
    names = sorted((c.name for c in world.snapshot.clusters), key=by_number)
    charts = [
        card(
            html.Div(
                chart_tile(chart, page.figures, f"scale/{chart.cluster}/steps"), className="tiles"
            ),
            html.P(live(page.figures, f"scale/{chart.cluster}/why"), className="quiet"),
            title=chart.cluster,
            right=page_link("Every scaler's answer", scale_path(chart.cluster), className="button"),
        )
        for chart in page.charts
    ]
    return html.Div(
        [
            html.Div(html.H1("Scale"), className="page-head"),
            choice_card(names, page.figures),
            html.Div(charts, className="halves") if charts else None,
        ],
        className="stack scale",
    )


def _model_card(page: Page) -> Component:
    base = f"scale/{page.place.name}"
    return card(
        html.Div(
            [
                html.Div(
                    className="plot scatter",
                    tabIndex=0,
                    role="img",
                    **{
                        "data-scatter": "sojourn",
                        "aria-label": "Latency by the queueing model against measured latency; "
                        "the arrow keys go from one moment to the next",
                    },
                ),
                html.Div(
                    [
                        html.P(live(page.figures, f"{base}/error")),
                        html.P(
                            "Each point is one moment: across, what the model with its overhead "
                            "says; up, what was measured. On the line the model is right; above it, "
                            "latency was higher than the model says. Older moments are fainter; a "
                            "point on the edge lies beyond it.",
                            className="quiet",
                        ),
                    ],
                    className="scatter-words",
                ),
            ],
            className="modelled",
        ),
        title="Queueing model against what was measured",
    )
