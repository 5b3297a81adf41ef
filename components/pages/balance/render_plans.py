"""Every planner's plan for this moment, side by side."""

from collections.abc import Mapping

from dash import html
from dash.development.base_component import Component

from weir.components.pages.balance import ids as balance_ids
from weir.components.ui.figure import Figures
from weir.components.ui.parts import card, live, live_bar
from weir.components.ui.surface import press
from weir.controllers.engine.propose.outlook import Proposal

_HEADS = (
    ("Planner", ""),
    ("Load distance", "Points of capacity after the plan; lower is better"),
    ("Moves", ""),
    ("State moved", "Bytes of state that go along"),
    ("Collocation", "Share of the traffic that stays within its cluster after the plan"),
    ("Pause", "Predicted, over all moved operators"),
    ("Bound", "No plan with so many moves can have a smaller load distance"),
    ("Why", ""),
    ("", ""),
)


def plans_card(proposals: Mapping[str, Proposal], figures: Figures) -> Component:
    """The table; its cells follow the feed, its rows change only with the planners."""
    head = html.Tr([html.Th(name, scope="col", title=hint) for name, hint in _HEADS])
    body = [_row(name, proposal.label, figures) for name, proposal in proposals.items()]
    return card(
        html.Div(
            html.Table([html.Thead(head), html.Tbody(body)], className="table plans"),
            className="table-box",
        ),
        title="Every planner's plan for this moment",
    )


def _row(name: str, label: str, figures: Figures) -> Component:
    base = f"plan/{name}"

    def cell(head: str, key: str, className: str = "") -> Component:
        return html.Td(live(figures, f"{base}/{key}"), className=className, **{"data-label": head})

    return html.Tr(
        [
            html.Th([label, live(figures, f"{base}/followed", "tag tag-followed")], scope="row"),
            html.Td(
                [
                    live_bar(figures, f"{base}/distance"),
                    live(figures, f"{base}/distance", "plan-distance"),
                    live(figures, f"{base}/before", "quiet"),
                ],
                className="with-bar",
                **{"data-label": "Load distance"},
            ),
            cell("Moves", "moves", "plan-moves"),
            cell("State moved", "bytes"),
            cell("Collocation", "collocation"),
            cell("Pause", "pause"),
            cell("Bound", "bound"),
            cell("Why", "words", "plan-words"),
            html.Td(
                html.Button(
                    "Preview",
                    **press(balance_ids.preview(name)),
                    className="button",
                    type="button",
                    **{"aria-label": f"Preview the plan of {label}"},
                ),
                className="row-actions",
            ),
        ],
        **{"data-planner": name},
    )
