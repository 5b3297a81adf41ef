"""The bar that drives a replay; `assets/pages/replay/bar.js` fills it in. Hidden on live pages."""

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.replay import ids as replay_ids
from weir.components.ui.parts import icon

SPEEDS = (1, 2, 5, 10, 30, 100)
_KINDS = (
    ("action", "something was done"),
    ("recommendation", "recommended"),
    ("executors", "executors came or went"),
    ("restart", "an operator restarted or moved"),
    ("settings", "settings or modes changed"),
)


def replay_bar(pages: Sequence[tuple[str, str]]) -> Component:
    """Says that this is the past, and lets people move in it; `pages`: title and address."""
    return html.Section(
        [
            html.Div(
                [
                    html.Strong([icon("clock"), "Replay"], className="replay-mark"),
                    html.Span(id="replay-name", className="replay-name"),
                    html.Span("The past as recorded: nothing here acts.", className="replay-note"),
                    html.Nav(
                        # Their addresses are those of the run at hand: the browser sets them.
                        [html.A(name, href="#", **{"data-inner": path}) for name, path in pages],
                        className="replay-nav",
                        **{"aria-label": "Pages of this replay"},
                    ),
                    html.Span(
                        [
                            html.A("What-if", href="#", id="replay-what-if"),
                            dcc.Link("All runs", href="/history"),
                            dcc.Link("Back to live", href="/", className="replay-out"),
                        ],
                        className="replay-links",
                    ),
                ],
                className="replay-head",
            ),
            html.Div(
                [
                    html.Div(
                        [
                            _button("mark-back", "Event before", "|◀"),
                            _button("back", "One period back (←)", "‹"),
                            html.Button(
                                [icon("play"), icon("pause")],
                                className="button replay-play",
                                type="button",
                                title="Play or pause (space)",
                                **{"data-replay": "play", "aria-label": "Play"},
                            ),
                            _button("forward", "One period forward (→)", "›"),
                            _button("mark-forward", "Event after", "▶|"),
                        ],
                        className="replay-buttons",
                    ),
                    html.Div(
                        [
                            html.Button(f"{speed}×", type="button", **{"data-speed": str(speed)})
                            for speed in SPEEDS
                        ],
                        className="segments",
                        role="group",
                        **{"aria-label": "Speed"},
                    ),
                    html.Time(id="replay-clock", className="replay-clock"),
                    html.Span(id="replay-event", className="replay-event", role="status"),
                    html.Span(
                        [
                            html.Span([html.I(className=f"mark mark-{kind}"), words])
                            for kind, words in _KINDS
                        ],
                        className="replay-legend",
                    ),
                ],
                className="replay-controls",
            ),
            html.Div(
                id="replay-line",
                className="replay-line",
                tabIndex=0,
                role="slider",
                **{"aria-label": "Moment of the run; arrow keys step one period"},
            ),
        ],
        id=replay_ids.REPLAY,
        className="replay",
        hidden=True,
        **{"aria-label": "Replay"},
    )


def _button(name: str, label: str, sign: str) -> Component:
    return html.Button(
        sign,
        className="button button-icon",
        type="button",
        title=label,
        **{"data-replay": name, "aria-label": label},
    )
