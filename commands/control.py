"""`status`, `rate`, `scale` and `operator`: the page's buttons on the command line."""

import time
import uuid
from collections.abc import Iterator

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from weir.commands.trail import me
from weir.controllers.balancing.base import planner
from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings
from weir.controllers.engine.propose.scaling import by_hand
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.engine.skipped import merged_skips, skip_words
from weir.controllers.model.command import CommandResult, CommandStatus, describe
from weir.controllers.model.decision import Move, Moves, Reason, Scale
from weir.controllers.model.errors import InvalidInput, NotFound, Refused, Unavailable
from weir.controllers.model.settings import build
from weir.controllers.model.snapshot import Mode, Snapshot
from weir.controllers.service import operating
from weir.controllers.service import recommendations as people
from weir.controllers.service.operating import VERBS
from weir.metrics.agent.commands import LEADER

EXPIRES_AFTER_S = 30.0
LEADERLESS_S = 20.0  # longer than a standby needs to take over


def scale(store: Store, cluster: str, executors: int, comment: str = "") -> CommandResult:
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
    decision = by_hand(snapshot, cluster, executors)
    asked = _ask(store, decision, comment)
    with Console(stderr=True).status(f"{cluster}: scale to {executors}") as line:
        for found in _followed(store, asked):
            told = store.command(found.id)
            line.update(f"{cluster}: {told[1].message if told else found.status}")
    last = found.history[-1]
    status = CommandStatus.DONE if found.applied_at else CommandStatus.FAILED
    return CommandResult(id=found.id, status=status, at=last.at, message=_outcome(found))


def operator(store: Store, verb: str, name: str, comment: str = "") -> CommandResult:
    """Start, stop or restart an operator where it is placed."""
    if verb not in VERBS:
        raise InvalidInput(f"'{verb}' is not one of {', '.join(VERBS)}", field="verb")
    placed = store.placements().get(name)
    if placed is None:
        names = ", ".join(sorted(store.placements())) or "none"
        raise NotFound(f"there is no operator '{name}'; known: {names}")
    return _send(store, placed.cluster, VERBS[verb](operator=name), comment)


def move(store: Store, operator_name: str, cluster: str, comment: str = "") -> Rebalance:
    """Move one operator to another cluster and wait until it commits there."""
    placed = store.placements().get(operator_name)
    if placed is None:
        names = ", ".join(sorted(store.placements())) or "none"
        raise NotFound(f"there is no operator '{operator_name}'; known: {names}")
    if placed.cluster == cluster:
        raise InvalidInput(f"{operator_name} is in {cluster} already", field="cluster")
    step = Move(operator=operator_name, source=placed.cluster, target=cluster)
    asked = _ask(store, Moves(moves=(step,), reason=Reason(text="Chosen by hand.")), comment)
    made: Rebalance | None = None
    with Console(stderr=True).status(f"moving {operator_name} to {cluster}") as line:
        for found in _followed(store, asked):
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
        people.set_settings(
            store, BALANCE, {"planner": planner(planner_name).name}, by=me(), now=time.time()
        )
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
) -> str:
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
    operating.steer(store, found[0], workload, by=me(), now=time.time(), comment=comment)
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
    for skip in merged_skips([store.skipped(), *(p.skipped for p in store.parts())]):
        since = time.strftime("%H:%M:%S", time.localtime(skip.since))
        console.print(f"since {since} {skip_words(skip)}", style="yellow", markup=False)


def need_engine(store: Store) -> None:
    """Say so if nobody would carry anything out."""
    if store.lease(LEADER) is None:
        raise Unavailable("no engine leads, so nobody would carry it out; start `weir engine`")


def _ask(store: Store, decision: Scale | Moves, comment: str) -> Recommendation:
    need_engine(store)
    asked = people.propose_by_hand(store, decision, by=me(), now=time.time(), comment=comment)
    if asked.status is Status.PROPOSED:
        raise Refused(f"{asked.id} waits for somebody else to approve it")
    return asked


def _followed(store: Store, asked: Recommendation) -> Iterator[Recommendation]:
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


def _send(store: Store, cluster: str, action: operating.Told, comment: str) -> CommandResult:
    command = operating.tell(
        store, cluster, action, id=uuid.uuid4().hex, by=me(), now=time.time(),
        expires_after_s=EXPIRES_AFTER_S, comment=comment,
    )  # fmt: skip
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
