"""What a page is made of, as data: charts, figures, regions and structure.

The structure is everything whose change needs the page to be drawn again, e.g.
a new operator. All else is replaced in place.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weir.components.live import commands, markers
from weir.components.live import figures as live
from weir.components.live.charts import (
    Chart,
    charts_of,
    cluster_page_charts,
    operator_charts,
    points,
    spec,
)
from weir.components.live.digest import digest
from weir.components.live.health import PartHealth, health, together
from weir.components.live.world import World, samples_of_operator
from weir.components.pages.balance import view as balance
from weir.components.pages.balance.matrices import matrices
from weir.components.pages.balance.rebalances import events, rebalance_rows
from weir.components.pages.control_room import attention, inbox
from weir.components.pages.control_room.map import flow_map, flow_order
from weir.components.pages.control_room.modes import mode_figures
from weir.components.pages.recommendation import view as recommended
from weir.components.pages.scale import chart as scale_chart
from weir.components.pages.scale import qtable
from weir.components.pages.scale import view as scale
from weir.components.pages.scale.note import note as scaling_note
from weir.components.ui import ids
from weir.components.ui.path import Place
from weir.controllers.model.snapshot import Cluster

WINDOW_S = 15 * 60.0


class Page(Struct, frozen=True, kw_only=True):
    """One page at one moment."""

    place: Place
    kind: str  # the page to draw: the place's kind, or why it cannot be drawn
    structure: str
    clusters: tuple[str, ...] = ()  # whose reports it shows
    in_full: tuple[str, ...] = ()  # those of them that have a card, on the control room
    charts: tuple[Chart, ...] = ()
    figures: live.Figures = {}
    map: dict[str, Any] | None = None
    overview: list[dict[str, str]] | None = None  # a tile of each cluster, on a large control room
    balance: dict[str, Any] | None = None  # correlations, and marks on the load distance
    scale: dict[str, Any] | None = None  # Q-table, learning curve, queueing model
    events: dict[str, Any] | None = None  # marks on the series of each cluster
    span: tuple[float, float] | None = None  # the time shown, where it is not the present

    def regions(self, world: World) -> dict[str, Any]:
        """The data of the panels that are sent whole when they change."""
        found: dict[str, Any] = {
            ids.HEALTH: _settled(together(health(world))),
            ids.PAUSE: world.control.paused,
        }
        if self.kind == "control_room":
            found[ids.INBOX] = inbox.inbox(world)
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
        elif self.kind == "scale":
            found[ids.SCALE_NOTE] = scaling_note(world, self.place.name)
            found[ids.COMMANDS] = commands.rows(world, cluster=self.place.name)
            found[ids.LEARNER] = qtable.learner_text(qtable.learner(world, self.place.name))
        elif self.kind == "recommendation":
            known = world.control.recommendation(self.place.name)
            found[ids.RECOMMENDATION] = recommended.detail(world, known) if known else None
        return found

    def first_points(self, world: World) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every chart with the points of the last 15 minutes."""
        since = self.span[0] if self.span else world.at - WINDOW_S
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


def page_of(world: World, place: Place, drawn: str = "") -> Page:
    """What to show at a place; a world without Redis or clusters has pages of its own.

    `drawn`: the structure of the page as a tab has it.
    """
    if place.kind == "history":  # runs lie on disk: they need neither Redis nor clusters
        return _page(place, "history")
    if not world.ready:
        kind = "unreachable" if world.redis_down_since is not None else "loading"
        return _page(place, kind, world.redis_address)
    snapshot = world.snapshot
    match place.kind:
        case "control_room":
            if not snapshot.clusters:
                return _empty(world, place)
            if attention.large(snapshot):
                return _large_control_room(world, place, drawn)
            return _control_room(world, place)
        case "balance":
            return _balance(world, place) if snapshot.clusters else _empty(world, place)
        case "cluster" if snapshot.cluster(place.name):
            return _cluster(world, place)
        case "operator" if snapshot.operator(place.name):
            return _operator(world, place)
        case "scale" if not place.name or snapshot.cluster(place.name):
            return _scale(world, place) if snapshot.clusters else _empty(world, place)
        case "recommendation":
            return _recommendation(world, place)
        case "users":
            return _page(place, "users")
        case "audit" | "settings":
            return _page(place, place.kind, [c.name for c in snapshot.clusters])
        case "cluster" | "operator" | "scale":
            known = [c.name for c in snapshot.clusters], [o.name for o in snapshot.operators]
            return _page(place, "unknown", known)
    return _page(place, "lost", place.name)


def _page(place: Place, kind: str, *facts: object, **parts: Any) -> Page:
    structure = digest([place.kind, place.name, kind, facts])
    return Page(place=place, kind=kind, structure=structure, **parts)


def _empty(world: World, place: Place) -> Page:
    return _page(place, "empty", world.redis_address, [w.name for w in world.workloads])


