"""What a page is made of, as data: charts, figures, regions and structure.

The structure is everything whose change needs the page to be drawn again, e.g.
a new operator. All else is replaced in place.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from components import ids
from components.view import balance, commands, live
from components.view.charts import (
    Chart,
    charts_of,
    cluster_page_charts,
    operator_charts,
    points,
    spec,
)
from components.view.digest import digest
from components.view.health import PartHealth, health
from components.view.map import flow_map
from components.view.matrices import matrices
from components.view.path import Place
from components.view.rebalances import events, rebalance_rows
from components.view.world import World, samples_of_operator
from controllers.model.snapshot import Cluster

WINDOW_S = 15 * 60.0


class Page(Struct, frozen=True, kw_only=True):
    """One page at one moment."""

    place: Place
    kind: str  # the page to draw: the place's kind, or why it cannot be drawn
    structure: str
    clusters: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    figures: live.Figures = {}
    map: dict[str, Any] | None = None
    balance: dict[str, Any] | None = None  # correlations, and marks on the load distance

    def regions(self, world: World) -> dict[str, Any]:
        """The data of the panels that are sent whole when they change."""
        found: dict[str, Any] = {ids.HEALTH: _settled(health(world))}
        if self.kind == "control_room":
            found[ids.COMMANDS] = commands.rows(world)
        elif self.kind == "cluster":
            found[ids.COMMANDS] = commands.rows(world, cluster=self.place.name)
            sample = world.newest(self.place.name)
            found[ids.EXECUTORS] = sample.executors if sample else ()
        elif self.kind == "operator":
            found[ids.COMMANDS] = commands.rows(world, operator=self.place.name)
        elif self.kind == "balance":
            found[ids.BALANCE_NOTE] = balance.note(world)
            found[ids.REBALANCES] = rebalance_rows(world)
        return found

    def first_points(self, world: World) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every chart with the points of the last 15 minutes."""
        since = world.at - WINDOW_S
        if self.kind == "balance":
            yield spec(balance.CHART), balance.distance_points(world.outlook, round(since * 1000))
            return
        for chart in self.charts:
            samples = (
                samples_of_operator(world, self.place.name)
                if self.kind == "operator"
                else world.series.get(chart.cluster, ())
            )
            yield spec(chart), points(chart, (s for s in samples if s.at >= since))


def page_of(world: World, place: Place) -> Page:
    """What to show at a place; a world without Redis or clusters has pages of its own."""
    if not world.ready:
        kind = "unreachable" if world.redis_down_since is not None else "loading"
        return _page(place, kind, world.redis_address)
    snapshot = world.snapshot
    match place.kind:
        case "control_room":
            return _control_room(world, place) if snapshot.clusters else _empty(world, place)
        case "balance":
            return _balance(world, place) if snapshot.clusters else _empty(world, place)
        case "cluster" if snapshot.cluster(place.name):
            return _cluster(world, place)
        case "operator" if snapshot.operator(place.name):
            return _operator(world, place)
        case "cluster" | "operator":
            known = [c.name for c in snapshot.clusters], [o.name for o in snapshot.operators]
            return _page(place, "unknown", known)
    return _page(place, "lost", place.name)


def _page(place: Place, kind: str, *facts: object, **parts: Any) -> Page:
    structure = digest([place.kind, place.name, kind, facts])
    return Page(place=place, kind=kind, structure=structure, **parts)


def _empty(world: World, place: Place) -> Page:
    return _page(place, "empty", world.redis_address, [w.name for w in world.workloads])


def _control_room(world: World, place: Place) -> Page:
    snapshot = world.snapshot
    figures = live.overview(world)
    charts = []
    for cluster in snapshot.clusters:
        figures |= live.cluster_figures(world, cluster)
        charts += charts_of(world, cluster.name)
    for operator in snapshot.operators:
        figures |= live.operator_brief(world, operator)
    for workload in world.workloads:
        figures |= live.workload_figures(workload)
    return _page(
        place,
        "control_room",
        [_cluster_facts(c) for c in snapshot.clusters],
        [(o.name, o.cluster) for o in snapshot.operators],
        [(w.name, w.paused) for w in world.workloads],
        clusters=tuple(c.name for c in snapshot.clusters),
        charts=tuple(charts),
        figures=figures,
        map=flow_map(world),
    )


def _balance(world: World, place: Place) -> Page:
    view, state = world.outlook, balance.state(world)
    if view is None or state != "ready":
        engine = any(p.state == "up" for p in health(world) if p.kind == "engine")
        return _page(place, f"balance_{state}", engine, [c.name for c in world.snapshot.clusters])
    return _page(
        place,
        "balance",
        balance.choices(world),
        [world.balance.planner, world.balance.auto],
        sorted(b.name for b in view.problem.bins),
        sorted(o.name for o in world.snapshot.operators),
        charts=(balance.CHART,),
        figures=balance.figures(world),
        balance={"matrices": matrices(world), "events": {balance.CHART.key: events(world)}},
    )


def _cluster(world: World, place: Place) -> Page:
    cluster = world.snapshot.cluster(place.name)
    assert cluster is not None
    operators = world.snapshot.operators_of(place.name)
    figures = live.cluster_figures(world, cluster)
    for operator in operators:
        figures |= live.operator_brief(world, operator)
    names = [o.name for o in operators]
    return _page(
        place,
        "cluster",
        _cluster_facts(cluster),
        names,
        clusters=(place.name,),
        charts=tuple(cluster_page_charts(place.name, names, world.target_latency_s)),
        figures=figures,
    )


def _operator(world: World, place: Place) -> Page:
    operator = world.snapshot.operator(place.name)
    assert operator is not None
    return _page(
        place,
        "operator",
        operator.cluster,
        operator.stateful,
        operator.reads,
        operator.writes,
        clusters=(operator.cluster,),
        charts=tuple(
            operator_charts(
                place.name, operator.cluster, world.target_latency_s, stateful=operator.stateful
            )
        ),
        figures=live.operator_figures(world, operator),
    )


def _cluster_facts(cluster: Cluster) -> list[Any]:
    return [
        cluster.name, cluster.can_scale, cluster.hosted, cluster.mode.value, cluster.ui_url,
        cluster.app_id, cluster.spark_version, cluster.cores_per_executor,
        cluster.min_executors, cluster.max_executors,
    ]  # fmt: skip


def _settled(parts: list[PartHealth]) -> list[PartHealth]:
    """Without the times of parts that are up: those change with every beat."""
    return [replace(p, at=None) if p.state == "up" else p for p in parts]
