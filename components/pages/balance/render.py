"""Balance: how uneven the load is, what every planner would do, and what was done."""

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.live.chart_tile import chart_tile
from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.render_matrices import matrices_card
from weir.components.pages.balance.render_plans import plans_card
from weir.components.pages.balance.render_rings import rings_card
from weir.components.pages.balance.render_steer import follow_card, hand_card
from weir.components.pages.balance.view import CHART, DISTANCE
from weir.components.ui.figure import Figures
from weir.components.ui.parts import card, data_age, live, region


def render(world: World, page: Page) -> Component:
    """Where the balance stands, which loads belong together, what could be done, what was done."""
    assert world.outlook is not None
    figures = page.figures
    clusters = [b.name for b in world.outlook.problem.bins]
    hosted = {c.name for c in world.snapshot.clusters if c.hosted}
    operators = [o.name for o in world.snapshot.operators if o.cluster in hosted]
    return html.Div(
        [
            html.Div(
                html.Div([html.H1("Balance"), data_age(DISTANCE)], className="card-title"),
                className="page-head",
            ),
            _key_figures(figures),
            region(balance_ids.BALANCE_NOTE),
            dcc.Store(id=balance_ids.PRESSED_PREVIEW),
            matrices_card(world, figures),
            rings_card(world, figures),
            plans_card(),
            html.Div([hand_card(operators, clusters), follow_card(world)], className="halves"),
            html.Div(
                [
                    card(
                        html.Div(
                            chart_tile(CHART, figures, "balance/distance", tall=True),
                            className="tiles",
                        ),
                        html.P(
                            [html.I(className="key key-mark"), "a rebalance was asked for"],
                            className="legend",
                        ),
                    ),
                    card(
                        region(balance_ids.REBALANCES),
                        title="Rebalances",
                    ),
                ],
                className="halves",
            ),
        ],
        className="stack balance",
        **{"data-cluster": DISTANCE},
    )


def _key_figures(figures: Figures) -> Component:
    def figure(title: str, key: str, below: Component | str) -> Component:
        return html.Div(
            [
                html.Div(title, className="figure-title"),
                html.Div(live(figures, key), className="figure-value"),
                html.Div(below, className="figure-below"),
            ],
            className="figure",
        )

    return html.Section(
        [
            figure("Load distance", "balance/now", "points, lower is better"),
            figure("Within reach", "balance/reach", live(figures, "balance/reach-by")),
            figure("Highest load", "balance/top", live(figures, "balance/top-where")),
            figure("Collocation", "balance/collocation", "of the traffic stays local"),
            figure("Load index", "balance/index", "times the load at first"),
            figure("Engine follows", "balance/planner", "plans every 5 s"),
            figure("Applies plans", "balance/auto", "set below"),
        ],
        className="figures figures-7",
        **{"aria-label": "Key figures"},
    )
