"""What the buttons of the users page do. For admins, by HTTP, and each one recorded."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import redis
from dash import ALL, Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from weir.components.pages.sign_in.service import SignIn
from weir.components.pages.users import ids as users_ids
from weir.components.pages.users.render import UserRow, secret_box, tokens_table, users_table
from weir.components.ui import ids
from weir.components.ui.dialog import Ask, Dialog, Done, Said, Stays, outputs, toast
from weir.components.web.security import Role, SecurityEvent, current_user, record, require
from weir.components.web.security.tokens import new_token
from weir.controllers.model.errors import InvalidInput, WeirError

AWAY = "Redis cannot be reached, so nothing was changed. Try again when it is back."
_FAILURES = (redis.exceptions.RedisError, OSError)
ASKER = "users"


def register(app: Dash, people: SignIn, dialog: Dialog) -> None:
    """Both tables, the forms and the dialog."""
    _register_tables(app, people)
    _register_new(app, people)
    _register_role(app, people)
    _register_dialog(app, people, dialog)


def _register_tables(app: Dash, people: SignIn) -> None:
    @app.callback(
        Output(users_ids.USERS_LIST, "children"),
        Output(users_ids.TOKENS_LIST, "children"),
        Input(users_ids.USERS_SHOWN, "data"),
    )
    @require(Role.ADMIN)
    async def tables(_shown: Any) -> Any:
        tokens = sorted(people.users.content().tokens.values(), key=lambda t: t.created_at)
        return users_table(await asyncio.to_thread(_rows, people)), tokens_table(tokens)


def _register_new(app: Dash, people: SignIn) -> None:
    @app.callback(
        Output(users_ids.USERS_ONCE, "children"),
        Output(users_ids.USERS_SHOWN, "data", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Output(users_ids.user_new("name", ALL), "value"),
        Input(users_ids.user_new("add", ALL), "n_clicks"),
        State(users_ids.user_new("name", ALL), "value"),
        State(users_ids.user_new("role", ALL), "value"),
        State(users_ids.user_new("add", ALL), "id"),
        State(ids.URL, "href"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def add(_clicks: Any, names: Any, roles: Any, forms: Any, href: Any) -> Any:
        kind = _clicked_button()["of"]
        if not len(names) == len(roles) == len(forms):  # no page of ours
            raise PreventUpdate
        at = [form["of"] for form in forms].index(kind)
        make = _add_user if kind == "user" else _add_token
        box, problem = await _attempt(make, people, names[at], roles[at], str(href or ""))
        if problem:
            return no_update, no_update, problem, [no_update] * len(forms)
        return (
            box,
            time.time(),
            no_update,
            ["" if i == at else no_update for i in range(len(forms))],
        )


def _register_role(app: Dash, people: SignIn) -> None:
    @app.callback(
        Output(users_ids.USERS_SHOWN, "data", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(users_ids.user_role(ALL), "value"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def role(_values: Any) -> Any:
        if not ctx.triggered_id:
            raise PreventUpdate
        name, wanted = ctx.triggered_id["name"], ctx.triggered[0]["value"]
        user = people.users.user(name)
        if user is None or user.role == wanted:
            raise PreventUpdate  # the table has just been drawn
        said, problem = await _attempt(_set_role, people, name, wanted)
        return time.time(), problem or toast(said)


def _register_dialog(app: Dash, people: SignIn, dialog: Dialog) -> None:
    @app.callback(
        outputs(), Input(users_ids.user_ask(ALL, ALL), "n_clicks"), prevent_initial_call=True
    )
    @require(Role.ADMIN)
    async def ask(_clicks: Any) -> Any:
        asked = _clicked_button()
        return dialog.open_outputs(ASKER, _question(people, asked["verb"], asked["name"]))

    async def confirm(said: Said) -> Done | Stays:
        found, problem = await _attempt(_confirm, people, said.pending, said.href)
        if problem:
            return Stays(error=problem.children)
        box, told = found
        shown: dict[str, dict[str, Any]] = {users_ids.USERS_SHOWN: {"data": time.time()}}
        if box is not no_update:
            shown[users_ids.USERS_ONCE] = {"children": box}
        return Done(said=told, shown=shown)

    dialog.on(ASKER, Role.ADMIN, confirm)


def _clicked_button() -> Any:
    """Which button; those that have just been drawn report too, but without a click."""
    if not ctx.triggered or not ctx.triggered[0]["value"]:
        raise PreventUpdate
    return ctx.triggered_id


async def _attempt(work: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """What it brought, or a toast that says why not."""
    try:
        return await asyncio.to_thread(work, *args), None
    except WeirError as error:
        return None, toast(str(error), "bad")
    except _FAILURES:
        return None, toast(AWAY, "bad")


def _rows(people: SignIn) -> list[UserRow]:
    rows = []
    for user in sorted(people.users.content().users.values(), key=lambda u: u.name):
        try:
            sessions = people.sessions.of(user.name)
        except _FAILURES:
            sessions = []
        rows.append(
            UserRow(
                name=user.name, role=user.role, password=bool(user.password),
                sessions=len(sessions), seen=max((s.seen for s in sessions), default=None),
                me=user.name == current_user().name,
            )
        )  # fmt: skip
    return rows


def _add_user(people: SignIn, name: Any, role: Any, href: str) -> Any:
    people.users.add(str(name or ""), _role(role), time.time())
    _record("user.added", str(name), str(role))
    return _link_box(people, str(name), href)


def _add_token(people: SignIn, name: Any, role: Any, _href: str) -> Any:
    text, kept = new_token(str(name or ""), _role(role), time.time(), by=current_user().name)
    people.users.add_token(kept)
    _record("token.made", kept.name, str(kept.role))
    return secret_box(f"The token for {kept.name}. It cannot be shown again:", text, "token")


def _set_role(people: SignIn, name: str, role: Any) -> str:
    people.users.set_role(name, _role(role))
    _record("user.role", name, str(role))
    return f"{name} is {role} now."


def _question(people: SignIn, verb: str, name: str) -> Ask:
    asked = {"verb": verb, "name": name}
    match verb:
        case "link":
            hours = people.settings.link_s / 3600
            return Ask(
                title=f"A link for {name}",
                body=html.P(
                    f"Whoever opens the link first is signed in as {name} and can choose a new "
                    f"password. It works once, within {hours:.0f} hours."
                ),
                confirm="Make link",
                danger=True,
                pending=asked,
            )
        case "end":
            return Ask(
                title=f"End all sessions of {name}",
                body=html.P(f"{name} is signed out everywhere at once and can sign in again."),
                confirm="End sessions",
                danger=True,
                pending=asked,
            )
        case "remove":
            return Ask(
                title=f"Remove {name}",
                body=html.P(
                    f"{name} is signed out everywhere at once and cannot sign in any more. What "
                    f"{name} did stays in the audit trail."
                ),
                confirm="Remove user",
                danger=True,
                pending=asked,
            )
        case "revoke":
            return Ask(
                title="Revoke a token",
                body=html.P(f"Programs that use token {name} are refused from now on."),
                confirm="Revoke token",
                danger=True,
                pending=asked,
            )
    raise InvalidInput("there is no such button")


def _confirm(people: SignIn, pending: Any, href: str) -> tuple[Any, str]:
    asked = pending if isinstance(pending, dict) else {}
    verb, name = str(asked.get("verb")), str(asked.get("name"))
    me = current_user()
    match verb:
        case "link":
            return _link_box(people, name, href), f"A link for {name} is made."
        case "end":
            people.end_all(name, me.name, me.address)
            return no_update, f"{name} is signed out everywhere."
        case "remove":
            people.users.remove(name)
            people.forget(name)
            _record("user.removed", name)
            return "", f"{name} is removed."
        case "revoke":
            revoked = people.users.revoke_token(name)
            _record("token.revoked", revoked.name)
            return "", f"The token for {revoked.name} is revoked."
    raise InvalidInput("Open the dialog again; nothing was changed.")


def _link_box(people: SignIn, name: str, href: str) -> Any:
    me = current_user()
    if people.users.user(name) is None:
        raise InvalidInput(f"there is no user {name} any more")
    path = people.link(name, me.name, me.address)
    address = "/".join(href.split("/")[:3])
    words = f"Send this link to {name}. It signs in once, and cannot be shown again:"
    return secret_box(words, address + path, "link")


def _role(role: Any) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise InvalidInput(f"a role is one of {', '.join(Role)}", field="role") from None


def _record(action: str, subject: str, detail: str = "") -> None:
    me = current_user()
    record(
        SecurityEvent(
            at=time.time(), by=me.name, action=action, subject=subject,
            address=me.address, detail=detail,
        )
    )  # fmt: skip
