"""Ids of the users page."""

from weir.components.ui.ids import IdPart

USERS_LIST = "users-list"
USERS_SHOWN = "users-shown"  # a new value has the tables read again
USERS_ONCE = "users-once"  # a link or token, shown once
TOKENS_LIST = "tokens-list"


def user_ask(verb: IdPart, name: IdPart) -> dict[str, IdPart]:
    """A button on a user or token that opens the dialog."""
    return {"type": "user-ask", "verb": verb, "name": name}


def user_role(name: IdPart) -> dict[str, IdPart]:
    """The choice of a user's role."""
    return {"type": "user-role", "name": name}


def user_new(part: str, of: IdPart) -> dict[str, IdPart]:
    """A control of the form for a new user or token."""
    return {"type": f"user-new-{part}", "of": of}
