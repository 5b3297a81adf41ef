"""What every scaler would have said at a moment of a run.

A scaler remembers: its answer depends on what it saw before. So each is led over the
last ten to fifteen minutes before the moment, decision by decision, on what was
recorded, not on what would have become of its own answers, and with the settings that were
in force at each of them. Within five minutes all moments share their beginning, and what
was said at each of them is kept: going on from one to the next costs one decision, going
back none.
"""

from collections.abc import Iterator

from msgspec import Struct

from weir.controllers.engine.propose.scaling import ScaleOutlook, ask_scalers
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.runs.replay import RecordedRun

STEP_S = 10.0
BLOCK_S = 300.0
BEFORE_S = 600.0
_KEPT = 32
_CLUSTERS_MOST = 8


class Shadow(Struct, frozen=True, kw_only=True):
    """The answers at one moment, and what the scalers remember from then on."""

    step: int
    outlook: ScaleOutlook | None
    memories: dict[str, bytes]


def shadow_at(run: RecordedRun, cluster: str, at: float) -> Shadow:
    """Every scaler's answer for a cluster at the last decision before a moment."""
    step_s = max(STEP_S, run.info.period_s)
    block = int(at // BLOCK_S)
    opening, last = int(block * BLOCK_S // step_s), int(at // step_s)
    trail: list[Shadow] | None = run.worked_out.pop((cluster, block), None)
    if trail is None:
        first = max(block * BLOCK_S - BEFORE_S, run.info.first_at)
        fresh = Shadow(step=int(first // step_s) - 1, outlook=None, memories={})
        led = [fresh, *_lead(run, cluster, fresh, last, step_s)]
        trail = [s for s in led if s.step >= opening] or led[-1:]
    else:
        trail += _lead(run, cluster, trail[-1], last, step_s)
    run.worked_out[cluster, block] = trail  # the last one used is the last to go
    while len(run.worked_out) > _KEPT:
        run.worked_out.pop(next(iter(run.worked_out)))
    return trail[max(0, last - trail[0].step)]


def _lead(
    run: RecordedRun, cluster: str, shadow: Shadow, last: int, step_s: float
) -> Iterator[Shadow]:
    """One decision after the other, up to the last."""
    steps = range(shadow.step + 1, last + 1)
    moments = [step * step_s for step in steps]
    names = run.names if len(run.names) <= _CLUSTERS_MOST else [cluster]
    series = [run.sparse(name, moments) for name in names] if moments else []
    for step, at, *newest in zip(steps, moments, *series, strict=True):
        snapshot = Snapshot.of((s for s in newest if s is not None), at)
        shadow = _decide(run, cluster, shadow, step, snapshot)
        yield shadow


def _decide(
    run: RecordedRun, cluster: str, before: Shadow, step: int, snapshot: Snapshot
) -> Shadow:
    found = snapshot.cluster(cluster)
    if found is None:
        return Shadow(step=step, outlook=before.outlook, memories=before.memories)
    then = run.settings.then(snapshot.at)
    outlook, memories = ask_scalers(
        snapshot,
        found,
        then.scale(cluster),
        then.scalers(cluster),
        before.memories,
        snapshot.at,
        before=before.outlook,
    )
    return Shadow(step=step, outlook=outlook, memories=memories)
