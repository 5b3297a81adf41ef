"""A whole run at a glance: one series over its length, and marks where something happened."""

from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from weir.controllers.engine.ports import Rebalance
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.command import Command, CommandResult, describe
from weir.controllers.model.decision import Reslice, Scale
from weir.controllers.model.words import number_of
from weir.controllers.placement.words import reslice_words
from weir.metrics.runs.actions import SETTINGS, RecordedAction
from weir.metrics.runs.columns import Columns
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.settings import change_words

BUCKETS = 400
MARKS_MOST = 600

BESIDE = ("audit", SETTINGS)
"""Kinds of actions that act on nothing themselves."""

Kind = Literal["action", "recommendation", "executors", "restart", "settings"]


class Mark(Struct, frozen=True, kw_only=True):
    """Something that happened."""

    at: float
    kind: Kind
    text: str
    cluster: str = ""


class RunTimeline(Struct, frozen=True, kw_only=True):
    """What the scrubbing bar shows."""

    first_at: float
    last_at: float
    period_s: float
    label: str  # of the series
    unit: str
    at: tuple[float, ...]
    values: tuple[float | None, ...]  # the highest of each bucket
    marks: tuple[Mark, ...]


def timeline(run: RecordedRun) -> RunTimeline:
    """The latency of the slowest operator over the run; without latencies, the busy cores."""
    label, unit = "Latency of the slowest operator", "s"
    at, values = run.operators.at, latency(run.operators)
    if not np.isfinite(values).any():
        label, unit = "Busy cores", "cores"
        at, values = run.clusters.at, run.clusters.values("busy_cores")
    first, last = run.info.first_at, run.info.last_at
    x, y = highest_by_bucket(at, values, first, last)
    return RunTimeline(
        first_at=first,
        last_at=last,
        period_s=run.info.period_s,
        label=label,
        unit=unit,
        at=x,
        values=y,
        marks=tuple(marks(run)),
    )


def latency(operators: Columns) -> NDArray[np.float64]:
    """Median latency of each row: by event times where there are any, else by batches."""
    batch = operators.values("processing_s") + np.nan_to_num(operators.values("scheduling_s"))
    events = operators.values("latency_p50_s")
    return np.where(np.isnan(events), batch, events)


def highest_by_bucket(
    at: NDArray[np.float64], values: NDArray[np.float64], first: float, last: float
) -> tuple[tuple[float, ...], tuple[float | None, ...]]:
    """The largest value in each of `BUCKETS` spans of equal length; a peak never vanishes.

    >>> x, y = highest_by_bucket(np.array([0.0, 1.0, 2.0]), np.array([1.0, 5.0, 2.0]), 0.0, 2.0)
    >>> max(v for v in y if v is not None), len(x) == len(y) == BUCKETS
    (5.0, True)
    """
    span = max(last - first, 1e-9)
    top = np.full(BUCKETS, -np.inf)
    known = np.isfinite(values)
    index = ((at[known] - first) / span * BUCKETS).astype(int)
    np.maximum.at(top, np.clip(index, 0, BUCKETS - 1), values[known])
    centres = first + (np.arange(BUCKETS) + 0.5) * span / BUCKETS
    return tuple(centres.tolist()), tuple(float(v) if np.isfinite(v) else None for v in top)


def marks(run: RecordedRun) -> list[Mark]:
    """Everything worth a mark, oldest first; what people and the engine did is never left out."""
    done = [*_of_actions(run), *_of_settings(run)]
    seen = [*_of_executors(run), *_of_restarts(run)]
    room = max(MARKS_MOST - len(done), 50)
    step = max(1, -(-len(seen) // room))
    return sorted([*done, *seen[::step]], key=lambda m: m.at)


def _of_actions(run: RecordedRun) -> list[Mark]:
    found: list[Mark] = []
    known: set[tuple[str, str]] = set()
    for action in run.actions:
        if action.kind in BESIDE or (action.kind, action.id) in known:
            continue
        known.add((action.kind, action.id))
        mark = _of_action(action)
        # What was open when the run began is older than it.
        found.append(replace(mark, at=max(mark.at, run.info.first_at)))
    return found


def _of_action(action: RecordedAction) -> Mark:
    if action.kind == "command":
        command, _ = msgspec.json.decode(action.data, type=tuple[Command, CommandResult])
        words = f"{command.cluster}: {describe(command.action)}"
        return Mark(at=command.issued_at, kind="action", text=words, cluster=command.cluster)
    if action.kind == "rebalance":
        rebalance = msgspec.json.decode(action.data, type=Rebalance)
        moves = ", ".join(f"{m.move.operator} to {m.move.target}" for m in rebalance.moves)
        return Mark(at=rebalance.at, kind="action", text=f"move {moves}")
    item = msgspec.json.decode(action.data, type=Recommendation)
    decision = item.decision
    if isinstance(decision, Scale):
        words = (
            f"{decision.cluster}: {decision.before} → {number_of(decision.executors, 'executor')}"
        )
    elif isinstance(decision, Reslice):
        words = reslice_words(decision)
    else:
        words = ", ".join(f"{m.operator} to {m.target}" for m in decision.moves)
    return Mark(at=item.at, kind="recommendation", text=f"{item.source}: {words}")


def _of_settings(run: RecordedRun) -> list[Mark]:
    changes = (c for c in run.settings.changes if not c.first)
    return [Mark(at=c.at, kind="settings", text=change_words(c)) for c in changes]


def _of_executors(run: RecordedRun) -> list[Mark]:
    found = []
    for name, (start, stop) in run.clusters.spans.items():
        count = run.clusters.values("executors", start, stop).astype(int)
        for i in np.flatnonzero(np.diff(count)) + 1:
            text = f"{name}: {count[i - 1]} → {number_of(int(count[i]), 'executor')}"
            at = float(run.clusters.at[start + i])
            found.append(Mark(at=at, kind="executors", text=text, cluster=name))
    return found


def _of_restarts(run: RecordedRun) -> list[Mark]:
    """Where an operator went on as another run of its query, wherever that was."""
    rows = run.operators
    names, said = rows.codes("name")
    runs, _ = rows.codes("run_id")
    homes, home_names = rows.codes("cluster")
    known = runs >= 0
    order = np.lexsort((rows.at[known], names[known]))
    index = np.flatnonzero(known)[order]
    found = []
    same = (np.diff(names[index]) == 0) & (np.diff(runs[index]) != 0)
    for i in np.flatnonzero(same) + 1:
        before, now = index[i - 1], index[i]
        moved = homes[before] != homes[now]
        home = home_names[homes[now]]
        words = f"{said[names[now]]} " + (f"goes on in {home}" if moved else f"restarted in {home}")
        found.append(Mark(at=float(rows.at[now]), kind="restart", text=words, cluster=home))
    return found
