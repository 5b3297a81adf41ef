"""The life of a re-slice: key groups get other owners while the stream runs.

    planned -> holding -> rewriting -> starting -> done
       |          |           +-----> returning -> returned (the old owners run again)
       |          +-- too slow -----> returning
       +-> failed (nothing was done)             starting -> failed (the new owners are
                                                              in force, one has not committed)

Holding: the slices that change stop at a batch boundary and give their leases back. Rewriting:
the driver of a cluster takes these leases, writes the new owners' checkpoints from the old
ones, and reads them back. Then one compare-and-set gives the groups to the new owners, with
the placements of those that are new. Before it only the old owners can run, after it only the
new ones: the next leader sees from the store how far it has come, and doing a step again
changes nothing. The old checkpoints are dropped when every new owner has committed.

Going back after that is a re-slice the other way round, as exact as this one.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.apply.arrival import has_committed_since, has_taken_over
from weir.controllers.model.age import Time
from weir.controllers.model.command import (
    Command,
    CommandResult,
    CommandStatus,
    DropState,
    RewriteState,
)
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.placement import Lease, Placement
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot

HOLD_S = 60.0
REWRITE_S = 180.0
START_S = 180.0
RETURN_S = 180.0
LIVES_S = 30.0
"""How long each step may take, and how long the order to rewrite stays good."""
ATTEMPTS = 3


class ResliceStep(StrEnum):
    """Where a re-slice stands."""

    PLANNED = "planned"
    HOLDING = "holding"  # the slices that change stop at a batch boundary
    REWRITING = "rewriting"  # their state is split and merged
    STARTING = "starting"  # the new owners have to commit
    DONE = "done"
    RETURNING = "returning"
    RETURNED = "returned"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        """Nothing will change any more."""
        return self in (ResliceStep.DONE, ResliceStep.RETURNED, ResliceStep.FAILED)


class Reslicing(Struct, frozen=True, kw_only=True):
    """One re-slice: what is wanted, how far it is, and what was measured."""

    id: str
    at: Time
    operator: str
    was: dict[str, tuple[int, ...]]  # slice -> key groups when it was ordered
    owners: dict[str, tuple[int, ...]]  # wanted
    clusters: dict[str, str] = {}  # where slices that are new are to run
    by: str = ""
    planner: str = "by hand"
    why: str = ""
    step: ResliceStep = ResliceStep.PLANNED
    since: Time = 0.0
    message: str = ""
    paused_s: float | None = None  # last commit of the old owners to the first of the new
    state_bytes: int | None = None  # that was rewritten
    before: Slicing | None = None  # with the slices that change held
    rewriter: str = ""  # the cluster whose driver rewrites
    attempt: int = 0
    runs: dict[str, str] = {}  # slice -> its run before
    committed_at: dict[str, float] = {}  # slice -> its last commit before

    @property
    def final(self) -> bool:
        """It has ended, one way or the other."""
        return self.step.final


class Stage(Struct, frozen=True, kw_only=True):
    """What the next step depends on."""

    snapshot: Snapshot
    slicing: Slicing | None  # as it is now
    placements: Mapping[str, Placement] = {}
    leases: Mapping[str, Lease | None] = {}  # by slice
    told: tuple[Command, CommandResult] | None = None  # the order to rewrite
    token: int | None = None  # of the engine that leads
    stopped: str = ""  # why it is not to begin


class Advanced(Struct, frozen=True, kw_only=True):
    """A re-slice one step on, with what changes at the same time."""

    reslicing: Reslicing
    slicing: Slicing | None = None
    place: tuple[Placement, ...] = ()
    unplace: tuple[str, ...] = ()
    command: Command | None = None


def reslice_command(reslicing: Reslicing) -> str:
    """The id of its present order to rewrite."""
    return f"{reslicing.id}-state-{reslicing.attempt}"


def advance_reslice(reslicing: Reslicing, stage: Stage, now: float) -> Advanced:
    """Its next step, itself if it has to wait."""
    match reslicing.step:
        case ResliceStep.PLANNED:
            return _begin(reslicing, stage, now)
        case ResliceStep.HOLDING:
            return _hold(reslicing, stage, now)
        case ResliceStep.REWRITING:
            return _rewrite(reslicing, stage, now)
        case ResliceStep.STARTING:
            return _start(reslicing, stage, now)
        case ResliceStep.RETURNING:
            return _go_on_returning(reslicing, stage, now)
    return Advanced(reslicing=reslicing)


def _begin(reslicing: Reslicing, stage: Stage, now: float) -> Advanced:
    if why := stage.stopped or _why_unfit(reslicing, stage):
        return Advanced(reslicing=_to(reslicing, ResliceStep.FAILED, now, why))
    assert stage.slicing is not None
    after = stage.slicing.resliced(reslicing.owners)
    changed = [n for n in after.changed(stage.slicing) if n in stage.slicing.owners]
    held = stage.slicing.holding(changed)
    found = [o for name in changed if (o := stage.snapshot.operator(name)) is not None]
    begun = replace(
        _to(reslicing, ResliceStep.HOLDING, now),
        before=held,
        runs={o.name: o.run_id for o in found if o.run_id},
        committed_at={o.name: o.batch_at for o in found if o.batch_at is not None},
        state_bytes=sum(o.state_bytes or 0 for o in found),
    )
    return Advanced(reslicing=begun, slicing=held)


def _why_unfit(reslicing: Reslicing, stage: Stage) -> str:
    """Why it cannot begin; empty if it can."""
    slicing = stage.slicing
    if slicing is None:
        return f"{reslicing.operator} has no slices"
    if slicing.held:
        return f"{reslicing.operator} is being re-sliced already"
    if {n: set(g) for n, g in slicing.owners.items()} != {
        n: set(g) for n, g in reslicing.was.items()
    }:
        return f"the slices of {reslicing.operator} have changed since it was asked for"
    try:
        after = slicing.resliced(reslicing.owners)
    except InvalidInput as error:
        return str(error)
    changed = after.changed(slicing)
    if not changed:
        return "every key group has the owner that is wanted"
    for name in changed:
        placed = stage.placements.get(name)
        if name in slicing.owners:
            if placed is None or placed.wanted != "running":
                return f"{name} is stopped"
            where = placed.cluster
        elif name in reslicing.clusters:
            where = reslicing.clusters[name]
        else:
            return f"nobody says where {name} is to run"
        found = stage.snapshot.cluster(where)
        if found is None:
            return f"there is no cluster {where}"
        if why := found.unfit_for(name) or stage.snapshot.silent(where):
            return why
    return ""


def _hold(reslicing: Reslicing, stage: Stage, now: float) -> Advanced:
    before = reslicing.before
    assert before is not None
    if stage.slicing != before:
        why = "somebody else has changed the slices"
        return Advanced(reslicing=_to(reslicing, ResliceStep.FAILED, now, why))
    waits = [name for name in before.held if stage.leases.get(name) is not None]
    if not waits:
        cluster = next(
            (
                placed.cluster
                for name in before.held
                if (placed := stage.placements.get(name)) is not None
                and not stage.snapshot.silent(placed.cluster)
            ),
            "",
        )
        if cluster:
            begun = replace(_to(reslicing, ResliceStep.REWRITING, now), rewriter=cluster)
            return Advanced(reslicing=begun, command=_order(begun, stage, now))
    if now - reslicing.since > HOLD_S:
        who = ", ".join(waits) or "a cluster that could rewrite their state"
        return _return(reslicing, stage, now, f"{who} did not come to a stop in time")
    return Advanced(reslicing=reslicing)


def _order(reslicing: Reslicing, stage: Stage, now: float) -> Command:
    assert reslicing.before is not None
    return Command(
        id=reslice_command(reslicing),
        cluster=reslicing.rewriter,
        action=RewriteState(
            operator=reslicing.operator,
            before=reslicing.before,
            after=reslicing.before.resliced(reslicing.owners),
        ),
        issued_at=now,
        expires_at=now + LIVES_S,
        by=reslicing.by,
        fence=stage.token,
    )


def _rewrite(reslicing: Reslicing, stage: Stage, now: float) -> Advanced:
    before = reslicing.before
    assert before is not None
    if stage.slicing != before:
        why = "somebody else has changed the slices"
        return Advanced(reslicing=_to(reslicing, ResliceStep.FAILED, now, why))
    if stage.told is None:  # the engine died before the order was given
        return Advanced(reslicing=reslicing, command=_order(reslicing, stage, now))
    command, result = stage.told
    if result.status is CommandStatus.DONE:
        after = before.resliced(reslicing.owners)
        new = [name for name in after.slices if name not in before.owners]
        return Advanced(
            reslicing=_to(reslicing, ResliceStep.STARTING, now, result.message),
            slicing=after,
            place=tuple(Placement(operator=n, cluster=reslicing.clusters[n]) for n in new),
            unplace=tuple(name for name in before.slices if name not in after.owners),
        )
    late = result.status in (CommandStatus.REFUSED, CommandStatus.EXPIRED)
    if late and reslicing.attempt + 1 < ATTEMPTS:  # the engine that ordered it no longer leads
        again = replace(reslicing, attempt=reslicing.attempt + 1)
        return Advanced(reslicing=again, command=_order(again, stage, now))
    if result.status.final:
        return _return(reslicing, stage, now, result.message or str(result.status))
    if why := stage.snapshot.silent(reslicing.rewriter):
        return _return(reslicing, stage, now, why)
    if now - reslicing.since > REWRITE_S:
        why = f"{command.cluster} has not rewritten the state within {REWRITE_S:.0f} s"
        return _return(reslicing, stage, now, why)
    return Advanced(reslicing=reslicing)


def _return(reslicing: Reslicing, stage: Stage, now: float, why: str) -> Advanced:
    """Let the old owners go on; an order that is still carried out then changes nothing, as the
    generation that it writes for will never be."""
    assert stage.slicing is not None
    back = _to(reslicing, ResliceStep.RETURNING, now, f"went back: {why}")
    return Advanced(reslicing=back, slicing=stage.slicing.holding(()))


def _go_on_returning(reslicing: Reslicing, stage: Stage, now: float) -> Advanced:
    before = reslicing.before
    assert before is not None
    waits = [
        name
        for name in before.held
        if not _works(stage, name, before.groups_of(name), reslicing)
        and not has_committed_since(stage.snapshot.operator(name), reslicing.since)
    ]
    if not waits:
        half = before.resliced(reslicing.owners)
        return Advanced(
            reslicing=_to(reslicing, ResliceStep.RETURNED, now, reslicing.message),
            command=_drop(reslicing, half, before, now) if reslicing.rewriter else None,
        )
    if now - reslicing.since > RETURN_S:
        why = f"{reslicing.message}; {', '.join(waits)} has not started within {RETURN_S:.0f} s"
        return Advanced(reslicing=_to(reslicing, ResliceStep.FAILED, now, why))
    return Advanced(reslicing=reslicing)


def _start(reslicing: Reslicing, stage: Stage, now: float) -> Advanced:
    before = reslicing.before
    assert before is not None
    after = before.resliced(reslicing.owners)
    changed = [name for name in after.changed(before) if name in after.owners]
    waits = [n for n in changed if not _works(stage, n, after.groups_of(n), reslicing)]
    if not waits:
        done = replace(
            _to(reslicing, ResliceStep.DONE, now, reslicing.message),
            paused_s=_pause_s(reslicing, stage, changed),
        )
        return Advanced(reslicing=done, command=_drop(reslicing, before, after, now))
    if now - reslicing.since > START_S:
        why = f"the new owners are in force, but {', '.join(waits)} has not committed"
        return Advanced(reslicing=_to(reslicing, ResliceStep.FAILED, now, why))
    return Advanced(reslicing=reslicing)


def _works(stage: Stage, name: str, groups: tuple[int, ...], reslicing: Reslicing) -> bool:
    run_before = reslicing.runs.get(name, "")
    return has_taken_over(stage.snapshot.operator(name), groups, run_before)


def _pause_s(reslicing: Reslicing, stage: Stage, changed: list[str]) -> float | None:
    """From the first of the old owners' last commits to the last of the new ones' first."""
    firsts = [
        o.first_batch_at for n in changed if (o := stage.snapshot.operator(n)) and o.first_batch_at
    ]
    lasts = reslicing.committed_at.values()
    return max(0.0, max(firsts) - min(lasts)) if firsts and lasts else None


def _drop(reslicing: Reslicing, gone: Slicing, kept: Slicing, now: float) -> Command:
    """Remove the checkpoints of slices that no longer exist."""
    left = {(name, kept.born.get(name)) for name in kept.slices}
    return Command(
        id=f"{reslicing.id}-drop",
        cluster=reslicing.rewriter,
        action=DropState(
            operator=reslicing.operator,
            born={
                name: gone.born.get(name, 1)
                for name in gone.slices
                if (name, gone.born.get(name)) not in left
            },
        ),
        issued_at=now,
        expires_at=now + 10 * LIVES_S,
        by=reslicing.by,
    )


def _to(reslicing: Reslicing, step: ResliceStep, now: float, message: str = "") -> Reslicing:
    return replace(reslicing, step=step, since=now, message=message)
