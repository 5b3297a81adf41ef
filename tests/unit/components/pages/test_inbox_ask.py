"""What the dialogs say before something is decided: exactly what will happen."""

import pytest
from dash._utils import to_json
from msgspec.structs import replace

from tests.unit.components.pages.controls import (
    AT,
    MOVES,
    POLICY,
    SHUT,
    control_world,
    recommendation,
)
from weir.components.live.control_reader import ControlReader
from weir.components.pages.control_room import modes
from weir.components.pages.recommendation import ask as asks
from weir.components.pages.recommendation.render_dialog import decision_body, refusal
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.engine.judge.verification import TrackRecord
from weir.controllers.engine.propose.make import undoing_decision
from weir.controllers.engine.recommendation import Status, hash_of
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.memory_store import MemoryStore

HASH = recommendation().plan_hash
DONE = (Status.APPROVED, Status.APPLYING, Status.APPLIED)


def test_approving_says_what_is_done_and_what_holds_it_back():
    world = control_world(recommendation(guards=(SHUT, POLICY)))
    ask = asks.decision(world, "approve", "r1", HASH)
    text = " ".join(ask.lines)
    assert "narrow asks Spark for 2 executors more: 1 now, 3 then" in text
    assert "It begins once it may: narrow is to settle." in text
    assert "These hold back the engine, not you: the budget is spent." in text
    assert ask.pending == {"verb": "approve", "id": "r1", "hash": HASH}
    assert not ask.danger
    assert [r.predicted for r in ask.rows] == ["40 %", "3 executors"]
    assert to_json(decision_body(ask))


def test_the_hash_that_was_shown_goes_along():
    ask = asks.decision(control_world(recommendation()), "approve", "r1", "other")
    assert ask.pending["hash"] == "other", "never silently the present one"


def test_rejecting_and_taking_back_do_nothing():
    world = control_world(recommendation(), settings=EngineSettings(comment_required=True))
    ask = asks.decision(world, "reject", "r1", HASH)
    assert ask.lines[0].startswith("Nothing is done. The same plan is not proposed again for 15")
    assert ask.comment_required
    assert "nothing is done" in asks.decision(world, "cancel", "r1", HASH).lines[0]


def test_a_rollback_is_previewed():
    found = recommendation(*DONE, applied_at=1.0)
    world = control_world(found)  # narrow asks for 2 executors in the demo
    text = " ".join(asks.decision(world, "rollback", "r1", HASH).lines)
    assert "scale narrow in: 2 → 1 executor. This click also approves it." in text
    assert "gives 1 executor back" in text
    back = undoing_decision(found, world.snapshot, {}, "")
    pending = asks.decision(world, "rollback", "r1", HASH).pending
    assert pending["hash"] == hash_of(back) != HASH, "what is confirmed is the undoing"
    four = control_world(found, settings=EngineSettings(four_eyes=True))
    assert "Somebody else has to approve it" in asks.decision(four, "rollback", "r1", HASH).lines[0]


def test_a_rollback_of_moves_goes_by_where_operators_are():
    world = control_world(recommendation(*DONE, decision=MOVES, clusters=("narrow", "wide")))
    there = {"topic_count": Placement(operator="topic_count", cluster="wide")}
    ask = asks.decision(world, "rollback", "r1", HASH, there)
    assert "move topic_count from wide to narrow" in ask.lines[0]
    with pytest.raises(Refused, match="nothing left of it to undo"):
        asks.decision(world, "rollback", "r1", HASH, {})


def test_what_is_gone_is_said():
    with pytest.raises(NotFound, match="There is no recommendation r9 any more"):
        asks.decision(control_world(), "approve", "r9", HASH)
    with pytest.raises(NotFound, match="There is no cluster moon any more"):
        asks.mode_change(control_world(), "moon")


def test_pausing_says_what_goes_on():
    flying = control_world(recommendation(Status.APPROVED, Status.APPLYING))
    lines = asks.pause_all(flying).lines
    assert "survives restarts" in lines[0]
    assert "what a person approves is still carried out" in lines[1]
    assert lines[2] == "1 action under way is carried to the end."
    assert asks.pause_all(flying).danger
    half = recommendation(
        Status.APPROVED, Status.APPLYING, decision=MOVES, clusters=("narrow", "wide"), mode="auto"
    )
    said = asks.pause_all(control_world(half)).lines[2]
    assert "operators that have not begun to move stay where they are" in said
    assert "what is half done is undone also while paused" in said
    assert "at present none does" in asks.resume_all(flying).lines[0]
    auto = control_world(modes={"wide": Mode.AUTO})
    assert "wide." in asks.resume_all(auto).lines[0]


def test_a_step_up_shows_the_record_that_justifies_it():
    ask = asks.mode_change(control_world(modes={"wide": Mode.AUTO}), "wide")
    assert [value for value, *_ in ask.modes] == [m.value for m in Mode]
    assert (ask.mode, ask.record) == ("auto", "No action here has been judged yet.")
    assert "Auto (now)" in to_json(decision_body(ask))
    assert "nothing would change" in to_json(decision_body(ask))
    world = control_world()
    assert "little to go by" in asks.mode_words(world, "wide", "auto")
    assert "nothing would change" in asks.mode_words(world, "wide", "approve")
    with pytest.raises(InvalidInput):
        asks.mode_words(world, "wide", "turbo")


def test_the_record_is_that_of_the_engine_however_much_came_to_nothing():
    """Of hundreds that the engine took back, the one that was judged still counts."""
    store = MemoryStore()
    judged = recommendation(
        Status.APPROVED, Status.APPLYING, Status.APPLIED, Status.EFFECTIVE,
        id="judged", at=AT - 900, effectiveness=0.9, version=-4,
    )  # fmt: skip
    store.save_recommendation(judged)
    for i in range(200):
        gone = recommendation(Status.CANCELLED, id=f"gone-{i}", at=AT + i, version=-1)
        store.save_recommendation(gone)
    control = ControlReader().read(store, AT)
    world = replace(control_world(), control=control)
    assert asks.mode_change(world, "narrow").record.startswith("1 of 1 judged action was effective")
    assert control.recommendation("judged") == judged, "its marks stay on the charts"
    assert len(control.recommendations) < 100


@pytest.mark.parametrize(
    ("track", "said"),
    [
        (TrackRecord(judged=2, effective=2), "little to go by"),
        (TrackRecord(judged=10, effective=5), "better not yet"),
        (TrackRecord(judged=10, effective=9), "supports it"),
    ],
)
def test_what_the_record_says(track, said):
    assert said in modes.step_up(Mode.AUTO, track)
    assert modes.step_up(Mode.OBSERVE, track) == "", "a step down needs no record"


def test_a_refusal_offers_the_new_proposal():
    assert any(getattr(p, "href", "") == "/recommendation/r2" for p in refusal("No.", "r2"))
    assert refusal("Already decided.") == ["Already decided."]


def test_modes_follow_the_feed():
    figures = modes.mode_figures(control_world(modes={"wide": Mode.AUTO}), ("wide", "narrow"))
    assert figures["mode/wide"].text == "Auto"
    assert figures["mode/wide"].state == "warn"
    assert figures["mode/narrow"].text == "Approve"


def test_silent_clusters_are_warned_of():
    world = control_world(recommendation())
    newest = (samples[-1] for samples in world.series.values())
    late = replace(world, snapshot=Snapshot.of(newest, world.at + 60))
    assert asks.decision(late, "approve", "r1", HASH).warning == "narrow has sent no data lately."
