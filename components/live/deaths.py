"""Dead clusters as people read of them: what was lost, and what runs where since when."""

from weir.components.live.world import World
from weir.components.ui import text
from weir.controllers.engine.apply.moves import MoveState, MoveStep
from weir.controllers.model.failover import Death


def death_of(world: World, cluster: str) -> Death | None:
    """The death of a cluster, while it is dead."""
    return next((d for d in world.deaths if d.cluster == cluster), None)


def death_words(world: World, cluster: str) -> str:
    """What died and what became of what ran there; empty for a cluster that lives."""
    death = death_of(world, cluster)
    if death is None:
        return ""
    said = ["It died."]
    rescued = _rescue_moves(world, death)
    coming = [m for m in rescued if m.step is MoveStep.ADOPTING]
    done = [m for m in rescued if m.step is MoveStep.DONE]
    lost = [name for name in death.lost if name not in {m.move.operator for m in coming}]
    if lost:
        said.append(f"Lost: {', '.join(lost)}{f' ({death.waits})' if death.waits else ''}.")
    if coming:
        started = ", ".join(f"{m.move.operator} in {m.move.target}" for m in coming)
        said.append(f"Being started: {started}.")
    if done:
        said.append(f"Rescued: {', '.join(_done_words(m) for m in done)}.")
    if not death.lost and not rescued:
        said.append("Nothing ran there.")
    return " ".join(said)


def _done_words(state: MoveState) -> str:
    """
    >>> from weir.controllers.model.decision import Move
    >>> move = Move(operator="count", source="a", target="b")
    >>> _done_words(MoveState(move=move, step=MoveStep.DONE, rescued_s=6.42))
    'count in b after 6.4 s'
    """
    where = f"{state.move.operator} in {state.move.target}"
    return where if state.rescued_s is None else f"{where} after {text.seconds(state.rescued_s)}"


def _rescue_moves(world: World, death: Death) -> list[MoveState]:
    """The newest move of each operator that was rescued from this death."""
    newest: dict[str, MoveState] = {}
    for rebalance in sorted(world.rebalances, key=lambda r: r.at):
        if rebalance.at >= death.at and death.cluster in rebalance.died_at:
            for state in rebalance.moves:
                if state.move.source == death.cluster:
                    newest[state.move.operator] = state
    return list(newest.values())
