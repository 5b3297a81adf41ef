"""All clusters of a large control room, small; `assets/pages/control_room/overview.js` draws them."""

from dash import html
from dash.development.base_component import Component

from weir.components.ui.figure import Figures
from weir.components.ui.parts import card, live
from weir.components.ui.surface import press
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import number_of


def overview_card(snapshot: Snapshot, in_full: int, figures: Figures) -> Component:
    """One element that stays one, however many clusters there are; below it what is in full."""
    return card(
        html.P(live(figures, "all/attention", "attention")),
        html.Div(className="overview", **{"data-overview": "clusters"}),
        html.Div(
            [
                html.P(_shown_words(len(snapshot.clusters), in_full), className="quiet"),
                html.Button(
                    "Choose again",
                    className="button",
                    type="button",
                    **press(
                        None, title="Draw the page again with those that need attention most now"
                    ),
                    **{"data-choose": "again"},
                ),
            ],
            className="overview-foot",
        ),
        title="All clusters",
        className="overview-card",
    )


def _shown_words(clusters: int, in_full: int) -> str:
    if in_full == clusters:
        return "All are shown below; the operators of each are on the cluster's own page."
    return (
        f"{in_full} of {number_of(clusters, 'cluster')} are shown in full below: first those that "
        "needed attention when the page was drawn (no data, failing, overloaded, late, or with an "
        "open decision or action), then those with the highest load. They stay while loads change."
    )
