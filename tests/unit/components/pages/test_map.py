"""The map of operators on clusters: every operator once, every flow from its true source."""

import random

from msgspec.structs import replace

from tests.support.models import ClusterModel, demo, many, sample_of, sliced
from tests.support.world import demo_world, narrow, wide
from weir.components.live.world import World, world_of
from weir.components.pages.control_room.map import (
    MOST_CLUSTERS,
    MOST_OPERATORS,
    drawable,
    flow_map,
    flow_order,
    map_changes,
    ranks,
)
from weir.components.ui.surface import Surface, draw_on
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.model.decision import Move
from weir.controllers.model.sample import OperatorSample

AT = 1_800_000_000.0
DEMO_FLOWS = {
    ("tweets", "extractor", "tweets"),
    ("extractor", "topic_count", "topics"),
    ("topic_count", "top_n", "counts"),
}


def world_with(models: list[ClusterModel], at: float = AT) -> World:
    rng = random.Random(1)
    series = {m.name: [sample_of(m, 400.0, at, 2.0, rng)] for m in models}
    return world_of(series, at=at)


def flows(drawn) -> set[tuple[str, str, str]]:
    return {(e["source"], e["target"], e["dataset"]) for e in drawn["edges"]}


def test_it_follows_the_data():
    snapshot = demo_world().snapshot
    assert flow_order(snapshot) == ["wide", "narrow"]
    assert ranks(snapshot) == {"extractor": 0, "topic_count": 1, "top_n": 2}
    assert list(flow_map(demo_world())["clusters"]) == ["wide", "narrow"]


def test_after_a_move_the_flows_are_the_same_and_only_the_place_is_another():
    before = flow_map(world_with(demo()))
    there, here = demo()
    there.operators.append(here.operators.pop())
    after = flow_map(world_with([there, here]))
    assert flows(before) == flows(after) == DEMO_FLOWS
    assert before["operators"]["top_n"]["cluster"] == "narrow"
    assert after["operators"]["top_n"]["cluster"] == "wide"
    assert map_changes(before, after) is None, "it has to be laid out anew"


def test_an_operator_that_nobody_reports_keeps_its_flows():
    """While topic_count is on its way neither cluster tells of it."""
    samples = [narrow(AT, 0), replace(narrow(AT + 2, 1), operators=narrow(AT, 0).operators[1:])]
    move = Move(operator="topic_count", source="narrow", target="wide")
    going = Rebalance(id="r", at=AT, by="a", moves=(MoveState(move=move, step=MoveStep.RELEASING),))
    world = world_of({"narrow": samples, "wide": [wide(AT + 2)]}, at=AT + 2, rebalances=[going])
    drawn = flow_map(world)
    assert drawn["operators"]["topic_count"]["moving"] == "wide"
    assert flows(drawn) == DEMO_FLOWS, "it is still what feeds top_n"


def test_a_loop_ends_and_is_drawn():
    sample = narrow(AT, 0)
    first, second = sample.operators
    loop = (
        replace(first, reads=("b",), writes=("a",)),
        replace(second, reads=("a",), writes=("b",)),
    )
    world = world_of({"narrow": [replace(sample, operators=loop)]}, at=AT)
    assert set(ranks(world.snapshot)) == {"topic_count", "top_n"}
    assert flows(flow_map(world)) == {
        ("top_n", "topic_count", "b"),
        ("topic_count", "top_n", "a"),
    }


def test_fan_out_is_an_edge_to_each_reader():
    drawn = flow_map(demo_world(extra_operator=True))
    readers = {e["target"] for e in drawn["edges"] if e["dataset"] == "counts"}
    assert readers == {"top_n", "audit"}


def test_slices_name_their_operator_and_their_own_flows():
    drawn = flow_map(world_with(sliced()))
    slices = {n: o["cluster"] for n, o in drawn["operators"].items() if o["of"] == "topic_count"}
    assert slices == {
        "topic_count.0": "narrow", "topic_count.1": "narrow", "topic_count.2": "wide",
    }  # fmt: skip
    assert {("extractor", n, "topics") for n in slices} <= flows(drawn)
    assert {(n, "top_n", "counts") for n in slices} <= flows(drawn)


def test_three_hundred_operators_are_all_there_and_more_than_can_be_read_are_not_drawn():
    world = world_with(many(10, 30))
    drawn = flow_map(world)
    assert len(drawn["operators"]) == 300
    assert len(drawn["edges"]) == 300
    assert drawable(world.snapshot)
    assert not drawable(world_with(many(MOST_CLUSTERS + 1, 1)).snapshot)
    assert not drawable(world_with(many(2, MOST_OPERATORS // 2 + 1)).snapshot)


def test_only_figures_that_changed_are_sent_while_the_shape_stays():
    world = demo_world()
    later = demo_world(periods=6)
    changes = map_changes(flow_map(world), flow_map(later))
    assert changes is not None
    assert set(changes["operators"]) == {"topic_count"}, "its queue has grown"
    assert changes["edges"] == []


def test_a_silent_cluster_says_so_of_its_operators():
    old = flow_map(demo_world(late_s=60.0))
    assert {o["status"] for o in old["operators"].values()} == {"no report"}


def test_shares_are_of_the_clusters_cores():
    sample = wide(AT)
    busy = OperatorSample(name="extractor", cluster="wide", load=1.8, busy_cores=1.5, queue_rows=7)
    found = flow_map(world_of({"wide": [replace(sample, operators=(busy,))]}, at=AT))
    shown = found["operators"]["extractor"]
    assert (shown["busy"], shown["waiting"], shown["queue"]) == (0.5, 0.1, 7.0)


def test_a_replay_takes_no_moves():
    world = demo_world()
    assert all(c["takes"] for c in flow_map(world)["clusters"].values())
    with draw_on(Surface("r", AT)):
        then = flow_map(world)
    assert not any(c["takes"] for c in then["clusters"].values())
    assert then["operators"]["top_n"]["href"].startswith("/replay/r/")
