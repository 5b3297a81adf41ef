"""The list of runs as data: search, filter, sort and pages."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.components.ui import text
from weir.metrics.runs.library import RunInfo, recording
from weir.metrics.runs.writer import LIVE

PER_PAGE = 25
KINDS = (("all", "All"), ("live", "Recorded"), ("eventlog", "Imported"))

_SORTS: dict[str, Callable[[RunInfo], Any]] = {
    "name": lambda r: r.name.lower(),
    "start": lambda r: r.first_at,
    "duration": lambda r: r.duration_s,
    "samples": lambda r: r.samples,
    "size": lambda r: r.size_bytes,
}


class Query(Struct, frozen=True, kw_only=True):
    """What a person asks of the list."""

    words: str = ""
    kind: str = "all"
    sort: str = "start"
    down: bool = True
    page: int = 0


class RunRow(Struct, frozen=True, kw_only=True):
    """One run as it is shown."""

    id: str
    name: str
    kind: str
    state: str  # complete, recording, cut
    state_words: str
    start: float
    duration: str
    clusters: str
    operators: str
    samples: str
    size: str
    note: str


class Listing(Struct, frozen=True, kw_only=True):
    """One page of the list."""

    rows: tuple[RunRow, ...]
    found: int
    all: int
    pages: int
    query: Query


def listing(runs: Sequence[RunInfo], query: Query, now: float) -> Listing:
    """The runs that fit, in order, one page of them."""
    words = query.words.lower().split()
    fitting = [
        r for r in runs if query.kind in ("all", r.kind) and all(w in _haystack(r) for w in words)
    ]
    fitting.sort(key=_SORTS.get(query.sort, _SORTS["start"]), reverse=query.down)
    pages = max(1, -(-len(fitting) // PER_PAGE))
    page = min(max(query.page, 0), pages - 1)
    shown = fitting[page * PER_PAGE : (page + 1) * PER_PAGE]
    return Listing(
        rows=tuple(row(r, now) for r in shown),
        found=len(fitting),
        all=len(runs),
        pages=pages,
        query=replace(query, page=page),
    )


def row(run: RunInfo, now: float) -> RunRow:
    """A run in words."""
    state, words = "ok", "complete"
    if recording(run, now):
        state, words = "run", "recording now"
    elif not run.complete:
        state, words = "warn", "cut off"
    return RunRow(
        id=run.id,
        name=run.name,
        kind="recorded" if run.kind == LIVE else "imported",
        state=state,
        state_words=words,
        start=run.first_at,
        duration=text.seconds(run.duration_s),
        clusters=_names(run.clusters),
        operators=_names(run.operators),
        samples=f"{run.samples:,}",
        size=text.size(run.size_bytes),
        note=run.note,
    )


def change_query(query: Query, **changes: Any) -> Query:
    """Another query; whatever changes but the page begins at the first page.

    >>> change_query(Query(page=3), words="x").page, change_query(Query(), page=2).page
    (0, 2)
    """
    return replace(query, **({"page": 0} | changes))


def sort_by(query: Query, key: str) -> Query:
    """Sort by a column; the same one again the other way round."""
    down = not query.down if key == query.sort else key != "name"
    return change_query(query, sort=key, down=down)


def query_of(data: Any) -> Query:
    """What a browser sends back; whatever is wrong counts as the first view."""
    try:
        return msgspec.convert(data or {}, Query)
    except msgspec.ValidationError:
        return Query()


def pair_of(search: str | None) -> tuple[str, str]:
    """The two runs that an address compares.

    >>> pair_of("?a=live-1&b=log-x")
    ('live-1', 'log-x')
    """
    given = parse_qs((search or "").lstrip("?"))
    return given.get("a", [""])[0], given.get("b", [""])[0]


def compare_path(a: str, b: str) -> str:
    """The address that compares two runs."""
    return f"/history/compare?a={quote(a, safe='')}&b={quote(b, safe='')}"


def what_if_path(run: str) -> str:
    """The address of a run's what-if page."""
    return f"/history/{quote(run, safe='')}/what-if"


def tune_path(run: str) -> str:
    """The address of a run's tuning page."""
    return f"/history/{quote(run, safe='')}/tune"


def _haystack(run: RunInfo) -> str:
    day = datetime.fromtimestamp(run.first_at, UTC).strftime("%Y-%m-%d %H:%M")
    return " ".join((run.id, run.name, *run.clusters, *run.operators, day)).lower()


def _names(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or text.NOTHING
