"""Marks on the series, and the page of one recommendation."""

from dash._utils import to_json
from msgspec.structs import replace

from tests.support.world import START, demo_world, wide
from tests.unit.components.pages.controls import AT, MOVES, control_world, recommendation
from weir.components.live.delta import cursor_of, delta, start
from weir.components.live.markers import events, markers
from weir.components.live.world import world_of
from weir.components.pages.recommendation import ids as recommendation_ids
from weir.components.pages.recommendation import view as pages
from weir.components.pages.registry import PAGES
from weir.components.web.router import draw
from weir.controllers.engine.apply.moves import MoveState, MoveStep, Rebalance
from weir.controllers.engine.recommendation import Status

DONE = (Status.APPROVED, Status.APPLYING, Status.APPLIED)
MOVED = recommendation(*DONE, id="m1", decision=MOVES, clusters=("narrow", "wide"), applied_at=AT)


def marks(world, cluster, operator=""):
    return [(m.shape, m.text, m.href) for m in markers(world, cluster, operator)]


def test_what_was_applied_is_marked_and_leads_to_its_page():
    found = recommendation(*DONE, applied_at=AT + 3)
    world = control_world(found)
    assert ("◆", "Scale narrow out: 1 → 3 executors (applied)", "/recommendation/r1") in marks(
        world, "narrow"
    )
    assert not any(href for _, _, href in marks(world, "wide"))
    assert marks(control_world(recommendation()), "narrow") == [], "a proposal is not done"


def test_moves_mark_both_clusters_but_only_their_operator():
    world = control_world(MOVED)
    moved = ("⇄", "Move topic_count from narrow to wide (applied)", "/recommendation/m1")
    assert moved in marks(world, "narrow")
    assert moved in marks(world, "wide")
    assert moved in marks(world, "narrow", "topic_count")
    assert moved not in marks(world, "narrow", "top_n")


def test_a_rebalance_of_a_recommendation_is_marked_once():
    rebalance = Rebalance(
        id="m1", at=AT, moves=(MoveState(move=MOVES.moves[0], step=MoveStep.DONE, since=AT),)
    )
    world = replace(control_world(MOVED), rebalances=[rebalance])
    assert [s for s, *_ in marks(world, "narrow")].count("⇄") == 1
    alone = replace(control_world(), rebalances=[replace(rebalance, id="other")])
    assert ("⇄", "topic_count moved from narrow to wide", "/balance") in marks(alone, "narrow")


def test_executors_that_come_and_go_are_marked():
    samples = [wide(START), wide(START + 2), wide(START + 4), wide(START + 6)]
    counts = (3, 5, 5, 4)
    series = [
        replace(s, cluster=replace(s.cluster, executors=n))
        for s, n in zip(samples, counts, strict=True)
    ]
    world = world_of({"wide": series}, at=START + 7)
    assert marks(world, "wide") == [
        ("▲", "2 executors came: 3 → 5", ""),
        ("▼", "1 executor went: 5 → 4", ""),
    ]


def test_commands_given_by_hand_are_marked():
    assert ("●", "asked to scale to 4 executors (running)", "") in marks(demo_world(), "wide")


def test_marks_are_sent_when_they_change_and_only_then():
    world = control_world()
    _, seen = delta(PAGES, world, cursor_of(start(PAGES, world, "/")[0]["cursor"]))
    message, _ = delta(PAGES, world, seen)
    assert "events" not in message
    after = control_world(recommendation(*DONE, applied_at=AT))
    message, _ = delta(PAGES, after, seen)
    assert message["events"]["narrow"][0]["href"] == "/recommendation/r1"
    assert "redraw" not in message
    assert events(after, ["wide"])["wide"][0]["shape"] == "●"


def test_the_page_tells_everything():
    found = recommendation(*DONE, applied_at=AT + 3, comment="Launch")
    shown = pages.detail(control_world(found), found)
    assert [e.status for e in shown.history] == list(DONE)
    assert shown.history[0].address == "10.0.0.7"
    assert shown.measured
    assert shown.verbs == ("rollback",)
    assert shown.expires_at is None
    drawn = to_json(draw(control_world(found), "/recommendation/r1"))
    for part in ("step 1", "10.0.0.7", found.plan_hash, "narrow around that time", "Launch"):
        assert part in drawn


def test_what_came_to_nothing_says_why_at_the_top():
    found = recommendation(Status.REJECTED)
    assert pages.detail(control_world(found), found).verdict == "Step 1."
    open_ = recommendation(Status.APPROVED)
    assert pages.detail(control_world(open_), open_).verdict == ""


def test_rollbacks_point_to_each_other():
    done = recommendation(*DONE, applied_at=AT)
    back = recommendation(id="r2", rollback_of="r1")
    world = control_world(back, done)
    assert [(link.text, link.id) for link in pages.detail(world, done).links] == [
        ("Undone by", "r2")
    ]
    assert [(link.text, link.id) for link in pages.detail(world, back).links] == [
        ("It undoes", "r1")
    ]


def test_the_page_shows_the_time_around_it_and_is_drawn_again_with_each_step():
    found = recommendation(*DONE)
    world = control_world(found)
    data, page = start(PAGES, world, "/recommendation/r1")
    assert data["span"] == [round((AT - 180) * 1000), round((AT + 3 + 300) * 1000)]
    assert page.clusters == ("narrow",)
    assert data["charts"][0]["x"], "the series have points"
    message, _ = delta(PAGES, world, cursor_of(data["cursor"]))
    assert "redraw" not in message
    assert recommendation_ids.RECOMMENDATION in message["regions"]
    on = control_world(recommendation(*DONE, Status.EFFECTIVE))
    assert delta(PAGES, on, cursor_of(data["cursor"]))[0]["redraw"] is True


def test_one_that_only_the_store_knows_stays_as_it_was_drawn():
    hub_world = control_world()
    fetched = control_world(fetched=recommendation(*DONE, Status.EFFECTIVE))
    data, page = start(PAGES, fetched, "/recommendation/r1")
    assert page.charts
    assert "Scale narrow out" in to_json(draw(fetched, "/recommendation/r1"))
    assert "redraw" not in delta(PAGES, hub_world, cursor_of(data["cursor"]))[0]


def test_an_old_one_takes_no_live_points():
    found = recommendation(*DONE, at=AT - 3600)
    assert PAGES.page(control_world(found), "/recommendation/r1").clusters == ()


def test_an_unknown_one_says_where_to_look():
    drawn = to_json(draw(control_world(), "/recommendation/nobody"))
    assert "There is no recommendation nobody" in drawn
    assert "To the audit trail" in drawn
