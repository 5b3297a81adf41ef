"""The rings of sliced operators as data: arcs, slices, hand-overs, and what a change would bring."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.live.world import World
from weir.components.pages.balance.preview import LoadBar
from weir.components.pages.balance.view import old
from weir.components.ui import text
from weir.components.ui.figure import Figure, Figures
from weir.controllers.engine.propose.rings import RingOutlook
from weir.controllers.engine.recommendation import hash_of
from weir.controllers.model.decision import Reslice
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.words import by_number
from weir.controllers.placement.base import ring_planners
from weir.controllers.placement.reslicing import half_of, read_groups, wanted_slicing
from weir.controllers.placement.ring import Ring
from weir.controllers.placement.words import hand_overs
from weir.controllers.service.slices import reslice_by_hand

COLOURS = 8
HEAT_STEPS = 10
HAND_OVERS = 5


class ArcView(Struct, frozen=True, kw_only=True):
    """One arc of the drawing, in shares of the ring from its top, clockwise."""

    owner: str
    label: str
    colour: int
    begin: float
    end: float


class HandOver(Struct, frozen=True, kw_only=True):
    """A re-slice that was done or is under way."""

    id: str
    at: float
    words: str
    status: str


class RingView(Struct, frozen=True, kw_only=True):
    """What the drawing of one ring shows, and what is said below it."""

    operator: str
    arcs: tuple[ArcView, ...]
    heat: tuple[int, ...]  # of each key group: 0 nothing to HEAT_STEPS the most
    measured: bool
    busiest: str
    planner: str
    words: str
    wait: str
    hand_overs: tuple[HandOver, ...]


class SliceRow(Struct, frozen=True, kw_only=True):
    """One slice in the table; its figures follow the feed."""

    name: str
    colour: int
    cluster: str
    groups: str
    neighbour: str


class PreviewedReslice(Struct, frozen=True, kw_only=True):
    """A re-slice as it was previewed; the id is given once, so a second click is the same."""

    id: str
    operator: str
    slices: int | None = None
    groups: tuple[int, ...] = ()
    to: str = ""
    hash: str | None = None


class ReslicePreview(Struct, frozen=True, kw_only=True):
    """What the dialog shows."""

    title: str
    decision: Reslice
    loads: tuple[LoadBar, ...]
    slices: tuple[tuple[str, float | None, float | None], ...]  # cores before and after
    groups: int
    warning: str
    wanted: PreviewedReslice


def rings(world: World) -> tuple[RingOutlook, ...]:
    """The ring of every operator that is sliced, as the engine saw it last."""
    return world.outlook.rings if world.outlook else ()


def ring_views(world: World) -> list[RingView]:
    """What the drawings show."""
    return [_view(world, ring) for ring in rings(world)]


def slice_rows(ring: RingOutlook) -> list[SliceRow]:
    """The slices of one ring, by number."""
    slicing = ring.problem.slicing
    around = Ring(slicing)
    return [
        SliceRow(
            name=name,
            colour=colour_of(name),
            cluster=ring.problem.slices[name].cluster if name in ring.problem.slices else "",
            groups=ranges(slicing.groups_of(name)),
            neighbour=around.neighbour(name) or "",
        )
        for name in slicing.slices
    ]


def ring_figures(world: World) -> Figures:
    """Load, queue and state of every slice."""
    found: Figures = {}
    for ring in rings(world):
        shares = Ring(ring.problem.slicing).shares()
        for name in ring.problem.slicing.owners:
            facts, base = ring.problem.slices.get(name), f"ring/{name}"
            most = max((f.load for f in ring.problem.slices.values()), default=0.0) or 1.0
            load = facts.load if facts else None
            found |= {
                f"{base}/share": Figure(text.share(shares[name])),
                f"{base}/load": Figure(
                    text.NOTHING if load is None else f"{load:.2f} cores",
                    fill=0.0 if load is None else round(load / most, 3),
                ),
                f"{base}/rows": Figure(text.rate(facts.rows_per_s if facts else None)),
                f"{base}/queue": Figure(text.rows(facts.queue_rows if facts else None)),
                f"{base}/state": Figure(text.size(facts.state_bytes if facts else None)),
            }
    return found


def ring_facts(world: World) -> list[Any]:
    """What has the page drawn again when it changes: who owns what, and where it runs."""
    return [
        (r.operator, sorted(r.problem.slicing.owners.items()), [s.cluster for s in slice_rows(r)])
        for r in rings(world)
    ]


def preview_half(world: World, name: str, new: str) -> ReslicePreview:
    """What it would bring if a slice handed half of its longest arc to its neighbour."""
    for ring in rings(world):
        around = Ring(ring.problem.slicing)
        arc, taker = around.main_arc(name), around.neighbour(name)
        if arc is not None:
            rates = ring.problem.group_loads() if ring.problem.measured else None
            groups = half_of(arc, rates)
            if taker is None or not groups:
                raise Refused(f"{name} has one key group or no neighbour, so nothing can go.")
            return _preview(
                world,
                ring,
                PreviewedReslice(id=new, operator=ring.operator, groups=groups, to=taker),
            )
    raise NotFound(f"There is no slice {name} any more.")


def preview_hand(
    world: World, operator: str, slices: Any, groups: Any, to: Any, new: str
) -> ReslicePreview:
    """What a change that a person typed would bring."""
    ring = next((r for r in rings(world) if r.operator == operator), None)
    if ring is None:
        raise NotFound(f"{operator} is not sliced any more.")
    wanted = read_groups(str(groups or ""))
    if wanted and to:
        return _preview(
            world, ring, PreviewedReslice(id=new, operator=operator, groups=wanted, to=str(to))
        )
    if wanted or to:
        raise InvalidInput("Choose both: key groups, and the slice that takes them.")
    try:
        number = int(slices)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("Choose a number of slices, or key groups and who takes them.") from None
    return _preview(world, ring, PreviewedReslice(id=new, operator=operator, slices=number))


def read_preview(data: Any) -> PreviewedReslice:
    """What a browser sends back of a preview."""
    try:
        return msgspec.convert(data, PreviewedReslice)
    except msgspec.ValidationError:
        raise InvalidInput("Open the preview again; this one cannot be read.") from None


def _preview(world: World, ring: RingOutlook, wanted: PreviewedReslice) -> ReslicePreview:
    problem = ring.problem
    after = wanted_slicing(
        problem.slicing, slices=wanted.slices, groups=wanted.groups, to=wanted.to
    )
    decision = reslice_by_hand(
        world.snapshot, problem.slicing, after, world.outlook,
        draining=world.balance.draining_clusters,
    )  # fmt: skip
    before = problem.cluster_loads(problem.slicing)
    was, then = problem.slice_loads(problem.slicing), decision.prediction.slice_load
    return ReslicePreview(
        title=ring.operator,
        decision=decision,
        loads=tuple(
            LoadBar(cluster=name, before=100 * before.get(name, 0.0), after=100 * load)
            for name, load in sorted(
                decision.prediction.load.items(), key=lambda item: by_number(item[0])
            )
        ),
        slices=tuple((n, was.get(n), then.get(n)) for n in _names(problem.slicing, after)),
        groups=problem.slicing.groups,
        warning="The engine is not at work, so this cannot be applied now." if old(world) else "",
        wanted=msgspec.structs.replace(wanted, hash=hash_of(decision)),
    )


def _names(before: Slicing, after: Slicing) -> list[str]:
    return [*before.slices, *(n for n in after.slices if n not in before.owners)]


def colour_of(name: str) -> int:
    """The colour of a slice by its number; the number itself always stands beside it."""
    return int(name.rpartition(".")[2]) % COLOURS + 1


def ranges(groups: Iterable[int]) -> str:
    """Key groups as people write them.

    >>> ranges([0, 1, 2, 7, 9, 10])
    '0–2, 7, 9–10'
    """
    parts: list[list[int]] = []
    for group in sorted(groups):
        if parts and group == parts[-1][-1] + 1:
            parts[-1].append(group)
        else:
            parts.append([group])
    return ", ".join(f"{p[0]}–{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts)


def _view(world: World, ring: RingOutlook) -> RingView:
    slicing = ring.problem.slicing
    loads = ring.problem.group_loads()
    most = max(loads.values(), default=0.0)
    top = max(loads, key=lambda g: loads[g], default=0)
    kind = ring_planners().get(ring.planner)
    return RingView(
        operator=ring.operator,
        arcs=tuple(
            ArcView(
                owner=a.owner, label=a.owner.rpartition(".")[2], colour=colour_of(a.owner),
                begin=a.token, end=a.token + a.length,
            )
            for a in Ring(slicing).arcs
        ),
        heat=tuple(
            round(HEAT_STEPS * loads.get(g, 0.0) / most) if most > 0.0 else 0
            for g in range(slicing.groups)
        ),
        measured=ring.problem.measured,
        busiest=f"{top}, of {slicing.slice_of(top)}" if most > 0.0 else "",
        planner=kind.label if kind else ring.planner,
        words=ring.decision.reason.text if ring.decision else "",
        wait=ring.wait,
        hand_overs=_hand_overs(world, ring.operator),
    )  # fmt: skip


def _hand_overs(world: World, operator: str) -> tuple[HandOver, ...]:
    found = []
    for r in world.control.recommendations:
        decision = r.decision
        if not isinstance(decision, Reslice) or decision.operator != operator:
            continue
        at = r.applied_at or next((e.at for e in r.history if e.status == "applying"), None)
        if at is not None:
            found.append(
                HandOver(id=r.id, at=at, words=over_words(hand_overs(decision)), status=r.status)
            )
    return tuple(sorted(found, key=lambda h: -h.at)[:HAND_OVERS])


def over_words(moved: Mapping[tuple[str, str], tuple[int, ...]]) -> str:
    """Who handed what to whom.

    >>> over_words({("c.0", "c.1"): (4, 5)})
    'c.0 → c.1: key groups 4–5'
    """
    return "; ".join(
        f"{giver} → {taker}: key group{'s' if len(groups) > 1 else ''} {ranges(groups)}"
        for (giver, taker), groups in moved.items()
    )
