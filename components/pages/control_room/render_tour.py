"""A guided first run where something generates rows: from raising the rate to the verdict.

`assets/pages/control_room/tour.js` shows one step at a time, until the viewer has done with it.
"""

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from weir.components.ui.parts import icon, still
from weir.components.ui.surface import on_the_present
from weir.controllers.engine.ports import Workload

STEPS = (
    (
        "Raise the rate",
        "Give the workload twice its rate, then press “Set rate”: more rows arrive each second.",
        ".workload-rate input",
    ),
    (
        "Watch the load rise",
        "Within a few periods the charts of a cluster show more load, then a queue and latency. "
        "A dashed line is the target.",
        ".cluster",
    ),
    (
        "Read what is proposed",
        "Once the load lasts, the inbox has a recommendation: what to do, why, and what it should "
        "bring. Its title opens all of its numbers.",
        "#inbox",
    ),
    (
        "Approve it",
        "Approve it there. The command goes to the cluster's agent, and “Recent commands” shows "
        "how far it is.",
        "#inbox",
    ),
    (
        "Read the verdict",
        "After the settling time the inbox says what was measured next to what was predicted: "
        "whether it came true, and whether it helped.",
        "#inbox",
    ),
)
"""Title, what to do, and where that is."""


def tour_card(workloads: Sequence[Workload]) -> Component | None:
    """All steps; hidden until the browser knows that they are still wanted."""
    if not workloads or not on_the_present():
        return None
    steps = [
        html.Li(
            [
                html.H2([html.Span(f"First run, step {number} of {len(STEPS)}"), title]),
                html.P(text),
            ],
            hidden=True,
            **{"data-tour-at": where},
        )
        for number, (title, text, where) in enumerate(STEPS, start=1)
    ]
    return html.Section(
        id="tour",
        className="card tour",
        hidden=True,
        **{"aria-label": "First run"},
        **still(
            [
                html.Ol(steps, className="tour-steps"),
                html.Div(
                    [
                        _button("show", "Show me", "button button-primary"),
                        _button("back", "Back"),
                        _button("next", "Next"),
                        _button("over", [icon("cross"), "Do not show again"]),
                    ],
                    className="tour-buttons",
                ),
            ]
        ),
    )


def _button(verb: str, words: str | list[Component | str], look: str = "button") -> Component:
    return html.Button(words, className=look, type="button", **{"data-tour": verb})
