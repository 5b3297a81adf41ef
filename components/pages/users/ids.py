"""Ids of the users page."""

USERS_LIST = "users-list"
USERS_SHOWN = "users-shown"  # a new value has the tables read again
USERS_ONCE = "users-once"  # a link or token, shown once
TOKENS_LIST = "tokens-list"


def user_ask(verb: str, name: str) -> dict[str, str]:
    """A button on a user or token that opens the dialog."""
    return {"type": "user-ask", "verb": verb, "name": name}


def user_role(name: str) -> dict[str, str]:
    """The choice of a user's role."""
    return {"type": "user-role", "name": name}


def user_new(part: str, of: str) -> dict[str, str]:
    """A control of the form for a new user or token."""
    return {"type": f"user-new-{part}", "of": of}
