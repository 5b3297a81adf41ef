"""Who is signed in, in the header of every page."""

from dash import dcc, html
from dash.development.base_component import Component

from weir.components.ui.path import USERS
from weir.components.web.security import Person, Role


def who(person: Person) -> Component:
    """Name and role, with what belongs to them. The page's script looks at the role here."""
    by_proxy = person.via == "header"
    entries = [
        html.Div(["Signed in as ", html.Strong(person.name), f", {person.role}"],
                 className="who-role"),
        dcc.Link("Users and tokens", href=USERS) if person.may(Role.ADMIN) else None,
        None if by_proxy else html.A("Change password", href="/password"),
        html.A("HTTP API", href="/api/v1"),
        None if by_proxy else html.Button("Sign out", id="sign-out", type="button"),
    ]  # fmt: skip
    return html.Details(
        [
            html.Summary(
                html.Span(person.name or "nobody", className="who-name"),
                title=f"Signed in as {person.name}, {person.role}",
            ),
            html.Div([e for e in entries if e is not None], className="who-menu"),
        ],
        className="who",
        **{"data-role": person.role or ""},
    )
