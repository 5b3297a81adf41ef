"""Rebalances under way: what there is to know of them, and their next steps as effects."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.apply.effects import Advance, Chain
from weir.controllers.engine.apply.moves import Rebalance, advance, waiting_for
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.placement import Lease, Placement, operator_lease
from weir.controllers.model.snapshot import Snapshot


class OpenMoves(Struct, frozen=True, kw_only=True):
    """Rebalances that have not ended, and what their next step depends on."""

    rebalances: tuple[Rebalance, ...]
    snapshot: Snapshot
    placements: Mapping[str, Placement] = {}
    leases: Mapping[str, Lease | None] = {}  # by operator
    stopped: Mapping[str, str] = {}  # by rebalance: why moves that have not begun are abandoned


def open_moves(store: Store, now: float) -> OpenMoves | None:
    """What is under way; None if nothing is."""
    found = tuple(r for r in store.rebalances() if not r.final)
    if not found:
        return None
    return OpenMoves(
        rebalances=found,
        snapshot=replace(
            Snapshot.of(store.latest(), now), dead=tuple(d.cluster for d in store.deaths())
        ),
        placements=store.placements(),
        leases={name: store.lease(operator_lease(name)) for name in waiting_for(found)},
        stopped={r.id: why for r in found if (why := _why_stopped(store, r))},
    )


def advance_moves(moves: OpenMoves, now: float) -> list[Chain]:
    """Advance every rebalance that can take its next step."""
    chains: list[Chain] = []
    for rebalance in moves.rebalances:
        after, changes = advance(
            rebalance,
            moves.snapshot,
            moves.placements,
            moves.leases,
            now,
            stopped=moves.stopped.get(rebalance.id, ""),
        )
        if after != rebalance:
            step = Advance(rebalance=after, changes=tuple(changes), seen=moves.placements)
            chains.append((step,))
    return chains


def _why_stopped(store: Store, rebalance: Rebalance) -> str:
    """Why moves that have not begun are abandoned; empty while they may begin.

    What a person approved goes on, and so does the undoing of what was half done.
    """
    if not engine_settings(store).paused:
        return ""
    found = store.recommendation(rebalance.id)
    return "every automatic action is paused" if found is not None and found.mode else ""
