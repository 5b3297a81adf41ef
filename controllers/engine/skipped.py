"""What the store holds but cannot be used: by kind, how much and since when."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.age import Time


class Skipped(Struct, frozen=True, kw_only=True):
    """Values of a kind in the store that cannot be read, or that cannot be true."""

    kind: str  # e.g. "report"
    count: int
    since: Time  # the first of them was met
    example: str = ""  # name of one; never what it holds
    why: str = ""  # of that one


def merge_skips(found: Iterable[Sequence[Skipped]]) -> list[Skipped]:
    """By kind, the most that one process met and since when the first did.

    >>> a = Skipped(kind="report", count=2, since=5.0, example="wide")
    >>> [(s.count, s.since) for s in merge_skips([[a], [replace(a, count=1, since=3.0)]])]
    [(2, 3.0)]
    """
    kinds: dict[str, Skipped] = {}
    for skip in (s for some in found for s in some):
        known = kinds.get(skip.kind, skip)
        most = skip if skip.count > known.count else known
        kinds[skip.kind] = replace(most, since=min(skip.since, known.since))
    return [kinds[kind] for kind in sorted(kinds)]


def skip_words(skip: Skipped) -> str:
    """One kind, for people.

    >>> skip_words(Skipped(kind="report", count=2, since=1.0, example="wide", why="no number"))
    'report: 2 skipped, e.g. wide (no number)'
    """
    return f"{skip.kind}: {skip.count} skipped, e.g. {skip.example} ({skip.why})"
