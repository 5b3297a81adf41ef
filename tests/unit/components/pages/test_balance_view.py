"""The Balance page as data: what is shown is what the engine sees."""

import pytest
from dash._utils import to_json
from msgspec.structs import replace

from tests.support.world import demo_world
from tests.unit.components.pages.outlooks import MOVE, balance_world, outlook_at, plan, rebalance
from weir.components.live import commands
from weir.components.live.delta import cursor_of, delta, start
from weir.components.live.world import on_their_way, world_of
from weir.components.pages.balance import matrices, rebalances
from weir.components.pages.balance import view as balance
from weir.components.pages.balance.render_plans import plans_table
from weir.components.pages.control_room.map import flow_map
from weir.components.pages.registry import PAGES
from weir.components.web.router import draw
from weir.controllers.engine.apply.moves import MoveState, MoveStep
from weir.controllers.engine.propose.balance import BalanceSettings
from weir.controllers.engine.propose.outlook import Matrix, Proposal
from weir.controllers.model.decision import Move
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import OperatorStatus

TOP = Move(operator="top_n", source="narrow", target="wide")
MOVING = rebalance(MoveState(move=MOVE, step=MoveStep.ADOPTING, since=5.0))
DONE = MoveState(
    move=MOVE, step=MoveStep.DONE, since=10.0, paused_s=3.21, state_bytes=1_400_000,
    queue_before=100, queue_peak=1500, drained_at=22.0,
)  # fmt: skip


def drawn_cursor(world):
    return cursor_of(start(PAGES, world, "/balance")[0]["cursor"])


def test_plans_are_compared_cell_by_cell():
    figures = balance.figures(balance_world())
    assert figures["balance/now"].text == "52.5"
    assert figures["balance/top"].text == "120 %"
    assert figures["balance/top"].state == "bad"
    dodo, nothing = balance.plan_rows(balance_world())
    assert (dodo.moves, dodo.state_moved, dodo.pause) == ("topic_count → wide", "1.0 MB", "5.0 s")
    assert (dodo.followed, dodo.distance.state, dodo.before) == (True, "ok", "from 52.5")
    assert (nothing.moves, nothing.words) == ("no change", "It never moves anything.")
    assert (nothing.followed, nothing.pause, nothing.distance.fill) == (False, "–", 1.0)
    assert figures["balance/reach-by"].text == "points, by DoDo with capacity"


def test_planners_with_the_same_plan_are_one_row():
    world = balance_world()
    more = (
        Proposal(label="Optimiser", plan=replace(plan("milp", MOVE), bound=20.0), words="Exact."),
        Proposal(label="ALBIC", plan=plan("albic", MOVE), words="Alike."),
    )
    outlook = replace(world.outlook, proposals=(*more, *world.outlook.proposals))
    world = replace(world, outlook=outlook)
    moving, still = balance.plan_rows(world)
    assert (moving.planner, moving.followed, moving.words) == ("dodo", True, "Moving helps.")
    assert moving.agree == (("milp", "Optimiser"), ("albic", "ALBIC"))
    assert moving.bound == "20.0"
    assert still.agree == ()
    drawn = to_json(plans_table((moving, still)))
    assert "3 planners agree: also " in drawn
    assert "traffic that stays in its cluster" in drawn


def test_the_followed_plan_comes_first_and_is_named_where_it_reaches_as_far():
    world = balance_world()
    other = Proposal(label="COLA", plan=plan("cola", MOVE, TOP), words="Traffic.")
    alike = Proposal(label="ALBIC", plan=plan("albic", MOVE), words="Alike.")
    outlook = replace(world.outlook, proposals=(other, alike, *world.outlook.proposals))
    world = replace(world, outlook=outlook)
    assert [row.followed for row in balance.plan_rows(world)][:2] == [True, False]
    assert balance.figures(world)["balance/reach-by"].text == "points, by DoDo with capacity"


def test_planners_that_move_nothing_keep_reasons_of_their_own():
    world = balance_world()
    cola = Proposal(label="COLA", plan=plan("cola"), words="Beyond the budget.")
    outlook = replace(world.outlook, proposals=(*world.outlook.proposals, cola))
    _, still = balance.plan_rows(replace(world, outlook=outlook))
    first = f"{still.label}: It never moves anything."
    assert still.words == f"{first} COLA: Beyond the budget."


