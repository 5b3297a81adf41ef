"""Where a page is drawn: in the present, or at a moment of a recorded run.

A replay draws the same pages: `draw_on` says so for everything that is drawn inside it. Links
then stay in the replay, and what acts is switched off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from dash import dcc
from dash.development.base_component import Component
from msgspec import Struct

from weir.components.ui.path import replay_path

NOT_NOW = "This is a replay: nothing can be changed here."


class Surface(Struct, frozen=True):
    """The run and its moment; without a run it is the present."""

    run: str = ""
    at: float = 0.0

    @property
    def read_only(self) -> bool:
        """Whether nothing on it may act."""
        return bool(self.run)

    def address(self, path: str) -> str:
        """Where a page is found from here.

        >>> Surface().address("/balance"), Surface("r", 2.0).address("/balance")
        ('/balance', '/replay/r/balance?at=2000')
        """
        return replay_path(self.run, path, self.at) if self.run else path


PRESENT = Surface()
_surface: ContextVar[Surface] = ContextVar("surface", default=PRESENT)


@contextmanager
def draw_on(surface: Surface) -> Iterator[None]:
    """All that is drawn inside is drawn there."""
    token = _surface.set(surface)
    try:
        yield
    finally:
        _surface.reset(token)


def address(path: str) -> str:
    """Where a page is found from the one that is drawn."""
    return _surface.get().address(path)


def on_the_present() -> bool:
    """Whether what is drawn shows the present, and not a moment of a run."""
    return not _surface.get().run


def page_link(children: Any, path: str, **more: Any) -> Component:
    """A link to another page."""
    return dcc.Link(children, href=address(path), **more)


def control(name: Any, **more: Any) -> dict[str, Any]:
    """What makes a control one that acts: its name. Where nothing may act it is off.

    Without a name no callback knows it: some would look at the present and switch it on.

    >>> control("number", min=1)
    {'id': 'number', 'min': 1}
    >>> with draw_on(Surface("r", 2.0)):
    ...     control("number", min=1)
    {'min': 1, 'disabled': True}
    """
    if _surface.get().read_only:
        return {**more, "disabled": True}
    return more if name is None else {"id": name, **more}


def press(name: Any, **more: Any) -> dict[str, Any]:
    """The same of a button, which also says why it is off."""
    found = control(name, **more)
    return {**found, "title": NOT_NOW} if _surface.get().read_only else found
