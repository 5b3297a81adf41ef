"""What is shown before a plan is applied, and that only this plan is."""

import pytest
from dash._utils import to_json
from msgspec import to_builtins
from msgspec.structs import replace

from tests.support.world import demo_world
from tests.unit.components.pages.outlooks import MOVE, PLACED, balance_world, rebalance
from weir.components.pages.balance.actions import _apply, _ask
from weir.components.pages.balance.preview import (
    hand_text,
    of_hand,
    of_planner,
    previewed_of,
    rebalance_for,
)
from weir.components.pages.balance.render_preview import preview_body
from weir.controllers.engine.apply.moves import MoveState, Step
from weir.controllers.engine.recommendation import Status, moved_to
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.placement import Placement
from weir.metrics.store.memory_store import MemoryStore


def test_a_preview_has_loads_moves_queue_and_pause():
    shown = of_planner(balance_world(), "dodo", "r7")
    loads = {b.cluster: (round(b.before), round(b.after)) for b in shown.loads}
    assert loads == {"narrow": (120, 60), "wide": (50, 70)}
    line = shown.moves[0]
    assert (line.operator, line.source, line.target) == ("topic_count", "narrow", "wide")
    assert (line.pause_s, line.state_bytes) == (5.0, 1_000_000)
    assert line.queue_rows == shown.queue_rows == 200.0 * 5.0  # rows/s that arrive x pause
    assert shown.warning == ""
    assert "1,000 rows" in to_json(preview_body(shown))


def test_a_plan_without_moves_has_nothing_to_apply():
    shown = of_planner(balance_world(), "no_op", "r7")
    assert shown.moves == ()
    assert "nothing to apply" in to_json(preview_body(shown))
    with pytest.raises(Refused, match="This plan moves nothing"):
        rebalance_for(balance_world(), shown.previewed, PLACED, 1.0)


def test_a_move_by_hand_is_predicted_first():
    said = hand_text(balance_world(), "topic_count", "wide")
    assert "narrow would go from 120 to 60 % and wide from 50 to 70 % of capacity" in said
    assert "Pause about 5.0 s" in said
    assert "points, better." in said
    assert "points, worse." in hand_text(balance_world(), "extractor", "narrow")
    assert of_hand(balance_world(), "topic_count", "wide", "r7").title == "By hand"


@pytest.mark.parametrize(
    ("operator", "target", "said"),
    [
        (None, "wide", "Choose an operator"),
        ("topic_count", None, "Choose an operator"),
        ("nobody", "wide", "nobody is not running"),
        ("topic_count", "moon", "There is no cluster moon"),
        ("topic_count", "narrow", "topic_count is in narrow already"),
    ],
)
def test_a_move_that_makes_no_sense_is_refused_in_words(operator, target, said):
    with pytest.raises((InvalidInput, NotFound, Refused), match=said):
        hand_text(balance_world(), operator, target)


def test_a_host_that_does_not_declare_the_operator_is_said():
    world = balance_world()
    clusters = tuple(replace(c, declared=("extractor",)) for c in world.snapshot.clusters)
    world = replace(world, snapshot=replace(world.snapshot, clusters=clusters))
    with pytest.raises(Refused) as refused:
        hand_text(world, "topic_count", "wide")
    assert str(refused.value) == (
        "wide cannot run topic_count: the module of its host does not declare it."
    )
    assert "narrow" in hand_text(world, "extractor", "narrow")


def test_loads_that_are_a_guess_are_said():
    world = balance_world()
    first, *others = world.outlook.problem.items
    problem = replace(world.outlook.problem, items=(replace(first, known=False), *others))
    world = replace(world, outlook=replace(world.outlook, problem=problem))
    assert of_hand(world, "topic_count", "wide", "r7").warning == (
        "The cost of extractor is not known yet, so the loads are a guess."
    )


def test_without_a_look_at_the_balance_nothing_is_predicted():
    with pytest.raises(Refused, match="has not looked"):
        hand_text(demo_world(), "topic_count", "wide")
    with pytest.raises(NotFound):
        of_planner(demo_world(), "dodo", "r7")


