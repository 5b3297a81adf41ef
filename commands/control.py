"""`status`, `rate`, `scale` and `operator`: the page's buttons on the command line."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from weir.commands.terminal import cell, plain
from weir.commands.trail import request
from weir.controllers import service
from weir.controllers.balancing.base import planner
from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.ports import Commands, Store
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.engine.skipped import merge_skips, skip_words
from weir.controllers.model.command import Command, CommandResult, CommandStatus, describe
from weir.controllers.model.errors import InvalidInput, NotFound, Refused, Unavailable
from weir.controllers.model.placement import LEADER
from weir.controllers.model.sample import Mode
from weir.controllers.model.settings import build
from weir.controllers.model.snapshot import Snapshot

LEADERLESS_S = 20.0  # longer than a standby needs to take over


def scale(store: Store, cluster: str, executors: int, comment: str = "") -> CommandResult:
    """Bring a cluster to a number of executors."""
    asked = _approve(service.scale(store, request(comment), cluster, executors))
    with Console(stderr=True).status(f"{cluster}: scale to {executors}") as line:
        for found in _follow(store, asked):
            told = store.command(found.id)
            line.update(f"{cluster}: {told[1].message if told else found.status}")
    last = found.history[-1]
    status = CommandStatus.DONE if found.applied_at else CommandStatus.FAILED
    return CommandResult(id=found.id, status=status, at=last.at, message=_outcome(found))


def operator(store: Store, verb: str, name: str, comment: str = "") -> CommandResult:
    """Start, stop or restart an operator where it is placed."""
    return _answer(store, service.tell_operator(store, request(comment), verb, name))


def move(store: Store, operator_name: str, cluster: str, comment: str = "") -> Rebalance:
    """Move one operator to another cluster and wait until it commits there."""
    asked = _approve(service.move(store, request(comment), operator_name, cluster))
    made: Rebalance | None = None
    with Console(stderr=True).status(f"moving {operator_name} to {cluster}") as line:
        for found in _follow(store, asked):
            made = next((r for r in store.rebalances() if r.id == asked.id), None)
            where = made.moves[0].step if made else found.status
            line.update(f"moving {operator_name} to {cluster}: {where}")
    made = next((r for r in store.rebalances() if r.id == asked.id), None)
    if made is None:
        raise Refused(_outcome(found))
    return made


def balance(store: Store, planner_name: str | None) -> str:
    """Show or set which planner the engine follows."""
    if planner_name is not None:
        service.set_settings(store, request(), BALANCE, {"planner": planner(planner_name).name})
    settings = build(BalanceSettings, store.settings(BALANCE))
    modes = store.modes()
    said = ", ".join(f"{c} {modes.get(c, Mode.APPROVE).value}" for c in store.clusters())
    return f"planner {settings.planner}; modes: {said or 'no cluster yet'}"


def rate(
    store: Store,
    rows_per_s: float | None,
    name: str | None,
    paused: bool | None,
    comment: str = "",
    skew: float | None = None,
    profile: Mapping[str, Any] | None = None,
) -> str:
    """Show or set what a generator sends."""
    found = [w for w in store.workloads() if name is None or w.name == name]
    if not found:
        raise NotFound("there is no such load generator")
    workload = service.set_rate(
        store, request(comment), found[0].name, rows_per_s, paused, skew, profile
    )
    return f"{workload.name}: {service.workload_words(workload)}"


def read_csv(path: Path) -> bytes:
    """A trace as it is in its file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror})", field="trace") from None


def status(store: Store, console: Console) -> None:
    """Print clusters, operators and parts."""
    now = time.time()
    snapshot = Snapshot.of(store.latest(), now)
    clusters = Table(
        "cluster", "load", "executors", "wanted", "limits", "data age", title="Clusters"
    )
    for c in snapshot.clusters:
        clusters.add_row(
            cell(c.name),
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
            cell(o.name), cell(o.cluster), str(o.status), f"{o.arrival_rows_per_s:,.0f}",
            f"{o.processed_rows_per_s:,.0f}", queue, latency,
        )  # fmt: skip
    parts = Table("part", "name", "last sign of life", "", title="Parts")
    for p in store.parts():
        seen = f"{now - p.at:.1f} s ago"
        parts.add_row(*map(cell, (p.kind, p.name, seen, p.detail)))
    for table in (clusters, operators, parts):
        console.print(table)
    for skip in merge_skips([store.skipped(), *(p.skipped for p in store.parts())]):
        since = time.strftime("%H:%M:%S", time.localtime(skip.since))
        said = plain(f"since {since} {skip_words(skip)}")
        console.print(said, style="yellow", markup=False)


def add(store: Store, cluster: str, comment: str = "") -> str:
    """Ask for one more cluster."""
    service.add_cluster(store, request(comment), cluster)
    return f"{cluster} is ordered; `weir status` shows it once it reports"


def end(store: Store, cluster: str, comment: str = "") -> str:
    """Let a cluster be emptied and ended."""
    order = service.end_cluster(store, request(comment), cluster)
    return f"{cluster} is {order.wanted.value}; it ends once nothing is placed there"


def forget(store: Store, cluster: str, comment: str = "") -> str:
    """Remove a cluster that is gone for good."""
    service.forget_cluster(store, request(comment), cluster)
    return f"{cluster} is forgotten"


def _approve(asked: Recommendation) -> Recommendation:
    if asked.status is Status.PROPOSED:
        raise Refused(f"{asked.id} waits for somebody else to approve it")
    return asked


def _follow(store: Store, asked: Recommendation) -> Iterator[Recommendation]:
    """The recommendation as it goes on, until it is applied or has ended."""
    led_at = time.monotonic()
    while True:
        found = store.recommendation(asked.id) or asked
        yield found
        if found.status.final or found.applied_at is not None:
            return
        if store.lease(LEADER) is not None:
            led_at = time.monotonic()
        elif time.monotonic() - led_at > LEADERLESS_S:
            raise Unavailable(
                f"no engine leads any more; {asked.id} is {found.status} and goes on with the next"
            )
        time.sleep(0.2)


def _outcome(found: Recommendation) -> str:
    last = found.history[-1]
    return last.why or str(found.status)


def _answer(store: Commands, command: Command) -> CommandResult:
    """What becomes of a command; progress goes to the terminal."""
    cluster, console = command.cluster, Console(stderr=True)
    with console.status(f"{cluster}: {describe(command.action)}") as line:
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
