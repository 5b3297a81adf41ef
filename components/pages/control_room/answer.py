"""What the first screen answers: is all well, what holds the rows up, what is to be done.

Figures are rounded before they are compared, so that the panel is sent again only when
it would read differently.
"""

from collections.abc import Iterator

from msgspec import Struct

from weir.components.live import recommendation_words as words
from weir.components.live.deaths import death_words
from weir.components.live.health import health
from weir.components.live.world import World, once, stale
from weir.components.pages.control_room.inbox import UNDER_WAY, open_proposals, waits
from weir.components.ui import text
from weir.components.ui.figure import State
from weir.components.ui.path import cluster_path, operator_path, recommendation_path
from weir.controllers.model.bottleneck import Bottleneck, Cause, bottleneck
from weir.controllers.model.sample import OperatorStatus

TROUBLES_SHOWN, NEXT_SHOWN = 4, 3
_DOWN = ("silent", "down", "amiss")
_TROUBLE = {OperatorStatus.FAILED: "has failed", OperatorStatus.RESTARTING: "is being restarted"}


class Trouble(Struct, frozen=True, kw_only=True):
    """One thing that is not well, and the page that tells more."""

    text: str
    path: str = ""
    state: State = "bad"
    cluster: str = ""


class Next(Struct, frozen=True, kw_only=True):
    """Something that waits for a decision."""

    title: str
    path: str
    expires_at: float


class Answer(Struct, frozen=True, kw_only=True):
    """The three answers."""

    said: str
    state: State
    troubles: tuple[Trouble, ...] = ()
    bottleneck: str = ""
    bottleneck_path: str = ""
    next: tuple[Next, ...] = ()
    under_way: int = 0
    more: int = 0  # proposals beyond those named
    why_none: str = ""  # why nothing is proposed, though something is not well
    paused: bool = False


@once
def answer(world: World) -> Answer:
    """The answers for this moment."""
    found = list(_troubles(world))
    open_ = open_proposals(world)
    slowest = bottleneck(world.snapshot)
    worst: State = "bad" if any(t.state == "bad" for t in found) else "warn" if found else "ok"
    return Answer(
        said=_answer_words(world, found),
        state=worst,
        troubles=tuple(found[:TROUBLES_SHOWN]),
        bottleneck=bottleneck_text(slowest) if slowest else "",
        bottleneck_path=operator_path(slowest.operator) if slowest else "",
        next=tuple(
            Next(title=words.title_of(r), path=recommendation_path(r.id), expires_at=r.expires_at)
            for r in open_[:NEXT_SHOWN]
        ),
        under_way=sum(r.status in UNDER_WAY for r in world.control.recommendations),
        more=max(0, len(open_) - NEXT_SHOWN),
        why_none="" if open_ else _why_none(world, found),
        paused=world.control.paused is not None,
    )


def _why_none(world: World, troubles: list[Trouble]) -> str:
    """Why nothing is proposed for the first cluster that is not well."""
    said = {wait.where: wait.text for wait in waits(world)}
    known = (f"{t.cluster}: {said[t.cluster].rstrip('.')}." for t in troubles if t.cluster in said)
    return next(known, "")


def bottleneck_text(found: Bottleneck) -> str:
    """Why the slowest operator is slow, in a sentence.

    >>> bottleneck_text(Bottleneck(
    ...     operator="top_n", cluster="narrow", cause=Cause.TRIGGER, latency_s=8.1, part_s=5.2,
    ...     load=0.4, busiest="topic_count",
    ... ))
    'Slowest is top_n at 8.1 s: its rows wait 5.2 s for their batch to begin. Busiest is topic_count.'
    >>> bottleneck_text(Bottleneck(
    ...     operator="top_n", cluster="narrow", cause=Cause.CORES, latency_s=8.1, part_s=5.2,
    ...     load=1.07, busiest="top_n",
    ... ))
    'Slowest and busiest is top_n at 8.1 s: narrow gets 107 % of the work that its cores can do.'
    """
    part = text.seconds(found.part_s)
    why = {
        Cause.CORES: f"{found.cluster} gets {text.share(found.load)} of the work that its cores can do",
        Cause.TRIGGER: f"its rows wait {part} for their batch to begin",
        Cause.UPSTREAM: f"its rows come {part} late from the operators before it",
        Cause.UNEVEN: f"its batches take {part}, and one task takes most of that",
        Cause.PROCESSING: f"its batches take {part}",
    }[found.cause]
    both = " and busiest" if found.busiest == found.operator else ""
    said = f"Slowest{both} is {found.operator} at {text.seconds(found.latency_s)}: {why}."
    return f"{said} Busiest is {found.busiest}." if found.busiest and not both else said


def _answer_words(world: World, troubles: list[Trouble]) -> str:
    if troubles:
        count = len(troubles)
        return f"{text.plural(count, 'thing')} {'needs' if count == 1 else 'need'} attention."
    clusters, operators = world.snapshot.clusters, world.snapshot.operators
    slowest = bottleneck(world.snapshot)
    said = (
        f"All is well: {text.plural(len(operators), 'operator')} on "
        f"{text.plural(len(clusters), 'cluster')} {'keeps' if len(operators) == 1 else 'keep'} up"
    )
    if slowest is None:
        return f"{said}; no batch has been measured yet."
    return (
        f"{said}; the slowest takes {text.seconds(slowest.latency_s)}, "
        f"within its target of {text.target(world.target_latency_s)}."
    )


def _troubles(world: World) -> Iterator[Trouble]:
    """What is not well, the worst first."""
    if world.run is None:
        for part in health(world):
            # Clusters and their hosts speak for themselves below.
            if part.state in _DOWN and part.kind not in ("host", "agent"):
                yield Trouble(text=f"{part.title} is {part.state}.")
    snapshot = world.snapshot
    for death in world.deaths:
        said = death_words(world, death.cluster).removeprefix("It ")
        yield Trouble(text=f"{death.cluster} {said}", path=cluster_path(death.cluster))
    for cluster in snapshot.clusters:
        if stale(world, cluster.name) and cluster.name not in snapshot.dead:
            age = text.seconds(round(cluster.heartbeat_age_s / 5) * 5.0)
            yield Trouble(
                text=f"{cluster.name} has not reported for {age}.", path=cluster_path(cluster.name)
            )
    for operator in snapshot.operators:
        if operator.status in _TROUBLE and not stale(world, operator.cluster):
            yield Trouble(
                text=f"{operator.name} {_TROUBLE[operator.status]}.",
                path=operator_path(operator.name),
            )
    for cluster in snapshot.clusters:
        load = snapshot.load(cluster.name)
        if load > 1.0 and not stale(world, cluster.name):
            yield Trouble(
                text=f"{cluster.name} gets {text.share(load)} of the work that its cores can do.",
                path=cluster_path(cluster.name),
                cluster=cluster.name,
            )
    late = [
        (o.latency_s, o.name, o.cluster)
        for o in snapshot.operators
        if (o.latency_s or 0.0) > world.target_latency_s and not stale(world, o.cluster)
    ]
    for latency_s, name, where in sorted(late, key=lambda one: -(one[0] or 0.0)):
        target = text.target(world.target_latency_s)
        yield Trouble(
            text=f"{name} takes {text.seconds(latency_s)}, over its target of {target}.",
            path=operator_path(name),
            state="warn",
            cluster=where,
        )
