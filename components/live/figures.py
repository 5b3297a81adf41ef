"""The figures of a page that change with every report, by key.

A page is drawn once with these values in elements marked `data-live="<key>"`;
afterwards only the values that changed are sent, and the browser replaces the
text and the state in place.
"""

from functools import lru_cache

from weir.components.live.charts import highest, total
from weir.components.live.deaths import death_of, death_words
from weir.components.live.world import World, once, stale
from weir.components.ui import text
from weir.components.ui.figure import Figure, Figures, State
from weir.controllers.engine.ports import Workload
from weir.controllers.model.profile import profile_words
from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus


def load_state(per_core: float | None) -> State:
    """Above 1 the cluster falls behind, above 0.8 it is near.

    >>> load_state(0.5), load_state(0.9), load_state(1.1)
    ('ok', 'warn', 'bad')
    """
    return limit_state(per_core, 1.0)


def limit_state(value: float | None, limit: float) -> State:
    """How a value stands to its limit; from 80 % on it is a warning."""
    if value is None:
        return ""
    return "bad" if value > limit else "warn" if value > 0.8 * limit else "ok"


@once
def overview(world: World) -> Figures:
    """The row of key figures over everything."""
    clusters = world.snapshot.clusters
    operators = world.snapshot.operators
    running = sum(o.status is OperatorStatus.RUNNING for o in operators)
    fresh = sum(not stale(world, c.name) for c in clusters)
    names = {o.name for o in operators}
    arriving = total(e.rows_per_s for e in world.snapshot.edges if e.source not in names)
    latency = highest(o.latency_s for o in operators)
    loads = [(world.snapshot.load(c.name), c.name) for c in clusters]
    top = max(loads, default=None)
    present = sum(c.executors for c in clusters)
    return {
        "all/clusters": Figure(f"{fresh} of {len(clusters)}", _all_or(fresh, len(clusters))),
        "all/operators": Figure(f"{running} of {len(operators)}", _all_or(running, len(operators))),
        "all/arriving": Figure(text.amount(arriving)),
        "all/load": Figure(text.load(top[0] if top else None), load_state(top[0] if top else None)),
        "all/load-where": Figure(f"highest, of {top[1]}" if top else "of its cores"),
        "all/latency": Figure(text.seconds(latency), limit_state(latency, world.target_latency_s)),
        "all/queue": Figure(text.amount(total(o.queue_rows for o in operators))),
        "all/executors": Figure(f"{present:,}"),
        "all/executors-most": Figure(
            f"of at most {sum(max(c.max_executors, c.executors) for c in clusters):,}"
        ),
    }


def cluster_figures(world: World, cluster: Cluster) -> Figures:
    """Present values beside a cluster's charts."""
    operators = world.snapshot.operators_of(cluster.name)
    load = world.snapshot.load(cluster.name)
    latency = highest(o.latency_s for o in operators)
    moving = cluster.executors != cluster.executors_wanted
    base = f"cluster/{cluster.name}"
    return {
        f"{base}/load": Figure(text.load(load), load_state(load)),
        f"{base}/latency": Figure(
            text.seconds(latency), limit_state(latency, world.target_latency_s)
        ),
        f"{base}/own-latency": Figure(text.seconds(highest(o.own_latency_s for o in operators))),
        f"{base}/queue": Figure(text.rows(total(o.queue_rows for o in operators))),
        f"{base}/throughput": Figure(text.rate(total(o.processed_rows_per_s for o in operators))),
        f"{base}/executors": Figure(
            f"{cluster.executors} of {cluster.executors_wanted}"
            if moving
            else text.plural(cluster.executors, "executor"),
            "warn" if moving else "",
        ),
        f"{base}/message": Figure(
            death_words(world, cluster.name)
            or " ".join(filter(None, (cluster.message, cut_text(cluster)))),
            "bad" if death_of(world, cluster.name) else "",
        ),
        f"{base}/load-by-operator": Figure(text.load(load), load_state(load)),
        f"{base}/capacity": Figure(text.plural(cluster.capacity, "core")),
        f"{base}/failed": Figure(text.amount(cluster.failed_tasks), _none_or(cluster.failed_tasks)),
        f"{base}/lost": Figure(
            text.amount(cluster.executors_lost), _none_or(cluster.executors_lost)
        ),
        f"{base}/dropped-events": Figure(
            text.amount(cluster.dropped_events), _none_or(cluster.dropped_events)
        ),
        f"{base}/dropped-samples": Figure(
            text.amount(cluster.dropped_samples), _none_or(cluster.dropped_samples)
        ),
    }


def cut_text(cluster: Cluster) -> str:
    """What of a cluster's report nobody reads, in a sentence; empty if all of it is read.

    >>> cut_text(Cluster(name="a", cut="200 operators"))
    'Its report is too large: 200 operators are left out.'
    """
    return f"Its report is too large: {cluster.cut} are left out." if cluster.cut else ""


