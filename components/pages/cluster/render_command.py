"""What the dialog says before a command goes to an agent."""

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.live.commands import Question
from weir.components.ui import ids


def command_body(asked: Question) -> Component:
    """What will happen; to scale a cluster, with the number of executors to choose."""
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
