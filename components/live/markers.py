"""Marks on the series: when something was done, what, and where to read more.

◆  a recommendation was carried out       ▲ ▼  executors came or went
⇄  an operator moved                      ●    something was asked for by hand
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from weir.components.live import recommendation_words as words
from weir.components.live.world import World
from weir.components.ui.path import recommendation_path
from weir.components.ui.surface import address
from weir.components.ui.text import plural
from weir.controllers.engine.apply.moves import MoveStep, Rebalance
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.command import describe
from weir.controllers.model.decision import Reslice, Scale
from weir.controllers.model.sample import ClusterSample

APPLIED, CAME, WENT, MOVED, ASKED = "◆", "▲", "▼", "⇄", "●"


class Marker(Struct, frozen=True, kw_only=True):
    """One mark: the time, a shape, what it was, and the page that tells more."""

    at: float
    shape: str
    text: str
    href: str = ""


def markers(world: World, cluster: str, operator: str = "") -> list[Marker]:
    """Everything that was done to a cluster, oldest first; of moves, only the operator's own."""
    known = world.control.known
    recommended = {r.id for r in known}
    found = [
        *_recommendation_markers(known, cluster, operator),
        *_move_markers(world.rebalances, cluster, operator, recommended),
        *_command_markers(world, cluster, operator, recommended),
        *_executors(world.series.get(cluster, ())),
    ]
    return sorted(found, key=lambda m: (m.at, m.text))


def events(world: World, clusters: Iterable[str], operator: str = "") -> dict[str, list[Any]]:
    """The marks of several clusters, as the browser draws them."""
    return {
        cluster: [
            {
                "at": round(m.at * 1000),
                "shape": m.shape,
                "text": m.text,
                "href": m.href and address(m.href),
            }
            for m in markers(world, cluster, operator)
        ]
        for cluster in clusters
    }


def _recommendation_markers(
    found: Sequence[Recommendation], cluster: str, operator: str
) -> Iterable[Marker]:
    for r in found:
        if cluster not in r.clusters or not _concerns(r, operator):
            continue
        begun = next((e for e in r.history if e.status is Status.APPLYING), None)
        at = r.applied_at or (begun.at if begun else None)
        if at is not None:
            outcome = "" if r.status is Status.APPLYING else f" ({r.status.value})"
            yield Marker(
                at=at,
                shape=APPLIED if isinstance(r.decision, Scale) else MOVED,
                text=f"{words.title_of(r)}{outcome}",
                href=recommendation_path(r.id),
            )


def _concerns(found: Recommendation, operator: str) -> bool:
    """A scaling concerns all operators of its cluster, a move or re-slice only its own."""
    if not operator or isinstance(found.decision, Scale):
        return True
    if isinstance(found.decision, Reslice):
        decision = found.decision
        return operator in (decision.operator, *decision.was, *decision.owners)
    return any(m.operator == operator for m in found.decision.moves)


def _move_markers(
    rebalances: Sequence[Rebalance], cluster: str, operator: str, recommended: set[str]
) -> Iterable[Marker]:
    """Moves that no recommendation stands for."""
    for rebalance in rebalances:
        if rebalance.id in recommended:
            continue
        for state in rebalance.moves:
            move = state.move
            if cluster not in (move.source, move.target):
                continue
            if (operator and move.operator != operator) or state.step in (
                MoveStep.PLANNED,
                MoveStep.FAILED,
            ):
                continue
            back = ", went back" if state.step in (MoveStep.RETURNING, MoveStep.RETURNED) else ""
            yield Marker(
                at=rebalance.at,
                shape=MOVED,
                text=f"{move.operator} moved from {move.source} to {move.target}{back}",
                href="/balance",
            )


def _command_markers(
    world: World, cluster: str, operator: str, recommended: set[str]
) -> Iterable[Marker]:
    """Commands that a person gave directly."""
    for command, result in world.commands:
        name = getattr(command.action, "operator", "")
        if command.cluster != cluster or command.id in recommended:
            continue
        if operator and name and name != operator:
            continue
        yield Marker(
            at=command.issued_at,
            shape=ASKED,
            text=f"asked to {describe(command.action)} ({result.status.value})",
        )


def _executors(samples: Sequence[ClusterSample]) -> Iterable[Marker]:
    counts = [s.cluster.executors for s in samples]
    if len(set(counts)) < 2:  # nearly always; every tab asks for every cluster all the time
        return
    for index, (before, after) in enumerate(pairwise(counts), start=1):
        if before != after:
            yield Marker(
                at=samples[index].at,
                shape=CAME if after > before else WENT,
                text=f"{plural(abs(after - before), 'executor')} "
                f"{'came' if after > before else 'went'}: {before} → {after}",
            )
