"""What is shown before a plan is applied, and that only this plan is."""

import pytest
from dash._utils import to_json
from msgspec import to_builtins
from msgspec.structs import replace

from tests.support.world import demo_world
from tests.unit.components.pages.outlooks import MOVE, PLACED, balance_world, rebalance
from weir.components.pages.balance.actions import _ask
from weir.components.pages.balance.preview import (
    hand_text,
    of_hand,
    of_planner,
    read_preview,
)
from weir.components.pages.balance.render_preview import preview_body
from weir.controllers import service
from weir.controllers.engine.apply.moves import MoveState, MoveStep
from weir.controllers.engine.ports import Part
from weir.controllers.engine.recommendation import Status, move_to
from weir.controllers.model.errors import InvalidInput, NotFound, Refused, Unavailable
from weir.controllers.model.placement import Placement
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.service import Request
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
    with pytest.raises(InvalidInput, match="This plan moves nothing"):
        apply(knowing(balance_world()), balance_world(), shown.previewed)


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


def later(world, seconds):
    at = world.at + seconds
    return replace(world, at=at, snapshot=Snapshot.of((s[-1] for s in world.series.values()), at))


def test_a_silent_target_is_said():
    world = later(balance_world(), 10)
    assert of_planner(world, "dodo", "r7").warning == "wide has sent no data lately."
    silent = later(world, 60)
    assert "cannot be applied" in of_planner(silent, "dodo", "r7").warning


def knowing(world, places=PLACED):
    """A store in which this world stands, with an engine at work."""
    store = MemoryStore()
    store.beat(Part(id="engine:1", kind="engine", name="leader", at=world.at))
    for placement in places.values():
        store.place(placement)
    for name in world.series:
        store.append(world.newest(name))
    return store


def apply(store, world, shown, comment="", **changed):
    """What the page asks the service for when somebody applies what was shown."""
    request = Request(by="ada", at=world.at, id=shown.id, comment=comment)
    moves = changed.get("moves", shown.moves)
    return service.rebalance(store, request, moves, planner=shown.planner, why=shown.why)


def test_the_plan_applied_is_the_one_shown():
    world = balance_world()
    shown = read_preview(to_builtins(of_planner(world, "dodo", "r7").previewed))
    made = apply(knowing(world), world, shown)
    assert (made.by, made.source, made.status) == ("ada", "dodo", Status.APPROVED)
    assert made.decision.moves == (MOVE,)
    assert made.predicted.load_distance is None or made.predicted.load_distance >= 0


@pytest.mark.parametrize(
    ("placed", "said"),
    [
        (Placement(operator="topic_count", cluster="wide"), "is in wide now, no longer in narrow"),
        (Placement(operator="topic_count", cluster="narrow", wanted="stopped"), "is stopped now"),
        (None, "is not placed anywhere"),
    ],
)
def test_a_world_that_has_drifted_is_said_and_nothing_done(placed, said):
    world = balance_world()
    places = {k: v for k, v in {**PLACED, "topic_count": placed}.items() if v}
    store = knowing(world, places)
    with pytest.raises(Refused, match=said):
        apply(store, world, of_planner(world, "dodo", "r7").previewed)
    assert (store.recommendations(), store.audit()) == ([], [])


def test_an_operator_on_its_way_and_a_silent_engine_are_said():
    world = balance_world()
    shown, store = of_planner(world, "dodo", "r7").previewed, knowing(world)
    gone = (replace(MOVE, target="moon"),)
    with pytest.raises(Refused, match="there is no cluster moon any more"):
        apply(store, world, shown, moves=gone)
    store.save_rebalance(rebalance(MoveState(move=MOVE, step=MoveStep.RELEASING)))
    with pytest.raises(Refused, match="topic_count is on its way to wide"):
        apply(store, world, shown)
    store = knowing(world)
    store.remove_part("engine:1")
    with pytest.raises(Unavailable, match="no engine is at work"):
        apply(store, world, shown)


def test_a_second_click_is_the_same_rebalance():
    world = balance_world()
    store, shown = knowing(world), of_planner(world, "dodo", "r7").previewed
    first = apply(store, world, shown)
    assert first.id != "r7", "what a browser sends is no name among the engine's"
    begun = move_to(first, Status.APPLYING, at=world.at, by="engine")
    store.save_recommendation(begun)
    assert apply(store, world, shown) == begun
    assert store.recommendations() == [begun]


def test_applying_takes_the_comment_that_is_required():
    world = balance_world()
    store, shown = knowing(world), of_planner(world, "dodo", "r7").previewed
    store.save_settings("engine", {"comment_required": True})
    with pytest.raises(InvalidInput, match="Say why"):
        apply(store, world, shown)
    assert apply(store, world, shown, "night shift").comment == "night shift"
    ask = _ask(world, lambda new: of_planner(world, "dodo", new))
    assert ask.comment


def test_nobody_can_call_a_plan_a_rollback():
    shown = to_builtins(of_planner(balance_world(), "dodo", "r7").previewed)
    for planner in ("rollback", "by hand", "engine", ""):
        with pytest.raises(InvalidInput, match="Open the preview again"):
            read_preview({**shown, "planner": planner})
    assert read_preview({**shown, "planner": "by_hand"}).moves == (MOVE,)


@pytest.mark.parametrize("said", [None, {}, "x", {"id": "1", "moves": "no"}])
def test_whatever_a_browser_sends_back_is_survived(said):
    with pytest.raises(InvalidInput, match="Open the preview again"):
        read_preview(said)