def _control_room(world: World, place: Place) -> Page:
    """Everything: each cluster with its operators, and the map."""
    snapshot = world.snapshot
    names = tuple(flow_order(snapshot))
    figures, charts = _cards(world, names)
    for operator in snapshot.operators:
        figures |= live.operator_brief(world, operator)
    return _page(
        place,
        "control_room",
        [_cluster_facts(c) for c in snapshot.clusters],
        [(o.name, o.cluster) for o in snapshot.operators],
        [(w.name, w.paused, world.control.settings.comment_required) for w in world.workloads],
        clusters=tuple(c.name for c in snapshot.clusters),
        in_full=names,
        charts=charts,
        figures=figures,
        map=flow_map(world),
        events=markers.events(world, names),
    )


def _large_control_room(world: World, place: Place, drawn: str) -> Page:
    """Of many clusters: a tile of each, and in full those that need attention most.

    What it costs a browser must not grow with the number of clusters: every component is
    looked at with every message.
    """
    snapshot = world.snapshot
    found = attention.attention(world)
    shown = attention.kept(drawn, snapshot) or attention.chosen(found)
    figures, charts = _cards(world, shown)
    figures |= attention.tile_figures(world) | attention.attention_figures(found, shown)
    figures |= inbox.present(world)
    page = _page(
        place,
        "control_room",
        [c.name for c in snapshot.clusters],
        [_cluster_facts(c) for name in shown if (c := snapshot.cluster(name))],
        [(name, len(snapshot.operators_of(name))) for name in shown],
        [(w.name, w.paused, world.control.settings.comment_required) for w in world.workloads],
        clusters=tuple(c.name for c in snapshot.clusters),
        in_full=shown,
        charts=charts,
        figures=figures,
        overview=attention.tiles(world),
        events=markers.events(world, shown),
    )
    return replace(page, structure=attention.marked(page.structure, snapshot, shown))


def _cards(world: World, names: Sequence[str]) -> tuple[live.Figures, tuple[Chart, ...]]:
    """Figures and charts of some clusters, with the figures over everything."""
    figures, charts = dict(live.overview(world)), list[Chart]()
    for name in names:
        if cluster := world.snapshot.cluster(name):
            figures |= live.cluster_figures(world, cluster)
            charts += charts_of(world, name)
    for workload in world.workloads:
        figures |= live.workload_figures(workload)
    return figures | mode_figures(world, names), tuple(charts)


def _balance(world: World, place: Place) -> Page:
    view, state = world.outlook, balance.state(world)
    if view is None or state != "ready":
        engine = any(p.state == "up" for p in health(world) if p.kind == "engine")
        return _page(place, f"balance_{state}", engine, [c.name for c in world.snapshot.clusters])
    return _page(
        place,
        "balance",
        balance.choices(world),
        [world.balance.planner, balance.alone(world)],
        sorted(b.name for b in view.problem.bins),
        sorted(o.name for o in world.snapshot.operators),
        charts=(balance.CHART,),
        figures=balance.figures(world),
        balance={"matrices": matrices(world), "events": {balance.CHART.key: events(world)}},
    )


def _scale(world: World, place: Place) -> Page:
    snapshot = world.snapshot
    cluster = snapshot.cluster(place.name)
    names = [c.name for c in snapshot.clusters]
    if cluster is None:
        figures: live.Figures = {}
        for one in snapshot.clusters:
            figures |= scale.brief(world, one)
        return _page(place, "scale_choice", names, figures=figures)
    view, learner = scale.outlook_of(world, place.name), qtable.learner(world, place.name)
    chart = scale_chart.steps_chart(place.name, world.target_latency_s)
    figures = scale.figures(world, cluster)
    figures[f"scale/{place.name}/error"] = live.Figure(scale_chart.error_text(view))
    return _page(
        place,
        "scale",
        names,
        [cluster.can_scale, cluster.min_executors, cluster.max_executors],
        [learner.space.bins, world.control.settings.comment_required],
        clusters=(place.name,),
        charts=(chart,),
        figures=figures,
        scale={
            "qtable": qtable.heatmap(learner),
            "curve": qtable.curve(learner),
            "sojourn": scale_chart.sojourn(view),
        },
        events=markers.events(world, (place.name,)),
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
        figures=figures | mode_figures(world, names=[place.name]),
        events=markers.events(world, [place.name]),
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
        events=markers.events(world, [operator.cluster], place.name),
    )


def _recommendation(world: World, place: Place) -> Page:
    """Drawn again with every step of its life; one that only Redis knows stays as it is."""
    found = world.control.recommendation(place.name)
    held = any(r.id == place.name for r in world.control.recommendations)
    if found is None:
        return _page(place, "recommendation", held, [])
    first, last = recommended.span(found)
    figures: live.Figures = {}
    for name in found.clusters:
        if cluster := world.snapshot.cluster(name):
            figures |= live.cluster_figures(world, cluster)
    return _page(
        place,
        "recommendation",
        held,
        [found.status] if held else [],
        clusters=found.clusters if world.at - first < WINDOW_S else (),
        charts=tuple(recommended.charts(world, found)),
        figures=figures,
        events=markers.events(world, found.clusters),
        span=(first, last),
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