def test_a_planner_that_was_asked_before_and_moves_nothing_reaches_what_is_there_now():
    world = balance_world()
    assert world.outlook is not None
    old = next(p for p in world.outlook.proposals if not p.plan.moves)
    even = replace(old.plan.before, load_distance=1.0)
    stale = replace(old, plan=replace(old.plan, before=even, after=even))
    others = tuple(p for p in world.outlook.proposals if p is not old)
    world = replace(world, outlook=replace(world.outlook, proposals=(*others, stale)))
    assert balance.figures(world)["balance/reach"].text != "1.0"
    (row,) = [r for r in balance.plan_rows(world) if not r.moves_any]
    assert (row.distance.text, row.before) == ("52.5", "from 52.5")


def test_the_note_says_silent_holding_back_or_ready():
    ready = balance.note(balance_world())
    assert (ready.state, ready.planner, ready.aid) == ("ok", "DoDo with capacity", "Moving helps.")
    world = balance_world()
    waits = replace(world, outlook=replace(world.outlook, wait="a rebalance is under way"))
    assert balance.note(waits).text == "The engine holds back: a rebalance is under way."
    silent = balance.note(balance_world(age_s=21.0))
    assert silent.state == "bad"
    assert silent.aid == ""
    assert not balance.old(balance_world(age_s=19.0))


def test_what_the_engine_will_do_in_words():
    asked = balance.follow_text(BalanceSettings(), "DoDo", False)
    assert "Nothing moves until somebody approves it" in asked
    alone = balance.follow_text(BalanceSettings(moves=1, hold_s=90), "DoDo", True)
    assert "without asking: at most 1 move at a time, then it waits 90 s" in alone
    never = balance.follow_text(BalanceSettings(planner="no_op"), "No balancing", True)
    assert "never moves anything" in never


def test_settings_keep_the_others_and_refuse_what_is_unknown():
    world = balance_world()
    kept = balance.change_settings(world, {"moves": 4}, "no_op")
    assert kept == {"moves": 4, "planner": "no_op"}
    for wrong in ("moon", None):
        with pytest.raises(InvalidInput, match=r"There is no planner .*; known: dodo, no_op\."):
            balance.change_settings(world, {}, wrong)
    with pytest.raises(InvalidInput):
        balance.change_settings(world, {"moves": 0}, "dodo")


def test_matrices_mark_where_each_operator_runs():
    found = {m["key"]: m for m in matrices.matrices(balance_world())}
    assert list(found) == list(matrices.KEYS)
    assert found["clusters"]["values"] == [[1.0, -0.4], [-0.4, 1.0]]
    by_cluster = found["operators-by-cluster"]
    own = {by_cluster["rows"][r]: by_cluster["columns"][c] for r, c in by_cluster["own"]}
    assert own == {"extractor": "wide", "top_n": "narrow", "topic_count": "narrow"}
    assert found["operators"]["own"] == []
    assert matrices.matrices(demo_world()) == []


def test_what_the_correlations_rest_on_is_said():
    world = balance_world()
    assert balance.figures(world)["balance/periods"].text == "over the last 30 periods"
    few = replace(world.outlook.clusters, periods=((30, 4), (4, 30)))
    world = replace(world, outlook=replace(world.outlook, clusters=few))
    assert balance.figures(world)["balance/periods"].text == "over the last 4 to 30 periods"
    assert matrices.matrices(world)[0]["periods"] == [[30, 4], [4, 30]]


def test_a_matrix_may_know_operators_that_have_gone():
    world = balance_world()
    gone = Matrix(rows=("gone",), columns=("narrow",), values=((0.5,),))
    world = replace(world, outlook=replace(world.outlook, operators_by_cluster=gone))
    assert matrices.matrices(world)[2]["own"] == []


@pytest.mark.parametrize(("rho", "said"), [(1.0, "together"), (0.69, "tend"), (-0.5, "falls")])
def test_every_rho_has_words(rho, said):
    assert said in matrices.words(rho)


def test_a_move_tells_what_was_measured():
    row = rebalances.rebalance_row(rebalance(DONE, at=4.0, by="page", planner="by_hand"))
    assert (row.title, row.status, row.progress) == ("By hand, from this page", "done", None)
    assert [(m.name, m.value) for m in row.moves[0].measured] == [
        ("paused", "3.2 s"),
        ("state", "1.4 MB"),
        ("queue built up", "1,400 rows"),
        ("drained after", "12 s"),
    ]


def test_a_rebalance_that_went_back_says_why():
    back = MoveState(move=MOVE, step=MoveStep.RETURNED, message="went back: wide did not commit")
    row = rebalances.rebalance_row(rebalance(DONE, back, by="engine"))
    assert row.status == "went back"
    assert row.moves[1].message == "went back: wide did not commit"


