"""A figure on a page that follows the feed."""

from typing import Literal

from msgspec import Struct

State = Literal["", "ok", "warn", "bad", "off"]


class Figure(Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """A text, what to think of it, and how full its bar is (0..1)."""

    text: str
    state: str = ""
    fill: float | None = None


Figures = dict[str, Figure]
