"""What a person can do about the balance: move an operator, and tell the engine how to act."""

from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.live.world import World
from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.rebalances import planner_label
from weir.components.pages.balance.view import alone, choices, follow_text
from weir.components.ui.parts import card
from weir.components.ui.surface import control, press
from weir.components.web.security import Role, needs


def hand_card(operators: Sequence[str], clusters: Sequence[str]) -> Component:
    """A move of one's own: choose, read the prediction, look at the preview, apply."""
    return card(
        html.Div(
            [
                _select(balance_ids.HAND_OPERATOR, "Operator", operators),
                _select(balance_ids.HAND_TARGET, "To cluster", clusters),
                html.Button(
                    "Preview move",
                    className="button",
                    type="button",
                    **press(balance_ids.HAND_PREVIEW),
                ),
            ],
            className="steer",
        ),
        html.P(
            "Choose an operator and the cluster that it should run in.",
            id=balance_ids.HAND_TEXT,
            className="steer-text quiet",
            role="status",
        ),
        title="Move an operator by hand",
    )


def follow_card(world: World) -> Component:
    """Which planner the engine follows, and whether it applies its plans by itself."""
    settings = world.balance
    return card(
        html.Div(
            [
                dmc.Select(
                    **control(balance_ids.FOLLOW_PLANNER),
                    label="Planner that the engine follows",
                    data=choices(world),
                    value=settings.planner,
                    allowDeselect=False,
                    checkIconPosition="right",
                ),
                dmc.Switch(
                    **control(balance_ids.FOLLOW_AUTO),
                    label="Apply its plans without asking: mode auto in every cluster",
                    checked=alone(world),
                ),
                html.Button(
                    "Set",
                    **press(balance_ids.FOLLOW_SET),
                    className="button",
                    type="button",
                    **needs(Role.ADMIN),
                ),
            ],
            className="steer steer-follow",
        ),
        html.P(
            follow_text(settings, planner_label(world.outlook, settings.planner), alone(world)),
            id=balance_ids.FOLLOW_TEXT,
            className="steer-text quiet",
            role="status",
        ),
        title="What the engine does by itself",
    )


def _select(name: str, label: str, options: Sequence[str]) -> Component:
    return dmc.Select(
        **control(name),
        label=label,
        data=list(options),
        placeholder="Choose",
        searchable=len(options) > 8,
        allowDeselect=False,
        checkIconPosition="right",
        # A page that is drawn again keeps what was chosen.
        persistence=True,
        persistence_type="memory",
    )