@pytest.mark.parametrize(
    ("states", "status"),
    [
        ((MoveState(move=MOVE),), "waiting"),
        ((MoveState(move=MOVE, step=MoveStep.RELEASING), MoveState(move=MOVE)), "under way"),
        ((replace(DONE, drained_at=None),), "draining"),
        ((MoveState(move=MOVE, step=MoveStep.FAILED),), "not done"),
    ],
)
def test_status_of_a_rebalance(states, status):
    row = rebalances.rebalance_row(rebalance(*states))
    assert row.status == status
    assert (row.progress is None) == (status == "not done")


def test_those_under_way_come_first_and_are_never_cut_off():
    ended = [replace(rebalance(DONE, at=float(i)), id=f"e{i}") for i in range(9, 0, -1)]
    world = balance_world(rebalances=[*ended, MOVING])
    rows = rebalances.rebalance_rows(world, limit=3)
    assert [r.id for r in rows] == ["r1", "e9", "e8"]


def test_moves_stand_among_the_commands_of_both_clusters():
    world = balance_world(rebalances=[replace(MOVING, at=demo_world().at)])
    newest = commands.rows(world)[0]
    assert (newest.cluster, newest.what) == ("narrow", "move topic_count to wide")
    assert newest.word == "starts in its new cluster"
    assert commands.rows(world, cluster="wide")[0] == newest
    assert commands.rows(world, cluster="narrow") == [newest]
    assert commands.rows(world, operator="topic_count") == [newest]
    assert commands.rows(world, operator="top_n") == []
    arrived = commands.move_row(rebalance(DONE), DONE)
    assert (arrived.message, arrived.status) == ("paused 3.2 s", "done")


def test_the_map_shows_an_operator_on_its_way_even_if_nobody_reports_it():
    world = demo_world()
    gone = [replace(s, operators=s.operators[1:]) for s in world.series["narrow"][-1:]]
    series = {**world.series, "narrow": [*world.series["narrow"][:-1], *gone]}
    later = world_of(series, at=world.at, rebalances=[MOVING])
    assert set(on_their_way(later)) == {"topic_count"}
    found = later.snapshot.operator("topic_count")
    assert (found.cluster, found.status) == ("narrow", OperatorStatus.STARTING)
    assert flow_map(later)["operators"]["topic_count"]["moving"] == "wide"
    assert flow_map(later)["operators"]["top_n"]["moving"] == ""
    without = world_of(series, at=world.at)
    assert without.snapshot.operator("topic_count") is None


def test_pages_without_a_balance_say_why():
    world = demo_world()
    assert PAGES.page(world, "/balance").kind == "balance_waiting"
    assert "weir engine" not in to_json(draw(world, "/balance"))  # it is up
    assert "weir engine" in to_json(draw(replace(world, parts=()), "/balance"))
    one = outlook_at(world.at)
    alone = replace(one, problem=replace(one.problem, bins=one.problem.bins[:1]))
    page = PAGES.page(replace(world, outlook=alone), "/balance")
    assert page.kind == "balance_alone"
    assert "at least two" in to_json(draw(replace(world, outlook=alone), "/balance"))
    assert PAGES.page(world_of({}, at=5.0), "/balance").kind == "empty"


def test_the_page_and_its_delta_can_be_sent():
    world = balance_world(rebalances=[MOVING])
    assert to_json(draw(world, "/balance"))
    data, _ = start(PAGES, world, "/balance")
    assert data["charts"][0]["y"] == [[40.0, 38.46, 35.0]]
    assert data["balance"]["events"]["balance/distance"][0]["at"] == 0
    message, after = delta(PAGES, world, drawn_cursor(world))
    assert to_json(message)
    assert "points" not in message
    again, _ = delta(PAGES, world, after)
    assert set(again) == {"now", "path", "cursor"}, "what is drawn is not sent again"


def test_a_new_look_sends_only_the_new_points():
    world = balance_world()
    _, cursor = delta(PAGES, world, drawn_cursor(world))
    view = world.outlook
    newer = replace(view, at=view.at + 5, distance=(*view.distance, (view.at + 5, 30.0)))
    message, after = delta(PAGES, replace(world, outlook=newer), cursor)
    assert message["points"]["balance/distance"]["y"] == [[30.0]]
    assert "balance" not in message
    assert after.at["/distance"] == round(newer.at * 1000)


def test_a_setting_changed_elsewhere_has_the_page_drawn_again():
    world = balance_world()
    _, cursor = delta(PAGES, world, drawn_cursor(world))
    message, _ = delta(PAGES, replace(world, balance=BalanceSettings(planner="no_op")), cursor)
    assert message["redraw"] is True