_STATUS: dict[OperatorStatus, State] = {
    OperatorStatus.RUNNING: "ok",
    OperatorStatus.STARTING: "warn",
    OperatorStatus.RESTARTING: "warn",
    OperatorStatus.WAITING: "warn",
    OperatorStatus.STOPPED: "off",
    OperatorStatus.FAILED: "bad",
}


def operator_brief(world: World, operator: OperatorSample) -> Figures:
    """What a list of operators shows of each; the bar is its share of the cluster's cores."""
    cluster = world.snapshot.cluster(operator.cluster)
    return dict(_brief(operator, cluster.capacity if cluster else 1))


@lru_cache(maxsize=4096)
def _brief(operator: OperatorSample, capacity: int) -> Figures:
    """The same until its next report, however often pages are made in between."""
    share = operator.load / max(capacity, 1)
    fill = min(share, 1.0)
    base = f"operator/{operator.name}"
    return {
        f"{base}/status": Figure(operator.status.value, _STATUS[operator.status]),
        f"{base}/can": Figure("", "stopped" if idle(operator) else "running"),
        f"{base}/load": Figure(text.load(share), "", round(fill, 3)),
        f"{base}/queue": Figure(text.rows(operator.queue_rows)),
        f"{base}/arriving": Figure(text.rate(operator.arrival_rows_per_s)),
        f"{base}/processed": Figure(text.rate(operator.processed_rows_per_s)),
        f"{base}/latency": Figure(text.seconds(operator.latency_s)),
        f"{base}/message": Figure(operator.message),
    }


def operator_figures(world: World, operator: OperatorSample) -> Figures:
    """Everything about one operator."""
    base = f"operator/{operator.name}"
    target = world.target_latency_s
    cluster = world.snapshot.cluster(operator.cluster)
    busy = operator.busy_cores / max(cluster.capacity if cluster else 1, 1)
    return {
        **operator_brief(world, operator),
        f"{base}/rates": Figure(text.rate(operator.processed_rows_per_s)),
        f"{base}/latency": Figure(
            text.seconds(operator.latency_s), limit_state(operator.latency_s, target)
        ),
        f"{base}/latency-max": Figure(text.seconds(operator.latency_max_s)),
        f"{base}/batch": Figure(text.seconds(_both(operator.scheduling_s, operator.processing_s))),
        f"{base}/processing": Figure(text.seconds(operator.processing_s)),
        f"{base}/scheduling": Figure(text.seconds(operator.scheduling_s)),
        f"{base}/batch-id": Figure(
            text.NOTHING if operator.batch_id is None else f"{operator.batch_id:,}"
        ),
        f"{base}/batch-rows": Figure(text.rows(operator.batch_rows)),
        f"{base}/trigger": Figure(
            "as fast as possible" if not operator.trigger_s else text.seconds(operator.trigger_s)
        ),
        f"{base}/cost": Figure(text.cost(operator.cost_s_per_row)),
        f"{base}/busy": Figure(f"{text.load(busy)} of the cores"),
        f"{base}/state-rows": Figure(text.rows(operator.state_rows)),
        f"{base}/state": Figure(text.rows(operator.state_rows)),
        f"{base}/state-bytes": Figure(text.size(operator.state_bytes)),
        f"{base}/tasks": Figure(f"{text.amount(operator.tasks)} per period"),
        f"{base}/failed": Figure(
            text.amount(operator.failed_tasks), _none_or(operator.failed_tasks)
        ),
        f"{base}/skew": Figure(
            text.NOTHING if operator.skew is None else f"{operator.skew:.1f}",
            "" if operator.skew is None else "warn" if operator.skew > 3 else "ok",
        ),
        f"{base}/restarts": Figure(text.amount(operator.restarts), _none_or(operator.restarts)),
        f"{base}/lease": Figure(
            text.NOTHING if operator.lease_token is None else f"#{operator.lease_token}"
        ),
    }


def workload_figures(workload: Workload) -> Figures:
    """What a generator is asked for, in words."""
    asked = f"asked for {text.rate(workload.rows_per_s)}"
    if workload.paused:
        asked = f"paused, {asked}"
    elif shape := profile_words(workload.profile):
        asked += f", then {shape}" if workload.profile.kind != "trace" else f" on average, {shape}"
    if workload.skew is not None:
        asked += f"; skew of the keys {workload.skew:g}"
    return {
        f"workload/{workload.name}/asked": Figure(asked),
        f"workload/{workload.name}/rate": Figure(f"{workload.rows_per_s:.10g}"),
    }


def idle(operator: OperatorSample) -> bool:
    """Whether it would have to be started before it does anything."""
    return operator.status in (OperatorStatus.STOPPED, OperatorStatus.FAILED)


def _both(waited_s: float | None, took_s: float | None) -> float | None:
    """What the stacked chart of the two reaches up to."""
    return None if took_s is None else (waited_s or 0.0) + took_s


def _all_or(count: int, most: int) -> State:
    return "" if not most else "ok" if count == most else "bad"


def _none_or(count: int) -> State:
    return "warn" if count else ""
