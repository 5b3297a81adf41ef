"""The figures around a recommendation: as they are, and as they should become."""

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from weir.controllers.balancing.plan import Plan
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.recommendation import Figures
from weir.controllers.model.decision import Change, Rescue, Reslice, Scale
from weir.controllers.model.sample import ClusterSample, OperatorSample
from weir.controllers.model.snapshot import Snapshot

OUTLOOK_AGE_S = 30.0


def clusters_of(decision: Change) -> tuple[str, ...]:
    """The clusters that a decision touches, each once, in order.

    >>> from weir.controllers.model.decision import Move, Moves, Reason
    >>> move = Move(operator="x", source="b", target="a")
    >>> clusters_of(Moves(moves=(move, move), reason=Reason(text="")))
    ('b', 'a')
    """
    if isinstance(decision, Scale):
        return (decision.cluster,)
    if isinstance(decision, Reslice):
        return decision.touches
    return tuple(dict.fromkeys(c for m in decision.moves for c in (m.source, m.target)))


def figures_now(
    decision: Change,
    snapshot: Snapshot,
    outlook: Outlook | None = None,
    recent: Mapping[str, Sequence[ClusterSample]] | None = None,
) -> Figures:
    """The present figures of what a decision touches; loads are means over `recent` samples, or,
    for moves, those that the engine plans with, as those are what a plan predicts."""
    names = [n for n in clusters_of(decision) if snapshot.cluster(n) is not None]
    concerned = _operators_concerned(decision, snapshot, names)
    latencies = [v for o in concerned if (v := o.own_latency_s) is not None]
    queues = [o.queue_rows for o in concerned if o.queue_rows is not None]
    planned = {} if isinstance(decision, Scale) else _planned_loads(outlook, snapshot.at)
    load, work = {}, 0.0
    for name in names:
        found = snapshot.cluster(name)
        samples = (recent or {}).get(name) or ()
        busy = [sum(o.load for o in s.operators) for s in samples]
        cores = sum(busy) / len(busy) if busy else sum(o.load for o in snapshot.operators_of(name))
        cores = planned.get(name, cores)
        load[name] = cores / max(found.capacity if found else 0, 1)
        work += cores
    return Figures(
        load=load,
        executors={n: c.executors for n in names if (c := snapshot.cluster(n)) is not None},
        latency_s=max(latencies, default=None),
        queue_rows=float(sum(queues)) if queues else None,
        load_distance=distance_now(outlook, snapshot.at),
        work_cores=work,
    )


def since_recent(snapshot: Snapshot) -> float:
    """Since when samples count as recent: one alone says little, old ones mislead."""
    return snapshot.at - max(3 * snapshot.period_s, 6.0)


def figures_promised(decision: Change, before: Figures, plan: Plan | None) -> Figures:
    """What the decision should bring."""
    said = decision.prediction
    return Figures(
        load={n: v for n, v in said.load.items() if n in clusters_of(decision)},
        executors=said.executors or before.executors,
        latency_s=said.latency_s,
        queue_rows=said.queue_rows,
        load_distance=plan.after.load_distance if plan else None,
        outage_s=said.pause_s if isinstance(decision, Rescue) else None,
        work_cores=before.work_cores,
    )


def objective_of(before: Figures, promised: Figures, decision: Change) -> str:
    """The figure by which it will be judged: the most telling one that the method promises."""
    if isinstance(decision, Rescue):
        return "outage_s"
    if before.load_distance is not None and promised.load_distance is not None:
        if before.load_distance - promised.load_distance >= 0.5:
            return "load_distance"
    elif before.latency_s is not None and promised.latency_s is not None:
        return "latency_s"
    return "load"


def figure_of(figures: Figures, objective: str, clusters: Collection[str]) -> float | None:
    """The figure named; of several clusters' loads the highest."""
    if objective == "load":
        return max((figures.load[c] for c in clusters if c in figures.load), default=None)
    found = getattr(figures, objective)
    return None if found is None else float(found)


def calibrate(before: Figures, promised: Figures, factor: float) -> Figures:
    """The promise, cut to the share of it that came true in the past.

    >>> calibrate(Figures(load={"a": 1.0}), Figures(load={"a": 0.5}), 0.8).load
    {'a': 0.6}
    """

    def cut(was: float | None, will: float | None) -> float | None:
        return will if was is None or will is None else was + factor * (will - was)

    if factor == 1.0:
        return promised
    return replace(
        promised,
        load={n: cut(before.load.get(n), v) or 0.0 for n, v in promised.load.items()},
        latency_s=cut(before.latency_s, promised.latency_s),
        queue_rows=cut(before.queue_rows, promised.queue_rows),
        load_distance=cut(before.load_distance, promised.load_distance),
    )


def distance_now(outlook: Outlook | None, now: float) -> float | None:
    """The load distance that the engine saw last, unless that is long ago."""
    if outlook is None or not outlook.distance or now - outlook.distance[-1][0] > OUTLOOK_AGE_S:
        return None
    return outlook.distance[-1][1]


def _planned_loads(outlook: Outlook | None, now: float) -> dict[str, float]:
    """Cores of load by cluster as the engine saw them last, unless that is long ago."""
    if outlook is None or now - outlook.at > OUTLOOK_AGE_S or outlook.problem.unknown:
        return {}
    cores = {bin_.name: 0.0 for bin_ in outlook.problem.bins}
    for item in outlook.problem.items:
        cores[item.bin] += item.load
    return cores


def _operators_concerned(
    decision: Change, snapshot: Snapshot, names: Collection[str]
) -> list[OperatorSample]:
    if isinstance(decision, Scale):
        return [o for n in names for o in snapshot.operators_of(n)]
    if isinstance(decision, Reslice):
        return [o for o in snapshot.operators if o.slice_of == decision.operator]
    moved = {m.operator for m in decision.moves}
    return [o for o in snapshot.operators if o.name in moved]
