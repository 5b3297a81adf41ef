"""Commands as people read them, and what a dialog says before one is sent."""

from typing import Literal

from msgspec import Struct

from weir.components.live.figures import idle
from weir.components.live.world import ClusterShares, World, stale
from weir.components.ui.text import plural, seconds
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.model.command import (
    Command,
    CommandResult,
    CommandStatus,
    describe,
)
from weir.controllers.model.errors import NotFound
from weir.controllers.model.sample import Cluster
from weir.controllers.model.shares import weights_text
from weir.controllers.service.operating import COMMAND_LIVES_S

Verb = Literal["scale", "start", "stop", "restart", "forget", "share", "add", "end"]
STEP_WORDS = {
    MoveStep.PLANNED: "waits for its turn",
    MoveStep.RELEASING: "finishes its batch",
    MoveStep.ADOPTING: "starts in its new cluster",
    MoveStep.DONE: "arrived",
    MoveStep.RETURNING: "goes back",
    MoveStep.RETURNED: "went back",
    MoveStep.FAILED: "not moved",
}


class CommandRow(Struct, frozen=True, kw_only=True):
    """One line of the list of commands."""

    id: str
    at: float
    cluster: str
    what: str
    status: CommandStatus
    message: str = ""
    progress: float | None = None
    word: str = ""  # shown for the status, where that says too little


class CommandQuestion(Struct, frozen=True, kw_only=True):
    """What a dialog asks before a command is sent."""

    verb: Verb
    cluster: str
    operator: str = ""
    title: str
    text: str
    warning: str = ""
    confirm: str
    danger: bool = False
    executors: int | None = None  # present; given only where a number is asked for
    least: int = 1
    most: int = 1
    weights: str = ""  # present, given only where weights are asked for


def rows(
    world: World, *, cluster: str = "", operator: str = "", limit: int = 6
) -> list[CommandRow]:
    """The newest commands and moves, of everything or of one cluster or operator."""
    found = []
    for rebalance in world.rebalances:
        for state in rebalance.moves:
            move = state.move
            if cluster and cluster not in (move.source, move.target):
                continue
            if not operator or operator == move.operator:
                found.append(move_row(rebalance, state))
    for command, result in world.commands:
        if cluster and command.cluster != cluster:
            continue
        if operator and getattr(command.action, "operator", "") != operator:
            continue
        found.append(row(command, result))
    found.sort(key=lambda r: r.at, reverse=True)
    return found[:limit]


def row(command: Command, result: CommandResult) -> CommandRow:
    """A command and its result in one line."""
    return CommandRow(
        id=command.id,
        at=command.issued_at,
        cluster=command.cluster,
        what=describe(command.action),
        status=result.status,
        message=result.message,
        progress=None if result.status.final else result.progress,
    )


_STEPS = {
    MoveStep.PLANNED: CommandStatus.PENDING,
    MoveStep.DONE: CommandStatus.DONE,
    MoveStep.RETURNED: CommandStatus.FAILED,
    MoveStep.FAILED: CommandStatus.FAILED,
}


def move_row(rebalance: Rebalance, state: MoveState) -> CommandRow:
    """A move in one line: its step, and its pause once that was measured."""
    move = state.move
    message = state.message
    if not message and state.paused_s is not None:
        message = f"paused {seconds(state.paused_s)}"
    return CommandRow(
        id=f"{rebalance.id}/{move.operator}",
        at=rebalance.at,
        cluster=move.source,
        what=f"move {move.operator} to {move.target}",
        status=_STEPS.get(state.step, CommandStatus.RUNNING),
        message=message,
        word=STEP_WORDS[state.step],
    )


def question(world: World, verb: Verb, cluster: str, operator: str = "") -> CommandQuestion:
    """What will happen, said before it is asked for."""
    if verb == "add":
        return _add_question(world)
    target = world.snapshot.cluster(cluster)
    if target is None:
        raise NotFound(f"There is no cluster {cluster} any more.")
    warning = (
        f"{cluster} has sent no data lately; the command waits up to "
        f"{COMMAND_LIVES_S:.0f} s for its agent and is then dropped."
        if stale(world, cluster)
        else ""
    )
    if verb == "scale":
        return _scale_question(target, warning)
    if verb == "forget":
        return _forget_question(world, target)
    if verb == "end":
        return _end_question(world, target)
    if verb == "share":
        return _share_question(world, target, warning)
    found = world.snapshot.operator(operator)
    if found is None:
        raise NotFound(f"There is no operator {operator} any more.")
    texts = {
        "stop": f"{operator} ends its present batch, commits it and stays stopped on {cluster}. "
        "Rows wait in its source until it is started again.",
        "start": f"{operator} starts on {cluster} and goes on from its checkpoint.",
        "restart": f"{operator} ends its present batch, commits it and starts again from its "
        f"checkpoint on {cluster}. Rows wait meanwhile; nothing is lost or counted twice.",
    }
    if idle(found) and verb == "stop":
        warning = warning or f"{operator} is not running now."
    return CommandQuestion(
        verb=verb,
        cluster=cluster,
        operator=operator,
        title=f"{verb.capitalize()} {operator}?",
        text=texts[verb],
        warning=warning,
        confirm=f"{verb.capitalize()} operator",
        danger=verb == "stop",
    )


