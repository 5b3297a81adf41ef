"""What the dialog says before a command goes to an agent."""

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.live.commands import CommandQuestion
from weir.components.ui import ids
from weir.controllers.model.shares import ShareSource


def command_body(asked: CommandQuestion) -> Component:
    """What will happen; to scale a cluster, with the number of executors to choose."""
    if asked.verb == "add":
        name = dmc.TextInput(
            id=ids.field("name", "add"), label="Name", placeholder="e.g. third", required=True
        )
        return html.Div([name, html.P(asked.text)], className="dialog")
    if asked.verb == "share":
        return _shares(asked)
    if asked.verb != "scale":
        return html.P(asked.text)
    executors = dmc.NumberInput(
        id=ids.field("executors", asked.cluster),
        label="Executors",
        description=f"between {asked.least} and {asked.most}",
        value=asked.executors,
        min=asked.least,
        max=asked.most,
        clampBehavior="strict",
        allowDecimal=False,
    )
    said = html.P(asked.text, id=ids.field_text("executors", asked.cluster))
    return html.Div([executors, said], className="dialog")


def _shares(asked: CommandQuestion) -> Component:
    weights = dmc.TextInput(
        id=ids.field("weights", asked.cluster),
        label="Weights",
        description="operator=weight, by comma; whole numbers from 1 to 1000",
        value=asked.weights,
    )
    source = dmc.Select(
        id=ids.field("source", asked.cluster),
        label="Until when",
        data=[
            {"value": ShareSource.HAND.value, "label": "They hold until somebody sets others"},
            {"value": ShareSource.MODEL.value, "label": "The engine may set others by the model"},
        ],
        value=ShareSource.HAND.value,
        allowDeselect=False,
    )
    return html.Div([html.P(asked.text), weights, source], className="dialog")
