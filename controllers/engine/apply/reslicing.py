"""Re-slices under way: what there is to know of them, and their next steps as effects."""

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.apply.effects import AdvanceReslice, Chain, Submit
from weir.controllers.engine.apply.reslices import (
    ResliceStep,
    Reslicing,
    Stage,
    advance_reslice,
    reslice_command,
)
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.placement import LEADER, operator_lease
from weir.controllers.model.snapshot import Snapshot


class OpenReslices(Struct, frozen=True, kw_only=True):
    """Re-slices that have not ended, each with what its next step depends on."""

    stages: tuple[tuple[Reslicing, Stage], ...]


def open_reslices(store: Store, now: float) -> OpenReslices | None:
    """What is under way, oldest first; None if nothing is."""
    found = sorted((r for r in store.reslicings() if not r.final), key=lambda r: r.at)
    if not found:
        return None
    dead = tuple(death.cluster for death in store.deaths())
    snapshot = replace(Snapshot.of(store.latest(), now), dead=dead)
    placements, slicings = store.placements(), store.slicings()
    leader = store.lease(LEADER)
    stages = []
    for reslicing in found:
        held = reslicing.before.held if reslicing.before else ()
        stages.append(
            (
                reslicing,
                Stage(
                    snapshot=snapshot,
                    slicing=slicings.get(reslicing.operator),
                    placements=placements,
                    leases={name: store.lease(operator_lease(name)) for name in held},
                    told=store.command(reslice_command(reslicing)),
                    token=leader.token if leader else None,
                    stopped=_why_stopped(store, reslicing),
                ),
            )
        )
    return OpenReslices(stages=tuple(stages))


def advance_reslices(reslices: OpenReslices, now: float) -> list[Chain]:
    """Advance every re-slice that can take its next step."""
    chains: list[Chain] = []
    for reslicing, stage in reslices.stages:
        after = advance_reslice(reslicing, stage, now)
        chain: Chain = ()
        if after.reslicing != reslicing:
            step = AdvanceReslice(
                reslicing=after.reslicing,
                slicing=after.slicing,
                seen=stage.slicing,
                place=after.place,
                unplace=after.unplace,
            )
            chain = (step,)
        if after.command is not None:
            chain = (*chain, Submit(command=after.command))
        if chain:
            chains.append(chain)
    return chains


def _why_stopped(store: Store, reslicing: Reslicing) -> str:
    """Why one that has not begun is abandoned: nobody approved it, and all that is automatic is
    paused."""
    if reslicing.step is not ResliceStep.PLANNED or not engine_settings(store).paused:
        return ""
    found = store.recommendation(reslicing.id)
    return "every automatic action is paused" if found is not None and found.mode else ""
