"""The inbox as data: what waits, what is under way, what came of it, and why nothing is asked."""

import pytest
from dash._utils import to_json
from msgspec.structs import replace

from tests.unit.components.pages.controls import (
    AT,
    MOVES,
    OPEN,
    POLICY,
    SHUT,
    control_world,
    recommendation,
)
from tests.unit.components.pages.outlooks import balance_world
from weir.components.live import recommendation_words as words
from weir.components.live.control import Control
from weir.components.live.delta import cursor_of, delta, start
from weir.components.pages.control_room import ids as control_room_ids
from weir.components.pages.control_room import inbox as view
from weir.components.pages.control_room.render_inbox import inbox_body
from weir.components.pages.recommendation.render_parts import judged_line
from weir.components.pages.registry import PAGES
from weir.components.ui import ids
from weir.components.web.router import draw
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.recommendation import Figures, Judgement, Status
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.sample import Mode
from weir.controllers.service import Paused


def test_a_proposal_explains_itself():
    world = control_world(recommendation(error_share=0.25, guards=(OPEN, POLICY, SHUT)))
    (shown,) = view.inbox(world).proposed
    assert shown.title == "Scale narrow out: 1 → 3 executors"
    assert shown.kind == "Scale out"
    assert shown.source == "proposed by the engine, following Rate-based (DS2)"
    assert (shown.why.rule, shown.why.numbers) == (
        "load > max load", (("load", "120 %"), ("max load", "80 %")),
    )  # fmt: skip
    load, executors = shown.rows
    assert load.judged
    assert (load.before, load.predicted, load.band) == ("120 %", "40 %", "30 % to 50 %")
    assert load.now == "cluster/narrow/load"
    assert (executors.predicted, executors.band) == ("3 executors", ""), "a count has no band"
    assert [g.name for g in shown.guards] == ["action budget", "stabilisation", "data gate"]
    assert shown.verbs == ("approve", "reject")
    assert shown.plan_hash == recommendation().plan_hash


def test_what_expires_first_is_on_top():
    late = recommendation(id="late", expires_at=AT + 900)
    soon = recommendation(id="soon", expires_at=AT + 60)
    assert [p.id for p in view.inbox(control_world(late, soon)).proposed] == ["soon", "late"]


def test_moves_are_named_up_to_a_few():
    many = tuple(replace(MOVES.moves[0], operator=f"op{i}") for i in range(5))
    found = recommendation(decision=replace(MOVES, moves=many), clusters=("narrow", "wide"))
    assert words.title_of(found).endswith("op2 from narrow to wide and 2 operators more")
    assert words.title_of(replace(found, rollback_of="r0")).startswith("Undo: move op0")


def test_four_eyes_and_advice_only_are_said():
    by_hand = recommendation(by="grace", source="by hand")
    world = control_world(by_hand, settings=EngineSettings(four_eyes=True))
    (shown,) = view.inbox(world).proposed
    assert shown.hint == "Four eyes: grace asked for it, so somebody else has to approve it."
    assert shown.verbs == ("approve", "reject", "cancel")
    world = control_world(recommendation(), modes={"narrow": Mode.RECOMMEND})
    (shown,) = view.inbox(world).proposed
    assert shown.verbs == ("reject",)
    assert "advice only" in shown.hint
    auto = {"narrow": Mode.AUTO}
    (shown,) = view.inbox(control_world(recommendation(guards=(POLICY,)), modes=auto)).proposed
    assert shown.hint == "The engine does not do it by itself: the budget is spent."


def test_progress_of_a_scaling_comes_from_its_command():
    found = recommendation(Status.APPROVED, Status.APPLYING)
    command = Command(
        id="r1", cluster="narrow", action=ScaleTo(executors=3), issued_at=AT, expires_at=AT + 60
    )
    result = CommandResult(
        id="r1", status=CommandStatus.RUNNING, at=AT, message="2 of 3", progress=0.5
    )
    world = replace(control_world(found), commands=[(command, result)])
    (shown,) = view.inbox(world).under_way
    assert (shown.share, shown.message, shown.verbs) == (0.5, "2 of 3", ())


def test_progress_of_a_rebalance_comes_from_its_moves():
    found = recommendation(
        Status.APPROVED, Status.APPLYING, decision=MOVES, clusters=("narrow", "wide")
    )
    moving = Rebalance(
        id="r1", at=AT, moves=(MoveState(move=MOVES.moves[0], step=MoveStep.ADOPTING, since=AT),)
    )
    (shown,) = view.inbox(replace(control_world(found), rebalances=[moving])).under_way
    assert shown.share == 0.6
    assert shown.moves[0].words == "starts in its new cluster"


def test_approved_ones_wait_for_their_guards_and_can_be_taken_back():
    (shown,) = view.inbox(control_world(recommendation(Status.APPROVED, guards=(SHUT,)))).under_way
    assert shown.guards == (SHUT,)
    assert shown.verbs == ("cancel",)


def test_an_outcome_tells_predicted_against_measured():
    found = recommendation(
        Status.APPROVED, Status.APPLYING, Status.APPLIED, Status.EFFECTIVE,
        measured=Figures(load={"narrow": 0.45}), effectiveness=0.94, verdict="It helped.",
        applied_at=AT, judgement=Judgement(
            objective="load", before=1.2, before_now=0.9, predicted=0.4, measured=0.45,
            came_true=True, helped=True, why="the load is 45% where it would be 90%",
        ),
    )  # fmt: skip
    (shown,) = view.inbox(control_world(found)).outcomes
    row = shown.row
    assert shown.text == ""  # one set of figures, not two
    assert (row.before, row.before_now, row.predicted, row.measured) == (
        "120 %", "90 %", "40 %", "45 %",
    )  # fmt: skip
    assert (row.came_true, row.helped) == ("yes", "yes: the load is 45% where it would be 90%")
    drawn = str(judged_line(row).to_plotly_json())
    assert "120 % before, 90 % at today's input, 40 % predicted, 45 % measured" in drawn
    assert shown.verbs == ("rollback",)
    back = recommendation(id="r2", rollback_of="r1")
    outcomes = view.inbox(control_world(back, found)).outcomes
    assert outcomes[0].verbs == (), "its rollback is proposed already"


