"""The inbox: what waits for a decision, what is under way, what came of the last ones.

Nothing here changes from second to second: times count down in the browser, and present
figures follow the feed by their keys. So the inbox is sent again only when it has changed.
"""

from collections.abc import Iterable

from msgspec import Struct

from weir.components.live import recommendation_rows
from weir.components.live import recommendation_words as words
from weir.components.live.figures import cluster_figures
from weir.components.live.health import health
from weir.components.live.world import World, once
from weir.components.pages.balance.rebalances import MoveRow, move_row, progress
from weir.components.pages.balance.view import distance_now
from weir.components.pages.control_room.modes import AUTOMATIC, LABELS
from weir.components.ui.figure import Figures
from weir.controllers.engine.guard.guards import POLICY
from weir.controllers.engine.recommendation import ENGINE, GuardState, Recommendation, Status
from weir.controllers.model.sample import Mode

OUTCOMES_SHOWN, NOTHING_SHOWN = 5, 2
"""Of the last outcomes, so many places are for what came to nothing."""
PROPOSED_SHOWN, UNDER_WAY_SHOWN, WAITS_SHOWN = 8, 8, 8
"""A page must not grow with the number of clusters; of what is left over it says how much."""
TITLES_SHOWN = 40
_AWAY = ("silent", "down", "unseen")
UNDER_WAY = (Status.APPROVED, Status.APPLYING, Status.APPLIED)


class Proposed(Struct, frozen=True, kw_only=True):
    """One recommendation that waits for a decision."""

    id: str
    plan_hash: str
    kind: str
    title: str
    source: str
    at: float
    expires_at: float
    why: words.Why
    rows: tuple[recommendation_rows.FigureRow, ...]
    options: tuple[recommendation_rows.OptionRow, ...]
    guards: tuple[GuardState, ...]
    verbs: tuple[words.Verb, ...]
    hint: str = ""  # four eyes, or why nothing will happen by itself
    comment: str = ""  # of who asked for it


class Later(Struct, frozen=True, kw_only=True):
    """One more that waits for a decision, by its title only."""

    id: str
    title: str


class UnderWay(Struct, frozen=True, kw_only=True):
    """One that is approved, being carried out, or settling."""

    id: str
    title: str
    status: Status
    since: float
    by: str
    message: str = ""
    share: float | None = None  # of the way; None: not known
    moves: tuple[MoveRow, ...] = ()
    guards: tuple[GuardState, ...] = ()  # closed ones, while it waits for them
    verbs: tuple[words.Verb, ...] = ()
    plan_hash: str = ""


class EndedRow(Struct, frozen=True, kw_only=True):
    """One that has ended."""

    id: str
    title: str
    status: Status
    at: float
    by: str
    text: str = ""
    row: recommendation_rows.JudgedRow | None = None
    replaced_by: str = ""  # id of the open recommendation for the same clusters
    verbs: tuple[words.Verb, ...] = ()
    plan_hash: str = ""


class Wait(Struct, frozen=True, kw_only=True):
    """Why nothing is proposed, in one place."""

    where: str
    text: str


class Inbox(Struct, frozen=True, kw_only=True):
    """Everything that the inbox shows."""

    proposed: tuple[Proposed, ...] = ()
    under_way: tuple[UnderWay, ...] = ()
    outcomes: tuple[EndedRow, ...] = ()
    waits: tuple[Wait, ...] = ()
    later: tuple[Later, ...] = ()  # the first of those proposed that expire after the ones above
    more_proposed: int = 0  # even after these
    more_under_way: int = 0
    more_waits: int = 0
    paused: bool = False
    silent: bool = False  # no engine is at work


def inbox(world: World) -> Inbox:
    """Sorted by what wants attention first: the one that expires next is on top."""
    control = world.control
    found = control.recommendations
    open_ = open_proposals(world)
    silent = any(p.kind == "engine" and p.state in _AWAY for p in health(world))
    acting = [r for r in found if r.status in UNDER_WAY]
    later = open_[PROPOSED_SHOWN:]
    reasons = () if open_ or silent else waits(world)
    return Inbox(
        proposed=tuple(proposal_of(world, r) for r in open_[:PROPOSED_SHOWN]),
        later=tuple(Later(id=r.id, title=words.title_of(r)) for r in later[:TITLES_SHOWN]),
        more_proposed=max(0, len(later) - TITLES_SHOWN),
        under_way=tuple(under_way(world, r) for r in acting[:UNDER_WAY_SHOWN]),
        more_under_way=max(0, len(acting) - UNDER_WAY_SHOWN),
        outcomes=tuple(outcome(world, r) for r in _last_ended(found)),
        waits=reasons[:WAITS_SHOWN],
        more_waits=max(0, len(reasons) - WAITS_SHOWN),
        paused=control.paused is not None,
        silent=silent,
    )


def _last_ended(found: Iterable[Recommendation]) -> list[Recommendation]:
    """The last that ended: what was done, with the last that came to nothing."""
    ended = sorted((r for r in found if r.status.final), key=_at, reverse=True)
    done = [r for r in ended if r.status.counts]
    nothing = [r for r in ended if not r.status.counts]
    room = max(NOTHING_SHOWN, OUTCOMES_SHOWN - len(done))
    shown = [*nothing[:room], *done][:OUTCOMES_SHOWN]
    return sorted(shown, key=_at, reverse=True)


