"""What is wrong with a report whose structure is right."""

import re
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from msgspec.structs import fields

from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Executor, OperatorSample
from weir.controllers.model.slicing import MOST_GROUPS, sliced_operator

MOST = 1e15
"""No rate, count, size or time is larger."""
LATEST = 1e11
"""No date is later."""
LONGEST_NAME = 200
LONGEST_TEXT = 10_000

_NUMBERS = (int, float, int | None, float | None)
_TEXTS = (str, str | None)
_LISTS = (tuple[str, ...], tuple[str, ...] | None)
_FIGURES = (tuple[int, ...], tuple[float, ...])
_NAMES = frozenset({"name", "cluster", "operator", "id"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def name_flaw(name: str) -> str:
    """Why that cannot be a name; empty if it can.

    >>> name_flaw("wide"), name_flaw("a\\x1b[2J")
    ('', 'a name with control characters')
    """
    if len(name) > LONGEST_NAME:
        return f"a name of {len(name)} characters"
    return "a name with control characters" if _CONTROL.search(name) else ""


def flaw(sample: ClusterSample) -> str:
    """What cannot be true of a report; empty if all of it can.

    >>> good = ClusterSample(at=8.0, period_s=2.0, cluster=Cluster(name="a"))
    >>> flaw(good)
    ''
    >>> flaw(ClusterSample(at=8.0, period_s=2.0, cluster=Cluster(name="a", busy_cores=-1.0)))
    'busy_cores of a cluster is not between 0 and 1e+15'
    """
    if not 0.0 < sample.period_s <= LATEST:
        return "its period is no length of time"
    if not 0.0 <= sample.at <= LATEST:
        return "its time is no date"
    if not sample.cluster.name:
        return "a cluster without a name"
    return (
        _CLUSTER((sample.cluster,))
        or _OPERATOR(sample.operators)
        or _slice_flaw(sample.operators)
        or _EXECUTOR(sample.executors)
        or _BATCH(sample.batches)
    )


def _slice_flaw(operators: Iterable[OperatorSample]) -> str:
    """Slices are sorted by the number in their name."""
    for one in operators:
        if one.slice_of and sliced_operator(one.name) != one.slice_of:
            return "slice_of of an operator does not fit its name"
    return ""


def _check(kind: type[Any], title: str) -> Callable[[Iterable[Any]], str]:
    """A look at every field of a kind, prepared once: thousands of reports a minute pass it."""
    known = {f.name: f.type for f in fields(kind)}
    numbers = [n for n, t in known.items() if t in _NUMBERS]
    limits = [LATEST if n.endswith("_at") else MOST for n in numbers]
    texts = [n for n, t in known.items() if t in _TEXTS]
    lists = [n for n, t in known.items() if t in _LISTS]
    rows = [n for n, t in known.items() if t in _FIGURES]
    figures, said = attrgetter(*numbers), attrgetter(*texts)

    def check(items: Iterable[Any]) -> str:
        for item in items:
            for i, value in enumerate(figures(item)):
                # Written so that it is true of NaN.
                if value is not None and not 0 <= value <= limits[i]:
                    return f"{numbers[i]} of {title} is not between 0 and {limits[i]:g}"
            for i, text in enumerate(said(item)):
                if text and (wrong := _text_flaw(texts[i], text)):
                    return f"{texts[i]} of {title}: {wrong}"
            for name in lists:
                for text in getattr(item, name) or ():
                    if wrong := name_flaw(text):
                        return f"{name} of {title}: {wrong}"
            for name in rows:
                found = getattr(item, name)
                if len(found) > MOST_GROUPS or not all(0 <= value <= MOST for value in found):
                    return f"{name} of {title} are not {MOST_GROUPS} figures of 0 or more"
        return ""

    return check


def _text_flaw(name: str, text: str) -> str:
    if name in _NAMES:
        return name_flaw(text)
    return f"{len(text):,} characters" if len(text) > LONGEST_TEXT else ""


_CLUSTER = _check(Cluster, "a cluster")
_OPERATOR = _check(OperatorSample, "an operator")
_EXECUTOR = _check(Executor, "an executor")
_BATCH = _check(Batch, "a batch")