def test_what_could_not_be_measured_is_no_success():
    found = recommendation(
        Status.APPROVED, Status.APPLYING, Status.APPLIED, Status.UNMEASURED, applied_at=AT
    )
    (shown,) = view.inbox(control_world(found)).outcomes
    assert (shown.row, shown.verbs) == (None, ("rollback",))
    assert words.LOOKS[shown.status][1] != "ok"
    assert words.LOOKS.keys() == words.MEANINGS.keys() == set(Status)
    back = replace(found, id="r2", rollback_of="r1")
    outcomes = view.inbox(control_world(back, found)).outcomes
    assert [o.verbs for o in outcomes] == [(), ()], "it is undone"


def test_what_was_superseded_points_to_the_new_proposal():
    gone = recommendation(Status.SUPERSEDED)
    new = recommendation(id="r2", at=AT + 5)
    (shown,) = view.inbox(control_world(new, gone)).outcomes
    assert shown.replaced_by == "r2"
    assert shown.text == "step 1"
    elsewhere = recommendation(id="r3", at=AT + 5, clusters=("wide",))
    assert view.inbox(control_world(elsewhere, gone)).outcomes[0].replaced_by == ""


def test_what_came_to_nothing_leaves_room_for_what_was_done():
    done = [recommendation(Status.REJECTED, id=f"done-{i}", at=AT + i) for i in range(6)]
    gone = [recommendation(Status.CANCELLED, id=f"gone-{i}", at=AT + 90 + i) for i in range(60)]
    shown = view.inbox(control_world(*reversed([*done, *gone]))).outcomes
    assert [o.id.split("-")[0] for o in shown].count("done") == 3
    alone = view.inbox(control_world(*reversed(gone))).outcomes
    assert len(alone) == len(shown) == 5


def test_a_rebalance_shows_the_load_distance_of_now():
    found = recommendation(
        decision=MOVES, clusters=("narrow", "wide"), objective="load_distance",
        before=Figures(load_distance=40.0), predicted=Figures(load_distance=12.0),
    )  # fmt: skip
    world = balance_world(control=Control(recommendations=(found,)))
    row = view.proposal_of(world, found).rows[0]
    assert (row.before, row.predicted) == ("40.0 points", "12.0 points")
    assert PAGES.page(world, "/").figures[row.now].text == "52.5 points"


def test_many_reasons_for_proposing_nothing_are_folded():
    few = tuple(view.Wait(where=f"c{i}", text="calm") for i in range(4))
    drawn = to_json(inbox_body(view.Inbox(waits=few)))
    assert "Details" not in drawn
    many = to_json(inbox_body(view.Inbox(waits=few, more_waits=20)))
    assert "24 reasons" in many
    assert "20 more clusters: the Scale page of each says why" in many


def test_nothing_proposed_says_why():
    world = replace(
        balance_world(),
        control=control_world(
            waits={"wide": "the load is 0.5 of at most 0.8"}, modes={"narrow": Mode.OBSERVE}
        ).control,
    )
    said = {w.where: w.text for w in view.inbox(world).waits}
    assert said["wide"] == "the load is 0.5 of at most 0.8"
    assert "observe" in said["narrow"]
    assert "Balance" in said
    assert view.inbox(control_world(recommendation())).waits == ()


@pytest.mark.parametrize("status", list(Status))
def test_every_status_can_be_drawn(status):
    found = replace(recommendation(), status=status)
    world = control_world(found, paused=Paused(at=AT, by="ada", why="Fire drill"))
    assert to_json(inbox_body(view.inbox(world)))
    assert to_json(draw(world, "/"))
    assert to_json(draw(world, "/recommendation/r1"))


def test_the_inbox_is_sent_again_only_when_it_has_changed():
    world = control_world(recommendation())
    _, seen = delta(PAGES, world, cursor_of(start(PAGES, world, "/")[0]["cursor"]))
    message, _ = delta(PAGES, replace(world, at=world.at + 1), seen)
    assert control_room_ids.INBOX not in message.get("regions", {})
    decided = replace(world, control=control_world(recommendation(Status.REJECTED)).control)
    message, _ = delta(PAGES, decided, seen)
    assert control_room_ids.INBOX in message["regions"]
    assert "redraw" not in message


def test_pause_is_on_every_page():
    world = control_world(paused=Paused(at=AT, by="ada"))
    for path in ("/", "/balance", "/cluster/wide", "/audit", "/settings", "/nowhere"):
        message, _ = delta(PAGES, world, cursor_of(start(PAGES, world, path)[0]["cursor"]))
        assert "ada" in to_json(message["regions"][ids.PAUSE])


def test_a_silent_engine_is_said():
    world = control_world()
    assert not view.inbox(world).silent
    late = replace(world, at=world.at + 60)
    assert view.inbox(late).silent
    assert view.inbox(late).waits == (), "its reasons are as old as itself"
    assert "No engine is at work" in to_json(inbox_body(view.inbox(late)))