def test_a_silent_target_is_said():
    world = replace(balance_world(), at=balance_world().at + 10)
    assert of_planner(world, "dodo", "r7").warning == "wide has sent no data lately."
    silent = replace(world, at=world.at + 60)
    assert "cannot be applied" in of_planner(silent, "dodo", "r7").warning


def test_the_plan_applied_is_the_one_shown():
    shown = previewed_of(to_builtins(of_planner(balance_world(), "dodo", "r7").previewed))
    # Meanwhile the planner thinks of something else: that does not matter any more.
    world = balance_world()
    other = replace(world, outlook=replace(world.outlook, proposals=()))
    made = rebalance_for(other, shown, PLACED, 9.0)
    assert (made.id, made.at, made.by, made.planner) == ("r7", 9.0, "page", "dodo")
    assert [m.move for m in made.moves] == [MOVE]
    assert made.moves[0].step is Step.PLANNED


@pytest.mark.parametrize(
    ("placed", "said"),
    [
        (Placement(operator="topic_count", cluster="wide"), "is in wide now, no longer in narrow"),
        (Placement(operator="topic_count", cluster="narrow", wanted="stopped"), "is stopped now"),
        (None, "is not placed anywhere"),
    ],
)
def test_a_world_that_has_drifted_is_said_and_nothing_done(placed, said):
    shown = of_planner(balance_world(), "dodo", "r7").previewed
    places = {k: v for k, v in {**PLACED, "topic_count": placed}.items() if v}
    with pytest.raises(Refused, match=said):
        rebalance_for(balance_world(), shown, places, 1.0)


def test_an_operator_on_its_way_and_a_silent_engine_are_said():
    shown = of_planner(balance_world(), "dodo", "r7").previewed
    moving = rebalance(MoveState(move=MOVE, step=Step.RELEASING))
    with pytest.raises(Refused, match="topic_count is on its way to wide"):
        rebalance_for(balance_world(rebalances=[moving]), shown, PLACED, 1.0)
    with pytest.raises(Refused, match="The engine is not at work"):
        rebalance_for(balance_world(age_s=30.0), shown, PLACED, 1.0)
    gone = replace(shown, moves=(replace(MOVE, target="moon"),))
    with pytest.raises(Refused, match="There is no cluster moon any more"):
        rebalance_for(balance_world(), gone, PLACED, 1.0)


def knowing(world):
    """A store in which this world stands."""
    store = MemoryStore()
    for placement in PLACED.values():
        store.place(placement)
    for name in world.series:
        store.append(world.newest(name))
    return store


def test_a_second_click_is_the_same_rebalance():
    world = balance_world()
    store = knowing(world)
    data = to_builtins(of_planner(world, "dodo", "r7").previewed)
    first = _apply(store, world, data, world.at)
    assert (first.status, first.source) == ("approved", "dodo")
    assert first.id != "r7", "what a browser sends is no name among the engine's"
    begun = moved_to(first, Status.APPLYING, at=world.at, by="engine")
    store.save_recommendation(begun)
    assert _apply(store, world, data, world.at + 1) == begun
    assert store.recommendations() == [begun]


def test_applying_takes_the_comment_that_is_required():
    world = balance_world()
    store = knowing(world)
    store.save_settings("engine", {"comment_required": True})
    data = to_builtins(of_planner(world, "dodo", "r7").previewed)
    with pytest.raises(InvalidInput, match="Say why"):
        _apply(store, world, data, world.at)
    assert _apply(store, world, data, world.at, "night shift").comment == "night shift"
    ask = _ask(world, lambda new: of_planner(world, "dodo", new))
    assert ask.comment


def test_nobody_can_call_a_plan_a_rollback():
    shown = to_builtins(of_planner(balance_world(), "dodo", "r7").previewed)
    for planner in ("rollback", "by hand", "engine", ""):
        with pytest.raises(InvalidInput, match="Open the preview again"):
            previewed_of({**shown, "planner": planner})
    assert previewed_of({**shown, "planner": "by_hand"}).moves == (MOVE,)


@pytest.mark.parametrize("said", [None, {}, "x", {"id": "1", "moves": "no"}])
def test_whatever_a_browser_sends_back_is_survived(said):
    with pytest.raises(InvalidInput, match="Open the preview again"):
        previewed_of(said)
