"""Text of others on a terminal: names, reasons and messages come from whoever reports them."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


def plain(text: object) -> str:
    """Text as a terminal may show it: what would steer the terminal is a question mark.

    >>> plain("wide\\x1b[2J")
    'wide?[2J'
    """
    return "".join(c if c.isprintable() else "?" for c in str(text))


def cell(text: object) -> str:
    """The same in a table, where brackets would be taken for colours.

    >>> cell("a[/b]")
    'a\\\\[/b]'
    """
    from rich.markup import escape

    return escape(plain(text))


def say(text: object, to: TextIO | None = None) -> None:
    """Print it, line by line.

    >>> say("done\\nwide\\x1b[2J")
    done
    wide?[2J
    """
    print("\n".join(map(plain, str(text).splitlines())), file=to)


@contextmanager
def others_aside() -> Iterator[None]:
    """What libraries in C print goes to standard error: standard output is for the answer, which
    programs read."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what they have printed, but not yet written
        os.dup2(ours, 1)
        os.close(ours)
