"""Text of others on a terminal: names, reasons and messages come from whoever reports them."""

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
