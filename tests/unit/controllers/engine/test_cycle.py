"""The engine's cycle in a small world: from an overload to a verdict, and every way aside."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.unit.controllers.engine.engine_world import Lead, World, only, run, world_with
from weir.controllers.engine.audit import AuditEntry, first_break
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.decision import Scale
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Memory
from weir.controllers.scaling.registry import scalers

OFTEN = {
    "qlearning": {"decision_interval_s": 4.0, "policy": "epsilon"},
    "spark_streaming": {"scaling_interval_s": 6.0},
    "dodo": {"launch_s": 6.0},
    "thresholds": {"upper_s": 4.0, "grace_s": 6.0},
    "predictive": {"step_s": 2.0, "inner": "drs"},
}
"""Scalers that decide so often that a minute tells."""


def test_an_overload_is_recognised_explained_approved_applied_and_found_effective() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 12.0)
    found = only(world)
    assert (found.status, found.source, found.kind) == ("proposed", "rate_based", "scale_out")
    assert isinstance(found.decision, Scale)
    assert found.decision.reason.rule == "need at max_utilisation > capacity"
    assert found.before.load["a"] == pytest.approx(1.6)
    assert found.predicted.load["a"] == pytest.approx(1.6 / found.decision.executors)
    assert all(g.open for g in found.guards)
    run(world, lead, 20.0)
    assert only(world).id == found.id  # the same again is no second proposal
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    run(world, lead, 10.0)
    assert world.places["a"].scaled == [found.id]
    assert world.store.command(found.id)[0].by == "ada"
    run(world, lead, 24.0)
    done = world.store.recommendation(found.id)
    assert done.status is Status.EFFECTIVE
    assert done.effectiveness == pytest.approx(1.0)
    assert "so 100 % of it came true" in done.verdict
    assert [e.status for e in done.history] == [
        "proposed", "approved", "applying", "applied", "effective",
    ]  # fmt: skip
    trail = world.store.audit_since(0)
    assert first_break(trail) is None
    assert [e.action for e in trail if e.subject == found.id] == [
        f"recommendation.{e.status}" for e in done.history
    ]
    assert trail[-1].measured["load"]["a"] == pytest.approx(1.6 / found.decision.executors)


def test_auto_does_the_same_alone_and_pause_all_stops_it() -> None:
    world = world_with(Mode.AUTO)
    people.pause_all(world.store, by="ada", now=world.now)
    lead = Lead(world)
    run(world, lead, 20.0)
    held = only(world)
    assert held.status is Status.PROPOSED
    closed = [g for g in held.guards if not g.open]
    assert [(g.name, g.reason) for g in closed] == [("pause", "every automatic action is paused")]
    assert world.places["a"].scaled == []
    heir = Lead(world, "one")  # pausing survives a new engine
    run(world, heir, 6.0)
    assert world.places["a"].scaled == []
    people.resume_all(world.store, by="ada", now=world.now)
    run(world, heir, 40.0)
    done = world.store.recommendation(held.id)
    assert (done.status, done.mode) == (Status.EFFECTIVE, "auto")
    assert world.places["a"].scaled == [held.id]


def test_observe_only_looks_and_says_so() -> None:
    world = world_with(Mode.OBSERVE)
    run(world, Lead(world), 12.0)
    assert world.store.recommendations() == []
    view = world.store.scale_outlooks()["a"]
    assert view.wait == "mode observe: the engine only looks"
    assert {a.scaler for a in view.answers} > {"drs", "rate_based", "dodo"}
    assert world.store.memories("a").keys() > {"drs", "rate_based"}


def test_without_an_agent_it_is_advice() -> None:
    world = world_with(Mode.AUTO)
    world.places["a"].can_scale = False
    run(world, Lead(world), 20.0)
    found = only(world)
    assert found.status is Status.PROPOSED
    assert [g.name for g in found.guards if not g.open] == ["agent"]


def test_a_proposal_that_nobody_decides_on_expires() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 8.0)
    first = only(world)
    run(world, lead, 70.0, ask=False)
    assert world.store.recommendation(first.id).status is Status.EXPIRED


def test_another_answer_takes_its_place_but_not_at_once() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 8.0)
    first = only(world)
    world.work["count"] = 1.85
    run(world, lead, 4.0)
    assert only(world) == first
    world.work["count"] = 2.9
    run(world, lead, 26.0)
    old, new = world.store.recommendation(first.id), world.store.recommendations()[0]
    assert old.status is Status.SUPERSEDED
    assert new.decision.executors > old.decision.executors
    assert old.history[-1].why == "a newer proposal takes its place"


def test_what_was_rejected_is_not_proposed_again() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 8.0)
    found = only(world)
    people.reject(world.store, found.id, by="ada", now=world.now)
    run(world, lead, 20.0)
    assert only(world).status is Status.REJECTED
    waits = set()
    for _ in range(3):
        run(world, lead, 2.0)
        waits.add(world.store.scale_outlooks()["a"].wait.split(" s ago")[0][:28])
    assert "ada rejected the same " in {w[:22] for w in waits}


def test_a_resize_elsewhere_ends_a_proposal() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 8.0)
    found = only(world)
    world.places["a"].executors = world.places["a"].wanted = 2
    run(world, lead, 4.0, ask=False)
    ended = world.store.recommendation(found.id)
    assert ended.status is Status.SUPERSEDED
    assert "a has 2 executors now" in ended.history[-1].why


def test_an_ineffective_action_proposes_its_rollback_and_backs_the_mode_off() -> None:
    world = world_with(Mode.AUTO, least_effectiveness=5.0)
    lead = Lead(world)
    run(world, lead, 12.0)
    done = only(world)
    assert done.status in (Status.APPLIED, Status.APPLYING)
    run(world, lead, 28.0, ask=False)
    judged = world.store.recommendation(done.id)
    back = world.store.recommendation(f"{done.id}-back")
    assert judged.status is Status.INEFFECTIVE
    assert back.source == "rollback"
    assert back.decision.executors == 1
    assert world.store.modes()["a"] is Mode.AUTO_WITHIN_CRITERIA
    assert world.store.modes()["b"] is Mode.AUTO
    assert [e.detail for e in world.store.audit_since(0) if e.action == "mode.backed_off"] == [
        "auto -> auto_within_criteria"
    ]


def test_more_work_than_before_is_not_held_against_an_action() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 8.0)
    found = only(world)
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    run(world, lead, 4.0, ask=False)
    world.work["count"] = 2.4
    run(world, lead, 24.0, ask=False)
    judged = world.store.recommendation(found.id)
    assert judged.status is Status.EFFECTIVE
    assert "50 % more work arrives" in judged.verdict


def test_past_errors_calibrate_the_next_prediction() -> None:
    world = world_with()
    snapshot = Snapshot.of(world.store.latest(), world.now)
    decision = scale_by_hand(snapshot, "a", 2)
    for i in range(4):
        past = new_recommendation(
            decision, snapshot, id=f"p{i}", source="rate_based", now=world.now - 500 + i, ttl_s=60
        )
        half = replace(past.before, load={"a": 1.2}, executors={"a": 2})  # 0.8 was promised
        world.store.save_recommendation(
            replace(past, status=Status.EFFECTIVE, measured=half, effectiveness=0.5)
        )
    run(world, Lead(world), 8.0)
    found = world.store.recommendations()[0]
    assert found.calibration == pytest.approx(0.5)
    assert found.error_share == pytest.approx(0.5)
    raw = found.decision.prediction.load["a"]
    assert found.predicted.load["a"] == pytest.approx(1.6 + 0.5 * (raw - 1.6))


def test_scale_in_takes_the_largest_number_asked_for_meanwhile() -> None:
    world = world_with(load=0.3)
    world.places["a"].executors = world.places["a"].wanted = 5
    world.store.save_settings("guards:a", {"scale_in_delay_s": 20, "least_periods": 1})
    world.work["count"] = 1.6
    world.report()
    lead = Lead(world)
    run(world, lead, 6.0)
    world.work["count"] = 0.3
    run(world, lead, 8.0)
    assert world.store.recommendations() == []
    run(world, lead, 30.0)
    found = only(world)
    assert found.kind == "scale_in"
    asked = [n for at, n in world.store.scale_outlooks()["a"].asked if at > found.at - 20]
    assert found.decision.executors >= max(n for n in asked if n < 5)


def test_a_total_over_all_clusters_holds() -> None:
    world = world_with(Mode.AUTO, load=6.0, total_executors=4)
    run(world, Lead(world), 60.0)
    assert world.places["a"].executors == 3  # one is in b


def test_memories_survive_a_new_engine() -> None:
    """Every scaler knows after a change of engines what it would know without one."""

    def memories_after(handover: Callable[[World, Lead], Lead]) -> dict[str, bytes]:
        world = world_with()
        for name, given in OFTEN.items():
            world.store.save_settings(f"scale:a:{name}", given)
        lead = Lead(world)
        for look in range(25):
            if look == 24:
                lead = handover(world, lead)
            world.work["count"] = 0.8 + 0.1 * (look % 9)
            run(world, lead, 2.0)
        return world.store.memories("a")

    def replaced(world: World, lead: Lead) -> Lead:
        world.store.release(lead.lease)
        heir = Lead(world, "two")
        assert heir.lease.token > lead.lease.token
        return heir

    def forgotten(world: World, lead: Lead) -> Lead:
        for name in scalers():
            entry = AuditEntry(at=world.now, by="ada", action="memory.reset")
            world.store.change_memory("a", name, None, entry)
        return lead

    kept = memories_after(lambda world, lead: lead)
    assert memories_after(replaced) == kept
    lost = memories_after(forgotten)
    remembering = {n for n, kind in scalers().items() if kind.memory_type is not Memory}
    assert {n for n in kept if kept[n] != lost[n]} == remembering, "it would have been seen"


def test_the_scorecard_counts_in_hindsight() -> None:
    world = world_with(load=0.5)
    run(world, Lead(world), 130.0)
    scores = {s.scaler: s for s in world.store.scale_outlooks()["a"].scores}
    assert scores["no_op"].judged == 2
    assert scores["no_op"].right == 2  # one executor is enough for half a core
    assert scores["no_op"].differed == 0
