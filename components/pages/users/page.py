"""Users and tokens. What stands in the tables comes by callback: it is not in the hub's world."""

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.pages.users.render import add_form, users_dialog
from weir.components.ui import ids
from weir.components.ui.parts import card
from weir.components.ui.states import missing
from weir.components.web.security import Person, Role


def render(person: Person) -> Component:
    """The page for an admin; others are told who can help."""
    if not person.may(Role.ADMIN):
        return missing(
            "Only admins manage users",
            f"You are signed in as {person.name}, {person.role}. An admin can change your role.",
            "/",
            "To the control room",
        )
    return html.Div(
        [
            dcc.Store(id=ids.USERS_SHOWN, data=0),
            users_dialog(),
            html.Div(html.H1("Users and tokens"), className="page-head"),
            html.Div(id=ids.USERS_ONCE),
            card(
                html.Div("Loading ...", id=ids.USERS_LIST, className="quiet"),
                add_form("user", "Name of a new user", "Add user"),
                html.P(
                    "A new user gets a one-time link to sign in with, and then chooses a password. "
                    "You never need to know it.",
                    className="quiet users-note",
                ),
                title="Users",
            ),
            card(
                html.Div("Loading ...", id=ids.TOKENS_LIST, className="quiet"),
                add_form("token", "What a new token is for", "Make token"),
                html.P(
                    [
                        "Programs send a token with every request to the ",
                        html.A("HTTP API", href="/api/v1"),
                        ". Only a hash of it is kept.",
                    ],
                    className="quiet users-note",
                ),
                title="Tokens of the HTTP API",
            ),
        ],
        className="stack",
    )
