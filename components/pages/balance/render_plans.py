"""Every planner's plan for this moment, side by side; those that agree are one row."""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.view import PlanRow
from weir.components.ui.parts import card, region
from weir.components.ui.surface import press
from weir.components.ui.text import plural

_HEADS = (
    ("Planner", ""),
    ("Load distance", "points, lower is better"),
    ("Moves", ""),
    ("State moved", ""),
    ("Collocation", "traffic that stays in its cluster"),
    ("Pause", "of all moved operators"),
    ("Bound", "no plan of so many moves gets lower"),
    ("Why", ""),
    ("", ""),
)


def plans_card() -> Component:
    """Where the table goes; it comes whole, as planners agree at one moment and not at the next."""
    return card(region(balance_ids.PLANS), title="Every planner's plan for this moment")


def plans_table(rows: Sequence[PlanRow]) -> Component:
    """One row per plan."""
    head = html.Tr(
        [
            html.Th([name, html.Span(hint, className="head-hint") if hint else None], scope="col")
            for name, hint in _HEADS
        ]
    )
    return html.Div(
        html.Table(
            [html.Thead(head), html.Tbody([_row(row) for row in rows])], className="table plans"
        ),
        className="table-box",
    )


def _row(row: PlanRow) -> Component:
    def cell(head: str, value: str, className: str = "") -> Component:
        return html.Td(html.Span(value), className=className, **{"data-label": head})

    return html.Tr(
        [
            html.Th(
                [
                    row.label,
                    html.Span("followed", className="tag tag-followed") if row.followed else None,
                    agreement([label for _, label in row.agree]),
                ],
                scope="row",
            ),
            html.Td(
                [
                    html.Span(
                        html.Span(style={"width": f"{100 * (row.distance.fill or 0):.1f}%"}),
                        className="bar",
                        **{"aria-hidden": "true"},
                    ),
                    html.Span(
                        row.distance.text,
                        className="plan-distance live",
                        **{"data-state": row.distance.state},
                    ),
                    html.Span(row.before, className="quiet"),
                ],
                className="with-bar",
                **{"data-label": "Load distance"},
            ),
            cell("Moves", row.moves, "plan-moves"),
            cell("State moved", row.state_moved),
            cell("Collocation", row.collocation),
            cell("Pause", row.pause),
            cell("Bound", row.bound),
            cell("Why", row.words, "plan-words"),
            html.Td(
                html.Button(
                    "Preview",
                    **press(balance_ids.preview(row.planner)),
                    className="button",
                    type="button",
                    **{"aria-label": f"Preview the plan of {row.label}"},
                ),
                className="row-actions",
            ),
        ],
        **{"data-planner": " ".join([row.planner, *(name for name, _ in row.agree)])},
    )


def agreement(others: Sequence[str]) -> Component | None:
    """Who plans the same."""
    if not others:
        return None
    return html.Div(
        f"{plural(len(others) + 1, 'planner')} agree: also {', '.join(others)}",
        className="plan-agree quiet",
    )