@once
def present(world: World) -> Figures:
    """What the proposals that stand in full say of their clusters now."""
    shown = open_proposals(world)[:PROPOSED_SHOWN]
    wanted = {row.now for found in shown for row in recommendation_rows.promised_rows(found)}
    clusters = {world.snapshot.cluster(name) for found in shown for name in found.clusters}
    known = distance_now(world)
    for cluster in clusters:
        known |= cluster_figures(world, cluster) if cluster else {}
    return {key: figure for key, figure in known.items() if key in wanted}


def proposal_of(world: World, found: Recommendation) -> Proposed:
    """One that waits for a decision."""
    return Proposed(
        id=found.id,
        plan_hash=found.plan_hash,
        kind=words.KINDS[found.kind],
        title=words.title_of(found),
        source=words.source(found),
        at=found.at,
        expires_at=found.expires_at,
        why=words.why(found.decision.reason),
        rows=recommendation_rows.promised_rows(found),
        options=recommendation_rows.option_rows(found),
        guards=(*words.closed_guards(found.guards), *(g for g in found.guards if g.open)),
        verbs=tuple(verbs(world, found)),
        hint=hint(world, found),
        comment=found.comment,
    )


def verbs(world: World, found: Recommendation) -> list[words.Verb]:
    """What a person can do with it now, in the mode of its clusters."""
    advice = found.by == ENGINE and world.control.advice_only(found.clusters)
    return [
        verb
        for verb in words.verbs(found, world.control.recommendations)
        if not (verb == "approve" and advice)
    ]


def hint(world: World, found: Recommendation) -> str:
    """What a person should know before deciding."""
    control = world.control
    if found.by != ENGINE and control.settings.four_eyes:
        return f"Four eyes: {found.by} asked for it, so somebody else has to approve it."
    if found.by == ENGINE and control.advice_only(found.clusters):
        mode = LABELS[control.mode(*found.clusters)].lower()
        return f"In mode {mode} this is advice only: do it by hand, or set the mode to approve."
    if control.mode(*found.clusters) in AUTOMATIC and control.paused is None:
        shut = next((g for g in words.closed_guards(found.guards) if g.name in POLICY), None)
        return f"The engine does not do it by itself: {shut.reason}." if shut else ""
    return ""


def under_way(world: World, found: Recommendation) -> UnderWay:
    """One that nobody has to decide any more, with how far it has come."""
    last = words.last_entry(found)
    message = ""
    share: float | None = None
    moves: tuple[MoveRow, ...] = ()
    rebalance = next((r for r in world.rebalances if r.id == found.id), None)
    command = next((r for c, r in world.commands if c.id == found.id), None)
    if rebalance is not None:
        moves = tuple(move_row(m) for m in rebalance.moves)
        share = round(progress(rebalance), 2)
    elif command is not None:
        message, share = command.message, command.progress
    return UnderWay(
        id=found.id,
        title=words.title_of(found),
        status=found.status,
        since=last.at if last else found.at,
        by=last.by if last else found.by,
        message=message,
        share=share if found.status is Status.APPLYING else None,
        moves=moves,
        guards=words.closed_guards(found.guards) if found.status is Status.APPROVED else (),
        verbs=tuple(verbs(world, found)),
        plan_hash=found.plan_hash,
    )


def outcome(world: World, found: Recommendation) -> EndedRow:
    """One that has ended: how, by whom, and what was measured."""
    last = words.last_entry(found)
    row = recommendation_rows.judged_row(found)
    newer = successor(world, found)
    return EndedRow(
        id=found.id,
        title=words.title_of(found),
        status=found.status,
        at=_at(found),
        by=last.by if last else found.by,
        text="" if row else found.verdict or (last.why if last else ""),
        row=row,
        replaced_by=newer.id if newer else "",
        verbs=tuple(verbs(world, found)),
        plan_hash=found.plan_hash,
    )


def successor(world: World, found: Recommendation) -> Recommendation | None:
    """What is proposed now instead of one that lapsed without being done."""
    if found.status not in (Status.SUPERSEDED, Status.EXPIRED):
        return None
    return next(
        (
            r
            for r in world.control.recommendations
            if r.status is Status.PROPOSED
            and r.at >= found.at
            and r.id != found.id
            and set(r.clusters) & set(found.clusters)
        ),
        None,
    )


def waits(world: World) -> tuple[Wait, ...]:
    """The stated reasons for proposing nothing; of many clusters, the fullest come first."""
    found = []
    if world.outlook is not None:
        found.append(Wait(where="Balance", text=world.outlook.wait or "no plan is better"))
    names = [c.name for c in world.snapshot.clusters]
    if len(names) >= WAITS_SHOWN:
        names.sort(key=lambda name: -world.snapshot.load(name))
    found += [Wait(where=name, text=_wait(world, name)) for name in names]
    return tuple(w for w in found if w.text)


def open_proposals(world: World) -> list[Recommendation]:
    """Those that wait for a decision; the one that expires next comes first."""
    found = (r for r in world.control.recommendations if r.status is Status.PROPOSED)
    return sorted(found, key=lambda r: (r.expires_at, r.id))


def _wait(world: World, cluster: str) -> str:
    if world.control.mode(cluster) is Mode.OBSERVE:
        return "its mode is observe, so nothing is proposed for it"
    return world.control.waits.get(cluster, "")


def _at(found: Recommendation) -> float:
    last = words.last_entry(found)
    return last.at if last else found.at
