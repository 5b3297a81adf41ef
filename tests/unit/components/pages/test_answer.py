"""The first screen's answer: is all well, what is slow and why, what next."""

from msgspec.structs import replace

from tests.support.world import demo_world
from tests.unit.components.pages.controls import control_world, recommendation
from weir.components.live.control import Control
from weir.components.live.world import World, world_of
from weir.components.pages.control_room.answer import answer
from weir.components.pages.control_room.render_answer import answer_body
from weir.components.ui.trees import as_json
from weir.controllers.engine.ports import Part
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample, OperatorStatus
from weir.controllers.service import Paused

AT = 1_800_000_000.0


def calm(**figures) -> World:
    operator = OperatorSample(
        name="count", cluster="a",
        **{"latency_p50_s": 2.0, "processing_s": 0.5, "scheduling_s": 1.0, "load": 0.4,
           "trigger_s": 2.0, **figures},
    )  # fmt: skip
    sample = ClusterSample(
        at=AT, period_s=2.0, cluster=Cluster(name="a", executors=1), operators=(operator,)
    )
    parts = [Part(id="engine", kind="engine", name="engine", at=AT)]
    return world_of({"a": [sample]}, at=AT + 1.0, parts=parts)


def test_all_is_well_says_how_much_room_there_is():
    found = answer(calm())
    assert found.state == "ok"
    assert not found.troubles
    assert found.said == (
        "All is well: 1 operator on 1 cluster keeps up; the slowest takes 2.0 s, "
        "within its target of 5 s."
    )
    assert found.bottleneck.startswith("Slowest and busiest is count at 2.0 s: its rows wait 1.0 s")
    assert not found.next


def test_troubles_come_worst_first_and_lead_to_their_page():
    found = answer(demo_world())
    assert found.state == "bad"
    assert [t.path for t in found.troubles] == ["/cluster/narrow", "/operator/topic_count"]
    assert "120 %" in found.troubles[0].text
    assert found.troubles[1].text == "topic_count takes 6.0 s, over its target of 5 s."
    assert found.said == "2 things need attention."
    assert found.bottleneck.startswith(
        "Slowest and busiest is topic_count at 6.0 s: narrow gets 120 %"
    )


def test_a_late_operator_alone_is_a_warning():
    found = answer(calm(latency_p50_s=7.0, scheduling_s=6.0, trigger_s=10.0))
    assert (found.state, found.said) == ("warn", "1 thing needs attention.")


def test_what_failed_and_who_is_silent_is_named():
    failed = answer(calm(status=OperatorStatus.FAILED))
    assert [t.text for t in failed.troubles] == ["count has failed."]
    silent = answer(replace(calm(), parts=[Part(id="engine", kind="engine", name="engine", at=0)]))
    assert [t.text for t in silent.troubles] == ["Engine is silent."]
    late = demo_world(late_s=21.0)
    assert "narrow has not reported for 20 s." in [t.text for t in answer(late).troubles]


def test_what_waits_for_a_decision_is_next():
    world = control_world(recommendation(id="r1"))
    (first,) = answer(world).next
    assert first.path == "/recommendation/r1"
    assert first.title == "Scale narrow out: 1 → 3 executors"
    many = control_world(*(recommendation(id=f"r{i}") for i in range(5)))
    assert (len(answer(many).next), answer(many).more) == (3, 2)


def test_what_is_not_well_without_a_proposal_says_why_there_is_none():
    world = replace(
        demo_world(), control=Control(waits={"wide": "it is even", "narrow": "no room"})
    )
    found = answer(world)
    assert found.why_none == "narrow: no room."
    drawn = as_json([answer_body(found)]).decode()
    assert "Nothing waits for a decision. No proposal for narrow: no room." in drawn


def test_it_is_drawn_in_words():
    world = control_world(recommendation(id="r1"))
    drawn = as_json([answer_body(answer(world))]).decode()
    assert "Decide: " in drawn
    assert "/recommendation/r1" in drawn
    paused = replace(
        world, control=replace(world.control, paused=Paused(by="ada", at=AT, why="upgrade"))
    )
    assert "Everything is paused." in as_json([answer_body(answer(paused))]).decode()
    assert "Nothing waits for a decision." in as_json([answer_body(answer(calm()))]).decode()
