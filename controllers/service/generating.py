"""What people ask of a load generator: rate, profile, skew of the keys, a pause."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Store, Workload
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.profile import MOST_POINTS, Profile, profile_words
from weir.controllers.model.settings import build
from weir.controllers.model.trace import read_trace
from weir.controllers.model.words import quantity
from weir.controllers.service.request import Request, require_comment

RETRIES = 20
TRACE = "trace"
SHAPE = ("points", "point_s")  # made from the trace, not given


def set_rate(
    store: Store,
    request: Request,
    workload: str,
    rows_per_s: float | None = None,
    paused: bool | None = None,
    skew: float | None = None,
    profile: Mapping[str, Any] | None = None,
) -> Workload:
    """Ask a load generator for another rate, profile or skew, or to pause. What is None stays.

    A rate or profile set by hand holds: the profile that was under way ends, and a generator that
    paused goes on. `profile` has the fields of a `Profile`; with `trace`, the text of a CSV file.
    """
    if rows_per_s is not None and not 0 <= rows_per_s <= 1e9:
        raise InvalidInput("The rate is a number of rows per second, 0 or more.", field="rate")
    if skew is not None and not 0 <= skew <= 10:
        raise InvalidInput("The skew is a number from 0, all keys alike, to 10.", field="skew")
    shape = None if profile is None else _profile(profile)
    for _ in range(RETRIES):
        before = next((w for w in store.workloads() if w.name == workload), None)
        if before is None:
            raise NotFound(f"there is no load generator '{workload}'")
        after = before
        if rows_per_s is not None:
            after = replace(after, rows_per_s=rows_per_s, profile=Profile(), paused=False)
        if shape is not None:
            after = replace(after, profile=shape, paused=False)
        if skew is not None:
            after = replace(after, skew=skew)
        if paused is not None:
            after = replace(after, paused=paused)
        if after == before:
            return after
        require_comment(request, engine_settings(store))
        if store.change_workload(before, after, _entry(request, before, after)):
            return after
    raise Refused("Others change this rate all the time. Try again.")


def workload_words(workload: Workload) -> str:
    """What a load generator is asked for.

    >>> workload_words(Workload(name="w", rows_per_s=250, skew=1.2))
    '250 rows/s, skew 1.2'
    """
    if workload.paused:
        return "paused"
    shape = profile_words(workload.profile)
    skew = "" if workload.skew is None else f"skew {workload.skew:g}"
    return ", ".join(
        part for part in (f"{quantity(workload.rows_per_s)} rows/s", shape, skew) if part
    )


def _profile(given: Mapping[str, Any]) -> Profile:
    """From what a person gave; a trace is kept as its shape."""
    values = {key: value for key, value in given.items() if key != TRACE}
    for key in SHAPE:
        if key in values:
            raise InvalidInput(f"Give the trace itself, not its {key}.", field=key)
    made = build(Profile, values)
    if made.kind == "burst" and made.lasts_s >= made.over_s:
        raise InvalidInput("A burst is shorter than its cycle.", field="lasts_s")
    text = given.get(TRACE) or ""
    if made.kind != TRACE:
        if text:
            raise InvalidInput("A trace is for the profile 'trace'.", field=TRACE)
        return made
    if not text:
        raise InvalidInput(
            "The profile 'trace' needs a CSV file with times and rates.", field=TRACE
        )
    points, point_s = _shape(text if isinstance(text, bytes) else str(text).encode())
    return replace(made, points=points, point_s=point_s)


def _shape(raw: bytes) -> tuple[tuple[float, ...], float]:
    """The rates of a trace at even distances, with a mean of one; and that distance."""
    trace = read_trace(raw)
    ends = [*trace.times[1:], trace.times[-1] + trace.step_s]
    count = max(1, min(MOST_POINTS, round((ends[-1] - trace.times[0]) / trace.step_s)))
    point_s = (ends[-1] - trace.times[0]) / count
    edges = [trace.times[0] + i * point_s for i in range(count + 1)]
    means, at = [], 0
    for start, end in pairwise(edges):
        rows = 0.0
        while at < len(ends):
            rows += trace.rows_per_s[at] * max(
                0.0, min(end, ends[at]) - max(start, trace.times[at])
            )
            if ends[at] >= end:
                break
            at += 1
        means.append(rows / point_s)
    mean = sum(means) / count
    return tuple(m / mean for m in means), point_s


def _entry(request: Request, before: Workload, after: Workload) -> AuditEntry:
    was: dict[str, Any] = {"rows_per_s": before.rows_per_s, "paused": before.paused}
    if after.skew != before.skew:
        was["skew"] = before.skew
    if after.profile != before.profile:
        was["profile"] = profile_words(before.profile) or "constant"
    return request.entry("workload.changed", after.name, before=was, detail=workload_words(after))