def scale_text(now: int, wanted: int, cores_per_executor: int, cluster: str) -> str:
    """What a change of the number of executors means.

    >>> scale_text(3, 4, 2, "wide")
    'wide asks Spark for 1 executor more: 3 now, 4 then, 8 cores in all. It takes some seconds.'
    """
    if wanted == now:
        return f"{cluster} has {plural(now, 'executor')} now; nothing would change."
    cores = plural(wanted * cores_per_executor, "core")
    if wanted > now:
        return (
            f"{cluster} asks Spark for {plural(wanted - now, 'executor')} more: {now} now, "
            f"{wanted} then, {cores} in all. It takes some seconds."
        )
    return (
        f"{cluster} gives {plural(now - wanted, 'executor')} back: {now} now, {wanted} then, "
        f"{cores} in all. Tasks that run on them finish first; no row is lost."
    )


def _forget_question(world: World, cluster: Cluster) -> CommandQuestion:
    reports = not world.snapshot.silent(cluster.name)
    return CommandQuestion(
        verb="forget",
        cluster=cluster.name,
        title=f"Forget {cluster.name}?",
        text=f"{cluster.name} goes from all pages, with its series, its settings and what its "
        "scalers have learned. Recorded runs and the audit trail stay. It comes back as a new "
        "cluster when it reports again.",
        warning=f"{cluster.name} reports; stop its application first." if reports else "",
        confirm="Forget cluster",
        danger=True,
    )


def _add_question(world: World) -> CommandQuestion:
    return CommandQuestion(
        verb="add",
        cluster="",
        title="Add a cluster",
        text="The launcher starts one more Spark application, within the limits of the settings "
        "`clusters`. It begins empty; planners may move operators there as soon as it reports.",
        warning=_launcherless(world),
        confirm="Add cluster",
    )


def _end_question(world: World, cluster: Cluster) -> CommandQuestion:
    name = cluster.name
    placed = len(world.snapshot.operators_of(name))
    return CommandQuestion(
        verb="end",
        cluster=name,
        title=f"End {name}?",
        text=f"Planners move its {plural(placed, 'operator')} away first, under the modes and "
        f"guards of every rebalance. Once nothing is placed in {name}, its application is ended "
        "and the cluster is forgotten.",
        warning=_launcherless(world),
        confirm="End cluster",
        danger=True,
    )


def _launcherless(world: World) -> str:
    if any(p.kind == "launcher" for p in world.parts):
        return ""
    return "No launcher is at work: start `weir launch`, or nobody starts or ends a host."


def _share_question(world: World, cluster: Cluster, warning: str) -> CommandQuestion:
    shares = world.shares.get(cluster.name, ClusterShares())
    known = shares.settings.by_operator
    advice = shares.advice
    said = ""
    if advice is not None and advice.weights:
        said = f" The model says {weights_text(advice.weights)}. {advice.why}"
    operators = world.snapshot.operators_of(cluster.name)
    return CommandQuestion(
        verb="share",
        cluster=cluster.name,
        title=f"Shares of {cluster.name}'s cores",
        text="While cores are contended, operators get them in proportion to their weights; what "
        f"one does not use, others do. They take hold at once, nothing is restarted.{said}",
        warning=warning,
        confirm="Set shares",
        weights=weights_text({o.name: known.get(o.name, 1) for o in operators}),
    )


def _scale_question(cluster: Cluster, warning: str) -> CommandQuestion:
    return CommandQuestion(
        verb="scale",
        cluster=cluster.name,
        title=f"Scale {cluster.name}",
        text=scale_text(
            cluster.executors, cluster.executors, cluster.cores_per_executor, cluster.name
        ),
        warning=warning,
        confirm="Scale cluster",
        executors=cluster.executors,
        least=cluster.min_executors,
        most=max(cluster.max_executors, cluster.executors),
    )
