"""Where operators run, and on how many executors, as an experiment wants it."""

import time
import uuid
from collections.abc import Mapping

from weir.controllers.engine.apply.moves import MoveState, Rebalance
from weir.controllers.model.command import Command, ScaleTo
from weir.controllers.model.decision import Move
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import Mode
from weir.pipeline.experiments.live import BY, LiveSystem


def place(live: LiveSystem, wanted: Mapping[str, str]) -> None:
    """Bring every operator where it is wanted; nobody else acts meanwhile."""
    live.mode(Mode.OBSERVE)
    live.until(
        lambda: all(r.final for r in live.store.rebalances()), 180, "moves under way have ended"
    )
    asked = rebalance_to(wanted, live.store.placements(), BY)
    if asked is not None:
        live.store.save_rebalance(asked)

        def there() -> bool:
            done = next(r for r in live.store.rebalances() if r.id == asked.id)
            return all(m.step.final for m in done.moves)

        live.until(there, 180, "operators are placed")


def rebalance_to(
    wanted: Mapping[str, str], present: Mapping[str, Placement], by: str
) -> Rebalance | None:
    """The moves that bring every operator where it is wanted; None if all are there."""
    moves = tuple(
        MoveState(move=Move(operator=name, source=present[name].cluster, target=target))
        for name, target in wanted.items()
        if present[name].cluster != target
    )
    return Rebalance(id=uuid.uuid4().hex, at=time.time(), moves=moves, by=by) if moves else None


def scale_command(cluster: str, executors: int, by: str) -> Command:
    """What tells an agent to change its size, without the engine."""
    now = time.time()
    return Command(
        id=uuid.uuid4().hex, cluster=cluster, action=ScaleTo(executors=executors),
        issued_at=now, expires_at=now + 60, by=by,
    )  # fmt: skip


def sized(live: LiveSystem, wanted: Mapping[str, int]) -> None:
    """Give every cluster its number of executors."""
    for name, executors in wanted.items():
        live.store.submit(scale_command(name, executors, BY))
    live.until(lambda: executors_of(live) == dict(wanted), 120, "executors are there")


def executors_of(live: LiveSystem) -> dict[str, int]:
    """Executors of every cluster."""
    return {c.name: c.executors for c in live.snapshot().clusters}
