"""View data: what is shown is what was measured."""

import pytest
from msgspec.structs import replace

from tests.support.world import demo_world
from weir.components.live import commands, health
from weir.components.live import figures as live
from weir.components.live.charts import cluster_charts, cluster_page_charts, operator_charts, points
from weir.components.live.world import samples_of_operator, stale, world_of
from weir.components.pages.control_room.render_workload import highest_rate
from weir.components.ui.figure import Figure
from weir.controllers.engine.ports import Part, Workload
from weir.controllers.model.errors import NotFound
from weir.controllers.model.sample import OperatorStatus


def test_overview_counts_only_what_comes_from_outside():
    figures = live.overview(demo_world())
    assert figures["all/arriving"].text == "200"
    assert figures["all/load"] == Figure("120 %", "bad")
    assert figures["all/load-where"].text == "highest, of narrow"
    assert figures["all/latency"].state == "bad"
    assert figures["all/operators"] == Figure("3 of 3", "ok")


def test_old_data_is_stale():
    assert not stale(demo_world(late_s=5.0), "wide")
    old = demo_world(late_s=7.0)
    assert stale(old, "wide")
    assert live.overview(old)["all/clusters"] == Figure("0 of 2", "bad")


def test_charts_of_a_cluster():
    world = demo_world(periods=3)
    charts = {c.key: points(c, world.series["narrow"]) for c in cluster_charts("narrow", 5.0)}
    assert charts["narrow/load"]["y"] == [[120.0] * 3, [97.0] * 3], "in per cent, as everywhere"
    assert charts["narrow/queue"]["y"] == [[0.0, 100.0, 200.0]]
    assert charts["narrow/latency"]["y"] == [[6.0] * 3, [9.0] * 3]
    assert charts["narrow/throughput"]["y"] == [[250.0] * 3, [200.0] * 3]
    assert charts["narrow/executors"]["y"] == [[1.0] * 3, [2.0] * 3]


def test_stacked_load_has_a_gap_where_an_operator_was_not_there():
    world = demo_world(periods=2)
    chart = cluster_page_charts("narrow", ["topic_count", "gone"], 5.0)[0]
    assert points(chart, world.series["narrow"])["y"] == [[110.0, 110.0], [None, None]]


def test_state_is_shown_only_of_stateful_operators():
    keys = [c.key for c in operator_charts("top_n", "narrow", 5.0, stateful=False)]
    assert "top_n/state" not in keys
    with_state = operator_charts("topic_count", "narrow", 5.0, stateful=True)
    assert with_state[-1].key == "topic_count/state"


def test_an_operators_past_follows_it_across_clusters():
    world = demo_world(periods=4)
    moved = []
    for i, sample in enumerate(world.series["narrow"]):
        status = OperatorStatus.RUNNING if i < 2 else OperatorStatus.STOPPED
        moved.append(replace(sample, operators=(replace(sample.operators[1], status=status),)))
    taken = [
        replace(s, operators=(*s.operators, replace(moved[0].operators[0], cluster="wide")))
        for s in world.series["wide"][2:]
    ]
    later = world_of({"narrow": moved, "wide": taken}, at=world.at)
    found = samples_of_operator(later, "top_n")
    assert [s.cluster.name for s in found] == ["narrow", "narrow", "wide", "wide"]


def test_health_names_the_silent_and_groups_the_web():
    parts = {p.id: p for p in health.health(demo_world())}
    assert parts["redis"].state == "up"
    assert parts["host:narrow"].state == "silent"
    assert parts["web"].detail == "2 workers up"
    assert health.overall(demo_world()) == "degraded"


def test_without_redis_the_others_are_unknown():
    world = replace(demo_world(), redis_down_since=1.0)
    states = {p.id: p.state for p in health.health(world)}
    assert states["redis"] == "down"
    assert states["engine"] == "unknown"
    assert health.health_json(world)["redis"]["up"] is False


def test_an_engine_that_never_reported_is_said():
    parts = [Part(id="web:1", kind="web", name="1", at=1.0)]
    states = {p.id: p.state for p in health.health(world_of({}, at=1.0, parts=parts))}
    assert states["engine"] == "unseen"


def test_a_part_that_said_good_bye_is_down():
    part = Part(id="engine", kind="engine", name="engine", at=9.9, status="stopped")
    assert health.part_state(part, 10.0) == "down"


@pytest.mark.parametrize(
    "verb",
    ["scale", "start", "stop", "restart"],
)
def test_every_verb_asks(verb):
    asked = commands.question(demo_world(), verb, "narrow", "top_n")
    assert asked.text
    assert asked.confirm
    assert asked.danger == (verb == "stop")


def test_a_dialog_about_a_silent_cluster_warns():
    asked = commands.question(demo_world(late_s=60), "scale", "wide")
    assert "sent no data lately" in asked.warning
    assert (asked.least, asked.most, asked.executors) == (1, 6, 3)


def test_what_is_gone_or_missing_is_refused():
    with pytest.raises(NotFound):
        commands.question(demo_world(), "scale", "elsewhere")
    with pytest.raises(NotFound):
        commands.question(demo_world(), "stop", "wide", "nobody")


def test_scaling_in_words():
    assert "nothing would change" in commands.scale_text(2, 2, 1, "a")
    assert "gives 1 executor back: 3 now, 2 then, 2 cores" in commands.scale_text(3, 2, 1, "a")


def test_commands_of_one_cluster_only():
    world = demo_world()
    assert [r.what for r in commands.rows(world)] == ["scale to 4 executors"]
    assert commands.rows(world, cluster="narrow") == []
    assert commands.rows(world, operator="top_n") == []


@pytest.mark.parametrize(("rate", "most"), [(0, 100), (40, 200), (200, 800), (1500, 6000)])
def test_slider_leaves_room_above(rate, most):
    assert highest_rate(Workload(name="w", rows_per_s=rate)) == most
