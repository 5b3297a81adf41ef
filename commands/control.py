"""`status`, `rate`, `scale` and `operator`: the page's buttons on the command line."""

import getpass
import time
import uuid
from collections.abc import Callable

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from controllers.balancing.base import planner
from controllers.engine.balance import BALANCE, BalanceSettings
from controllers.engine.moves import MoveState, Rebalance
from controllers.engine.ports import Store
from controllers.model.command import (
    Action,
    Command,
    CommandResult,
    CommandStatus,
    RestartOperator,
    ScaleTo,
    StartOperator,
    StopOperator,
    describe,
)
from controllers.model.decision import Move
from controllers.model.errors import InvalidInput, NotFound, Unavailable
from controllers.model.snapshot import Snapshot
from controllers.settings import build

EXPIRES_AFTER_S = 30.0
VERBS: dict[str, Callable[[str], Action]] = {
    "start": lambda name: StartOperator(operator=name),
    "stop": lambda name: StopOperator(operator=name),
    "restart": lambda name: RestartOperator(operator=name),
}


def scale(store: Store, cluster: str, executors: int) -> CommandResult:
    """Bring a cluster to a number of executors."""
    snapshot = Snapshot.of(store.latest(), time.time())
    found = snapshot.cluster(cluster)
    if found is None:
        names = ", ".join(c.name for c in snapshot.clusters) or "none"
        raise NotFound(f"there is no cluster '{cluster}'; known: {names}")
    if not found.min_executors <= executors <= found.max_executors:
        raise InvalidInput(
            f"{cluster} may have {found.min_executors} to {found.max_executors} executors, "
            f"not {executors}",
            field="executors",
        )
    return _send(store, cluster, ScaleTo(executors=executors))


def operator(store: Store, verb: str, name: str) -> CommandResult:
    """Start, stop or restart an operator where it is placed."""
    if verb not in VERBS:
        raise InvalidInput(f"'{verb}' is not one of {', '.join(VERBS)}", field="verb")
    placed = store.placements().get(name)
    if placed is None:
        names = ", ".join(sorted(store.placements())) or "none"
        raise NotFound(f"there is no operator '{name}'; known: {names}")
    return _send(store, placed.cluster, VERBS[verb](name))


def move(store: Store, operator_name: str, cluster: str) -> Rebalance:
    """Move one operator to another cluster and wait until it commits there."""
    placed = store.placements().get(operator_name)
    if placed is None:
        names = ", ".join(sorted(store.placements())) or "none"
        raise NotFound(f"there is no operator '{operator_name}'; known: {names}")
    if placed.cluster == cluster:
        raise InvalidInput(f"{operator_name} is in {cluster} already", field="cluster")
    step = MoveState(move=Move(operator=operator_name, source=placed.cluster, target=cluster))
    rebalance = Rebalance(id=uuid.uuid4().hex, at=time.time(), moves=(step,), by=_me())
    store.save_rebalance(rebalance)
    console = Console(stderr=True)
    with console.status(f"moving {operator_name} to {cluster}") as line:
        while True:
            found = next(r for r in store.rebalances() if r.id == rebalance.id)
            if found.moves[0].step.final:
                return found
            line.update(f"moving {operator_name} to {cluster}: {found.moves[0].step}")
            time.sleep(0.2)


def balance(store: Store, planner_name: str | None, auto: bool | None) -> str:
    """Show or set how the engine balances by itself."""
    values = store.settings(BALANCE)
    if planner_name is not None:
        values["planner"] = planner(planner_name).name
    if auto is not None:
        values["auto"] = auto
    settings = build(BalanceSettings, values)
    store.save_settings(BALANCE, values)
    return f"planner {settings.planner}, {'applies by itself' if settings.auto else 'not applied'}"


def rate(store: Store, rows_per_s: float | None, name: str | None, paused: bool | None) -> str:
    """Show or set what a generator sends."""
    found = [w for w in store.workloads() if name is None or w.name == name]
    if not found:
        raise NotFound("there is no such load generator")
    workload = found[0]
    if rows_per_s is not None:
        if rows_per_s < 0:
            raise InvalidInput("a rate is not negative", field="rows_per_s")
        workload = replace(workload, rows_per_s=rows_per_s, ramp_rows_per_s2=0.0, paused=False)
    if paused is not None:
        workload = replace(workload, paused=paused)
    if workload != found[0]:
        store.set_workload(workload)
    state = "paused" if workload.paused else f"{workload.rows_per_s:,.0f} rows/s"
    return f"{workload.name}: {state}"


def status(store: Store, console: Console) -> None:
    """Print clusters, operators and parts."""
    now = time.time()
    snapshot = Snapshot.of(store.latest(), now)
    clusters = Table(
        "cluster", "load", "executors", "wanted", "limits", "data age", title="Clusters"
    )
    for c in snapshot.clusters:
        clusters.add_row(
            c.name,
            f"{snapshot.load(c.name):.0%}",
            str(c.executors),
            str(c.executors_wanted),
            f"{c.min_executors}-{c.max_executors}",
            f"{c.heartbeat_age_s:.1f} s",
        )
    operators = Table(
        "operator", "cluster", "status", "in rows/s", "out rows/s", "queue", "latency",
        title="Operators",
    )  # fmt: skip
    for o in snapshot.operators:
        latency = "-" if o.latency_s is None else f"{o.latency_s:.1f} s"
        queue = "-" if o.queue_rows is None else f"{o.queue_rows:,}"
        operators.add_row(
            o.name, o.cluster, str(o.status), f"{o.arrival_rows_per_s:,.0f}",
            f"{o.processed_rows_per_s:,.0f}", queue, latency,
        )  # fmt: skip
    parts = Table("part", "name", "last sign of life", "", title="Parts")
    for p in store.parts():
        parts.add_row(p.kind, p.name, f"{now - p.at:.1f} s ago", p.detail)
    for table in (clusters, operators, parts):
        console.print(table)


def _me() -> str:
    return f"command line/{getpass.getuser()}"


def _send(store: Store, cluster: str, action: Action) -> CommandResult:
    now = time.time()
    command = Command(
        id=uuid.uuid4().hex,
        cluster=cluster,
        action=action,
        issued_at=now,
        expires_at=now + EXPIRES_AFTER_S,
        by=_me(),
    )
    store.submit(command)
    console = Console(stderr=True)
    with console.status(f"{cluster}: {describe(action)}") as line:
        while True:
            found = store.command(command.id)
            result = found[1] if found else None
            if result and result.status.final:
                return result
            if result and result.message:
                line.update(f"{cluster}: {result.message}")
            pending = result is None or result.status is CommandStatus.PENDING
            if pending and time.time() > command.expires_at + 2.0:
                raise Unavailable(
                    f"the agent of {cluster} does not answer; the command has expired"
                )
            time.sleep(0.2)
