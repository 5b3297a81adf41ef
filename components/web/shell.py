"""What stands around every page: header, health, banner, dialog, and the feed's stores."""

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.registry import PAGES
from weir.components.pages.replay.render_bar import replay_bar
from weir.components.ui import ids
from weir.components.ui.dialog import dialog
from weir.components.ui.parts import icon, region
from weir.components.ui.signed_in import who
from weir.components.ui.states import loading
from weir.components.ui.theme import THEME
from weir.components.web.security import current_user


def shell() -> Component:
    """The page's frame, without any data; only the name of who is signed in differs."""
    return dmc.MantineProvider(
        theme=THEME,
        defaultColorScheme="auto",
        children=html.Div(
            [
                html.A("Skip to the content", href="#content", className="skip"),
                html.Div(
                    [
                        _header(),
                        html.Div(id="banner", className="banner", role="alert", hidden=True),
                        replay_bar(PAGES.navigation(replayed=True)),
                    ],
                    className="top",
                ),
                html.Main(
                    html.Div(loading(), id=ids.PAGE), id="content", className="content", tabIndex=-1
                ),
                dialog(),
                html.Div(id=ids.TOAST, className="toasts", role="status"),
                *_stores(),
            ],
            className="shell",
        ),
    )


def _header() -> Component:
    return html.Header(
        [
            dcc.Link(
                [html.Span(className="logo", **{"aria-hidden": "true"}), "Weir"],
                href="/",
                className="brand",
                title="Control room",
            ),
            # The browser marks the current one; the shell is the same on every page.
            html.Nav(
                [dcc.Link(title, href=path) for title, path in PAGES.navigation()],
                className="nav",
                **{"aria-label": "Pages"},
            ),
            region(ids.PAUSE, "pause-box"),
            region(ids.HEALTH, "health-box"),
            html.Div(
                [
                    html.Span(
                        [
                            html.I(**{"aria-hidden": "true"}),
                            html.Span("connecting", id="link-text"),
                        ],
                        id="link",
                        className="link",
                        role="status",
                    ),
                    html.Div(
                        [
                            html.Button(f"{m} min", type="button", **{"data-window": m})
                            for m in ("2", "5", "15")
                        ],
                        id=ids.WINDOW,
                        className="segments",
                        role="group",
                        **{"aria-label": "Time shown"},
                    ),
                    html.Button(
                        [icon("link"), icon("check")],
                        id=ids.COPY_LINK,
                        className="button button-icon button-copy",
                        type="button",
                        title="Copy a link to what is shown",
                        **{"aria-label": "Copy a link to what is shown"},
                    ),
                    html.Span(id=ids.COPIED, className="visually-hidden", role="status"),
                    who(current_user()),
                    html.Button(
                        [icon("sun"), icon("moon")],
                        id=ids.THEME,
                        className="button button-icon button-theme",
                        type="button",
                        title="Dark or light",
                        **{"aria-label": "Switch between dark and light"},
                    ),
                ],
                className="header-right",
            ),
        ],
        className="header",
    )


def _stores() -> list[Component]:
    return [
        dcc.Location(id=ids.URL, refresh=False),
        html.Div(id=ids.FEED, hidden=True),
        dcc.Store(id=ids.CURSOR),
        dcc.Store(id=ids.POLL),
        dcc.Store(id=ids.REFRESH),
        dcc.Store(id=ids.PRESSED_DECIDE),
        dcc.Store(id=ids.PRESSED_PAUSE),
        dcc.Store(id=ids.PRESSED_MOVE),
    ]
