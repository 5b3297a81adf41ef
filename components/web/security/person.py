"""Who is asking, known everywhere below the middleware, and what a function needs of them.

    @app.callback(...)
    @require(Role.APPROVER)
    async def confirm(...): ...

`require` checks before the function runs and leaves its role on it, so that a test can
walk over all callbacks and routes and find one that declares none.
"""

import functools
import inspect
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

from msgspec import Struct

from weir.components.web.security.events import SecurityEvent, record
from weir.controllers.model.errors import Refused
from weir.metrics.store.users import Role

F = TypeVar("F", bound=Callable[..., Any])
Via = Literal["nobody", "session", "token", "header"]


class Person(Struct, frozen=True, kw_only=True):
    """Somebody who asks: a person by session or proxy, or a program by token."""

    name: str = ""
    role: Role | None = None
    address: str = ""
    via: Via = "nobody"
    session: str = ""  # the hash of the session's id

    def may(self, needed: Role) -> bool:
        """Whether their role is enough."""
        return self.role is not None and self.role.may(needed)


NOBODY = Person()
_person: ContextVar[Person] = ContextVar("weir_person", default=NOBODY)


class NotAllowed(Refused):
    """Signed in, but not with the role that this needs."""


def current_user() -> Person:
    """Who asks for what is being done now: name, role and address."""
    return _person.get()


def acting_as(person: Person) -> None:
    """Said by the middleware, for the request or message at hand."""
    _person.set(person)


def check(needed: Role, what: str = "this") -> None:
    """Raise unless the present person may.

    >>> acting_as(Person(name="ada", role=Role.VIEWER))
    >>> check(Role.APPROVER)
    Traceback (most recent call last):
    weir.components.web.security.person.NotAllowed: This needs the role approver; you are viewer.
    >>> acting_as(NOBODY)
    """
    person = current_user()
    if person.may(needed):
        return
    _ignore_drawn()
    record(
        SecurityEvent(
            at=time.time(), by=person.name or "nobody", action="role.refused",
            subject=what, address=person.address, detail=f"needs {needed}",
        )
    )  # fmt: skip
    have = f"you are {person.role}" if person.role else "you are not signed in"
    raise NotAllowed(f"This needs the role {needed}; {have}.")


def _ignore_drawn() -> None:
    """Buttons that have just been drawn call too, without a click: that is no attempt."""
    from dash import ctx  # here, because the command line needs no pages
    from dash.exceptions import MissingCallbackContextException, PreventUpdate

    try:
        triggered = ctx.triggered
    except (MissingCallbackContextException, LookupError):
        return
    if triggered and not any(t["value"] for t in triggered):
        raise PreventUpdate


def require(needed: Role) -> Callable[[F], F]:
    """Let a function run only for this role and those above; see the module's docstring."""

    def decorate(function: F) -> F:
        what = function.__qualname__.replace(".<locals>", "")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def guarded(*args: Any, **more: Any) -> Any:
                check(needed, what)
                return await function(*args, **more)

        else:

            @functools.wraps(function)
            def guarded(*args: Any, **more: Any) -> Any:
                check(needed, what)
                return function(*args, **more)

        guarded.__weir_role__ = needed  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate


def needs(role: Role) -> dict[str, Any]:
    """Attributes of a control that is off, and says why, for people below a role.

    >>> needs(Role.APPROVER)
    {'data-needs': 'approver'}
    """
    return {"data-needs": str(role)}


def declared_role(function: Callable[..., Any]) -> Role | None:
    """What `require` left on a function, through whatever it was wrapped in."""
    role = getattr(function, "__weir_role__", None)
    return role if isinstance(role, Role) else None
