"""The tables of users and tokens, and the forms below them."""

from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component
from msgspec import Struct

from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.users import ids as users_ids
from weir.components.ui.parts import card, since, stamp
from weir.components.ui.states import missing
from weir.components.web.security import Role, current_user
from weir.metrics.store.users import Token

ROLE_WORDS = {
    Role.VIEWER: "looks",
    Role.APPROVER: "approves and acts",
    Role.ADMIN: "sets modes, settings and users",
}


class UserRow(Struct, frozen=True, kw_only=True):
    """One user as the page shows them."""

    name: str
    role: Role
    password: bool
    sessions: int
    seen: float | None
    me: bool


def render(world: World, page: Page) -> Component:
    """The page for an admin; others are told who can help.

    What stands in the tables comes by callback: it is not in the hub's world.
    """
    del world, page
    person = current_user()
    if not person.may(Role.ADMIN):
        return missing(
            "Only admins manage users",
            f"You are signed in as {person.name}, {person.role}. An admin can change your role.",
            "/",
            "To the control room",
        )
    return html.Div(
        [
            dcc.Store(id=users_ids.USERS_SHOWN, data=0),
            html.Div(html.H1("Users and tokens"), className="page-head"),
            html.Div(id=users_ids.USERS_ONCE),
            card(
                html.Div("Loading …", id=users_ids.USERS_LIST, className="quiet"),
                add_form("user", "Name of a new user", "Add user"),
                html.P(
                    "A new user gets a one-time link to sign in with, and then chooses a password. "
                    "You never need to know it.",
                    className="quiet users-note",
                ),
                title="Users",
            ),
            card(
                html.Div("Loading …", id=users_ids.TOKENS_LIST, className="quiet"),
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


def users_table(rows: Sequence[UserRow]) -> Component:
    """Everybody who may sign in."""
    head = html.Thead(
        html.Tr([html.Th(t) for t in ("Name", "Role", "Signs in by", "Sessions", "")])
    )
    return html.Div(
        html.Table([head, html.Tbody([_user(r) for r in rows])], className="table users"),
        className="table-box",
    )


def _user(row: UserRow) -> Component:
    sessions: list[Component | str] = [f"{row.sessions} open"] if row.sessions else ["none"]
    if row.seen is not None:
        sessions += [", seen ", since(row.seen), " ago"]
    verbs = [("link", "New link"), ("end", "End sessions"), ("remove", "Remove")]
    return html.Tr(
        [
            html.Th([row.name, " ", html.Span("you", className="tag") if row.me else None]),
            html.Td(
                dmc.Select(
                    id=users_ids.user_role(row.name),
                    data=[str(r) for r in Role],
                    value=str(row.role),
                    allowDeselect=False,
                    size="xs",
                    w=130,
                    **{"aria-label": f"Role of {row.name}"},
                )
            ),
            html.Td("password" if row.password else "one-time link"),
            html.Td(sessions),
            html.Td(
                html.Div(
                    [
                        html.Button(
                            words,
                            id=users_ids.user_ask(verb, row.name),
                            className="button button-small",
                            type="button",
                            **{"aria-label": f"{words}: {row.name}"},
                        )
                        for verb, words in verbs
                    ],
                    className="users-actions",
                ),
                className="row-actions",
            ),
        ],
        **{"data-user": row.name},
    )


def tokens_table(tokens: Sequence[Token]) -> Component:
    """Programs that may use the HTTP API."""
    if not tokens:
        return html.P("There are none yet.", className="quiet")
    head = html.Thead(html.Tr([html.Th(t) for t in ("For", "Id", "Role", "Made", "Valid", "")]))
    return html.Div(
        html.Table([head, html.Tbody([_token(t) for t in tokens])], className="table users"),
        className="table-box",
    )


def _token(token: Token) -> Component:
    return html.Tr(
        [
            html.Th(token.name),
            html.Td(html.Code(token.id)),
            html.Td(str(token.role)),
            html.Td([f"by {token.by}, " if token.by else "", since(token.created_at), " ago"]),
            html.Td(
                "until revoked" if token.expires_at is None else ["until ", stamp(token.expires_at)]
            ),
            html.Td(
                html.Button(
                    "Revoke",
                    id=users_ids.user_ask("revoke", token.id),
                    className="button button-small",
                    type="button",
                    **{"aria-label": f"Revoke: {token.name}"},
                ),
                className="row-actions",
            ),
        ],
        **{"data-token": token.id},
    )


def add_form(kind: str, label: str, button: str) -> Component:
    """Name and role of a new user or token."""
    return html.Div(
        [
            dmc.TextInput(id=users_ids.user_new("name", kind), label=label, w=220),
            dmc.Select(
                id=users_ids.user_new("role", kind),
                label="Role",
                data=[{"value": str(r), "label": f"{r}: {ROLE_WORDS[r]}"} for r in Role],
                value=str(Role.VIEWER),
                allowDeselect=False,
                w=290,
            ),
            html.Button(
                button,
                id=users_ids.user_new("add", kind),
                className="button button-primary",
                type="button",
            ),
        ],
        className="steer users-new",
    )


def secret_box(words: str, secret: str, name: str) -> Component:
    """Something that is shown once, ready to be copied."""
    return html.Div(
        [
            html.P(words),
            html.Div(
                [
                    html.Code(secret, id="users-secret", className="users-secret"),
                    dcc.Clipboard(
                        target_id="users-secret", className="button", title=f"Copy the {name}"
                    ),
                ],
                className="users-secret-line",
            ),
        ],
        className="users-once",
        role="status",
    )
