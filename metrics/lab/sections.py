"""Writes a section of a file of results such as RESULTS.md, with the command that made it.

Every section stands between two markers, so running a benchmark again replaces
its own section and leaves the others alone:

    <!-- begin: balancing -->
    ## balancing
    Made by `python -m benchmarks.balancing`.
    ...
    <!-- end: balancing -->
"""

import fcntl
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from weir.metrics.files import replace_file

TITLE = "# Results\n\nEvery section is written by the command it names; none is edited by hand.\n"


def write(name: str, command: str, text: str, path: Path) -> None:
    """Put `text` into the section `name`, in place of an older one of that name.

    Two benchmarks that end together do not lose each other's section: the file
    is replaced whole, under a lock.
    """
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = path.read_text() if path.exists() else TITLE
        after = merge_section(before, name, section(name, command, text))
        replace_file(path, after.encode())
    path.with_suffix(".lock").unlink(missing_ok=True)


def section(name: str, command: str, text: str) -> str:
    """The section with its markers.

    >>> print(section("demo", "make demo", "All fine."))
    <!-- begin: demo -->
    ## demo
    <BLANKLINE>
    Made by `make demo`.
    <BLANKLINE>
    All fine.
    <!-- end: demo -->
    """
    return (
        f"<!-- begin: {name} -->\n## {name}\n\nMade by `{command}`.\n\n"
        f"{text.strip()}\n<!-- end: {name} -->"
    )


def merge_section(document: str, name: str, text: str) -> str:
    """The document with that section in it, in its old place or at the end.

    >>> one = merge_section("# Results", "a", section("a", "x", "1"))
    >>> two = merge_section(one, "a", section("a", "x", "2"))
    >>> two.count("begin: a"), "1" in two
    (1, False)
    """
    place = re.compile(
        rf"<!-- begin: {re.escape(name)} -->.*?<!-- end: {re.escape(name)} -->", re.DOTALL
    )
    if place.search(document):
        return place.sub(lambda _: text, document, count=1)
    return f"{document.rstrip()}\n\n{text}\n"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; floats are given with three significant digits.

    >>> print(table(["n", "s"], [[1, 0.12345]]))
    | n | s |
    |---|---|
    | 1 | 0.123 |
    """
    lines = [_line(header), "|" + "---|" * len(header)]
    lines += [_line(row) for row in rows]
    return "\n".join(lines)


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(_cell(c) for c in cells) + " |"


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
