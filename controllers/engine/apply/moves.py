"""The life of a rebalance: moves one after the other, each resumable at every step.

    planned -> releasing -> adopting -> done
       |           |            +-----> returning -> returned
       |           +-- too slow ------> returning
       +-> failed (nothing was done)

A rescue has nobody who could let go, and nowhere to go back to: planned -> adopting -> done or
failed, all moves at once.

A move is a change of placement. Hosts bring it about: the old one lets go at a batch
boundary, the new one takes the lease and resumes from the checkpoint. So whoever leads
next sees how far a move has come from placement, leases and samples alone, and doing a
step again changes nothing.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.apply.arrival import goes_on, has_arrived
from weir.controllers.model.age import Time
from weir.controllers.model.decision import Move
from weir.controllers.model.placement import Lease, Placement
from weir.controllers.model.sample import OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot


class MoveStep(StrEnum):
    """Where one move stands."""

    PLANNED = "planned"
    RELEASING = "releasing"
    ADOPTING = "adopting"
    DONE = "done"
    RETURNING = "returning"
    RETURNED = "returned"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        """Nothing will change any more."""
        return self in (MoveStep.DONE, MoveStep.RETURNED, MoveStep.FAILED)

    @property
    def paused(self) -> bool:
        """The operator is on its way and commits nothing."""
        return self in (MoveStep.RELEASING, MoveStep.ADOPTING, MoveStep.RETURNING)


class MoveState(Struct, frozen=True, kw_only=True):
    """One move, what is known of it, and what was measured."""

    move: Move
    step: MoveStep = MoveStep.PLANNED
    since: Time = 0.0
    message: str = ""
    run_before: str | None = None  # the query's run in the old cluster
    paused_s: float | None = None  # last commit there to first commit in the new cluster
    rescued_s: float | None = None  # death of the old cluster to first commit in the new one
    state_bytes: int | None = None
    queue_before: int | None = None
    queue_peak: int | None = None
    drained_at: float | None = None  # when the queue was back where it had been


class Rebalance(Struct, frozen=True, kw_only=True):
    """Moves that belong together, in the order in which they are made."""

    id: str
    at: Time
    moves: tuple[MoveState, ...]
    by: str = ""
    planner: str = "by hand"
    why: str = ""
    died_at: dict[str, float] = {}  # of a rescue: the clusters that died, and when

    @property
    def final(self) -> bool:
        """Every move has ended, and the queues that built up have drained."""
        return all(
            m.step.final and (m.step is not MoveStep.DONE or m.drained_at is not None)
            for m in self.moves
        )


class MoveSettings(Struct, frozen=True, kw_only=True):
    """How patient a rebalance is."""

    most_paused: int = 1
    release_within_s: float = 60.0
    adopt_within_s: float = 90.0
    return_within_s: float = 180.0  # by then its old host should have come up again
    drain_within_s: float = 300.0


def advance(
    rebalance: Rebalance,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    leases: Mapping[str, Lease | None],
    now: float,
    settings: MoveSettings | None = None,
    stopped: str = "",
) -> tuple[Rebalance, list[Placement]]:
    """The next state, and the placements to write with it.

    With `stopped`, a reason, what has not begun is given up; the rest goes on to its end.
    """
    use = settings or MoveSettings()
    if stopped:
        rebalance = replace(
            rebalance, moves=tuple(_give_up(m, stopped, now) for m in rebalance.moves)
        )
    paused = sum(m.step.paused for m in rebalance.moves)
    moves: list[MoveState] = []
    changes: list[Placement] = []
    for state in rebalance.moves:
        ahead = [m for m in moves if m.move.source == state.move.target]  # they make room for it
        stays = next(
            (m.move for m in ahead if m.step in (MoveStep.RETURNED, MoveStep.FAILED)), None
        )
        if stays is not None:
            why = f"not begun: {stays.operator} did not leave {stays.source}"
            state = _give_up(state, why, now)
        if rebalance.died_at:
            after, change = _rescue(state, rebalance.died_at, snapshot, placements, now, use)
            moves.append(after)
            changes += change
            continue
        turn = (
            paused < use.most_paused
            and all(m.step is not MoveStep.PLANNED for m in moves)
            and all(m.step is MoveStep.DONE for m in ahead)
        )
        after, change = _step(state, turn, snapshot, placements, leases, now, use)
        paused += after.step.paused - state.step.paused
        moves.append(after)
        changes += change
    return replace(rebalance, moves=tuple(moves)), changes


def _rescue(
    state: MoveState,
    died_at: Mapping[str, float],
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    now: float,
    use: MoveSettings,
) -> tuple[MoveState, list[Placement]]:
    """The next state of a move away from a dead cluster.

    Where it fails its placement stays: if that cluster died too, the next rescue begins there.
    """
    move, operator = state.move, snapshot.operator(state.move.operator)
    if state.step is MoveStep.PLANNED:
        placed = placements.get(move.operator)
        why = "it is placed nowhere" if placed is None else placed.why_departed(move.source)
        why = why or _why_unfit(snapshot, move)
        if why or placed is None:
            return replace(state, step=MoveStep.FAILED, since=now, message=why), []
        begun = replace(
            state,
            step=MoveStep.ADOPTING,
            since=now,
            run_before=operator.run_id if operator else None,
            state_bytes=operator.state_bytes if operator else None,
            queue_before=operator.queue_rows if operator else None,
        )
        return begun, [replace(placed, cluster=move.target)]
    if state.step is MoveStep.ADOPTING:
        state = _watch_queue(state, operator, now)
        if operator is not None and has_arrived(operator, move.target, state.run_before):
            first, died = operator.first_batch_at, died_at.get(move.source)
            took_s = None if first is None or died is None else max(0.0, first - died)
            return replace(
                state, step=MoveStep.DONE, since=now, paused_s=operator.pause_s, rescued_s=took_s
            ), []
        why = _why_unfit(snapshot, move) or (_refusal(operator, move.target) if operator else "")
        if not why and now - state.since > use.adopt_within_s:
            why = f"{move.target} did not commit a batch within {use.adopt_within_s:.0f} s"
        return (replace(state, step=MoveStep.FAILED, since=now, message=why) if why else state), []
    if state.step is MoveStep.DONE and state.drained_at is None:
        state = _watch_queue(state, operator, now)
        if now - state.since > use.drain_within_s:
            state = replace(state, drained_at=now, message="its queue has not drained yet")
    return state, []


def _give_up(state: MoveState, why: str, now: float) -> MoveState:
    if state.step is not MoveStep.PLANNED:
        return state
    return replace(state, step=MoveStep.FAILED, since=now, message=why)


def _step(
    state: MoveState,
    turn: bool,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    leases: Mapping[str, Lease | None],
    now: float,
    use: MoveSettings,
) -> tuple[MoveState, list[Placement]]:
    move = state.move
    operator = snapshot.operator(move.operator)
    lease = leases.get(move.operator)
    match state.step:
        case MoveStep.PLANNED if turn:
            return _begin(state, operator, snapshot, placements, now, use)
        case MoveStep.RELEASING:
            state = _watch_queue(state, operator, now)
            if lease is None or lease.holder.split("/")[0] != _app(snapshot, move.source):
                return replace(state, step=MoveStep.ADOPTING, since=now), []
            if now - state.since > use.release_within_s:
                return _return(state, f"{move.source} did not let go", placements, now)
        case MoveStep.ADOPTING:
            state = _watch_queue(state, operator, now)
            return _adopt(state, operator, snapshot, placements, now, use)
        case MoveStep.RETURNING:
            if has_arrived(operator, move.source, state.run_before) or goes_on(
                operator, move.source, snapshot, state.since
            ):
                return replace(state, step=MoveStep.RETURNED, since=now), []
            if move.source in snapshot.dead:
                why = f"{state.message}; {move.source} has died"
                return replace(state, step=MoveStep.FAILED, since=now, message=why), []
            if now - state.since > use.return_within_s:
                why = f"{move.source} has not started it within {use.return_within_s:.0f} s"
                return replace(
                    state, step=MoveStep.FAILED, since=now, message=f"{state.message}; {why}"
                ), []
        case MoveStep.DONE if state.drained_at is None:
            state = _watch_queue(state, operator, now)
            if now - state.since > use.drain_within_s:
                state = replace(state, drained_at=now, message="its queue has not drained yet")
    return state, []


def _begin(
    state: MoveState,
    operator: OperatorSample | None,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    now: float,
    use: MoveSettings,
) -> tuple[MoveState, list[Placement]]:
    move = state.move
    placed = placements.get(move.operator)
    why = ""
    if placed is None or operator is None:
        why = f"there is no operator {move.operator}"
    else:
        why = placed.why_departed(move.source) or _why_unfit(snapshot, move)
    if why or operator is None or placed is None:
        return replace(state, step=MoveStep.FAILED, since=now, message=why), []
    begun = replace(
        state,
        step=MoveStep.RELEASING,
        since=now,
        run_before=operator.run_id,
        state_bytes=operator.state_bytes,
        queue_before=operator.queue_rows,
        queue_peak=operator.queue_rows,
    )
    return begun, [replace(placed, cluster=move.target)]


def _adopt(
    state: MoveState,
    operator: OperatorSample | None,
    snapshot: Snapshot,
    placements: Mapping[str, Placement],
    now: float,
    use: MoveSettings,
) -> tuple[MoveState, list[Placement]]:
    move = state.move
    if operator is not None and has_arrived(operator, move.target, state.run_before):
        done = replace(state, step=MoveStep.DONE, since=now, paused_s=operator.pause_s)
        return done, []
    why = _why_unfit(snapshot, move)
    if not why and operator is not None:
        why = _refusal(operator, move.target)
    if not why and now - state.since > use.adopt_within_s:
        why = f"{move.target} did not commit a batch within {use.adopt_within_s:.0f} s"
    return _return(state, why, placements, now) if why else (state, [])


def _return(
    state: MoveState, why: str, placements: Mapping[str, Placement], now: float
) -> tuple[MoveState, list[Placement]]:
    placed = placements[state.move.operator]
    back = replace(state, step=MoveStep.RETURNING, since=now, message=f"went back: {why}")
    return back, [replace(placed, cluster=state.move.source)]


def _why_unfit(snapshot: Snapshot, move: Move) -> str:
    found = snapshot.cluster(move.target)
    if found is None:
        return f"there is no cluster {move.target}"
    return found.unfit_for(move.operator) or snapshot.silent(move.target)


def _refusal(operator: OperatorSample, cluster: str) -> str:
    if operator.cluster != cluster or operator.status is not OperatorStatus.FAILED:
        return ""
    return operator.message or f"it cannot start in {cluster}"


def _watch_queue(state: MoveState, operator: OperatorSample | None, now: float) -> MoveState:
    if operator is None or operator.queue_rows is None:
        return replace(state, drained_at=now) if state.step is MoveStep.DONE else state
    queue = operator.queue_rows
    state = replace(state, queue_peak=max(queue, state.queue_peak or 0))
    usual = max(state.queue_before or 0, operator.arrival_rows_per_s * operator.trigger_s * 1.5)
    if state.step is MoveStep.DONE and queue <= usual:
        return replace(state, drained_at=now)
    return state


def _app(snapshot: Snapshot, cluster: str) -> str:
    found = snapshot.cluster(cluster)
    return found.app_id if found else ""


def waiting_for(rebalances: Iterable[Rebalance]) -> set[str]:
    """Operators whose lease and placement the engine has to check now."""
    return {m.move.operator for r in rebalances for m in r.moves if not m.step.final}
