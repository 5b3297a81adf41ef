"""A re-slice from the overload that calls for it to its verdict, and back."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.support import people
from tests.support.given import given_mode
from tests.unit.controllers.engine.engine_world import QUICK, Lead, World
from weir.controllers.engine.apply.reslices import ResliceStep
from weir.controllers.engine.ports import Placement
from weir.controllers.engine.recommendation import Recommendation, Status, hash_of
from weir.controllers.model.decision import Reslice
from weir.controllers.model.errors import Refused
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.sample import Mode, OperatorSample
from weir.controllers.model.slicing import Slicing
from weir.controllers.service import Request
from weir.controllers.service import rollback as roll_back

COST = 0.02
"""Cores that each of the 64 key groups needs."""


class Sliced(World):
    """Two slices of `count`; who owns how many key groups decides what each needs."""

    def __init__(self, owners: dict[str, tuple[int, ...]], fails: str = "") -> None:
        self.slicing = Slicing(operator="count", owners=owners)
        self.fails = fails
        super().__init__(a={"count.0": 0.0}, b={"count.1": 0.0})
        self.store.slice_if(self.slicing, None)
        self.report()

    def report(self) -> None:
        for name, owned in self.slicing.owners.items():
            self.work[name] = COST * len(owned)
        super().report()

    def hosts(self) -> None:
        """Also does what a re-slice asks for, as hosts and the persisted protocol would."""
        for order in self.store.reslicings():
            if order.final:
                continue
            if self.fails:
                gone = replace(order, step=ResliceStep.RETURNED, message=self.fails)
                self.store.save_reslicing(gone)
                continue
            seen = self.store.slicings()["count"]
            self.slicing = seen.resliced(order.owners)
            assert self.store.slice_if(self.slicing, seen)
            for name, cluster in order.clusters.items():
                self.where[name] = self.home[name] = cluster
                self.runs[name] = 1
                self.store.place(Placement(operator=name, cluster=cluster))
                self.store.acquire(operator_lease(name), f"app-{cluster}/1", 1e9)
            for name in set(self.work) - set(order.owners):
                del self.work[name]
            self.store.save_reslicing(replace(order, step=ResliceStep.DONE))
        super().hosts()

    def _operator(self, op: str, name: str, share: float) -> OperatorSample:
        found = super()._operator(op, name, share)
        owned = self.slicing.groups_of(op)
        late = self.work[op] / self.places[name].executors > 0.9
        rows = found.arrival_rows_per_s
        return replace(
            found,
            slice_of="count",
            key_groups=owned,
            group_rows_per_s=tuple(rows / len(owned) for _ in owned),
            queue_rows=int(rows * (30.0 if late else 0.0)),
        )


def world_with(mode: Mode = Mode.APPROVE, fails: str = "", **engine: Any) -> Sliced:
    world = Sliced({"count.0": tuple(range(52)), "count.1": tuple(range(52, 64))}, fails)
    world.store.save_settings("engine", {**QUICK, **engine})
    world.store.save_settings("balance", {"planner": "no_op", "least_periods": 2})
    for name in world.places:
        world.store.save_settings(f"guards:{name}", {"stabilisation_s": 4})
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
        given_mode(world.store, name, mode)
    return world


def run(world: World, lead: Lead, seconds: float) -> None:
    end = world.now + seconds
    while world.now < end:
        world.tick()
        lead.cycle(planner="no_op")


def reslices(world: World) -> list[Recommendation]:
    return [r for r in world.store.recommendations() if r.kind == "reslice"]


def test_an_overloaded_slice_hands_on_is_approved_applied_and_found_effective() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 12.0)
    (found,) = reslices(world)
    assert (found.status, found.source, found.clusters) == ("proposed", "smr", ("a", "b"))
    assert isinstance(found.decision, Reslice)
    assert found.decision.prediction.moved_share == pytest.approx(26 / 64)
    assert found.predicted.load == pytest.approx({"a": 26 * COST, "b": 38 * COST})
    run(world, lead, 10.0)
    assert [r.id for r in reslices(world)] == [found.id]
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    run(world, lead, 8.0)
    assert len(world.slicing.owners["count.0"]) == 26
    run(world, lead, 24.0)
    done = world.store.recommendation(found.id)
    assert done.status is Status.EFFECTIVE
    assert [e.status for e in done.history] == [
        "proposed", "approved", "applying", "applied", "effective",
    ]  # fmt: skip
    said = [e for e in world.store.audit_since(0) if e.subject == found.id]
    assert said[0].detail == "count: 2 slices, 26 key groups from count.0 to count.1"
    assert world.store.reslicings()[0].by == "ada"


def test_what_was_done_can_be_rolled_back_exactly() -> None:
    world = world_with()
    lead = Lead(world)
    before = world.slicing.owners
    run(world, lead, 12.0)
    (found,) = reslices(world)
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    run(world, lead, 8.0)
    back = roll_back(world.store, Request(by="ada", at=world.now, comment="no"), found.id)
    assert back.rollback_of == found.id
    run(world, lead, 8.0)
    assert world.slicing.owners == before
    with pytest.raises(Refused, match="rollback is applied already"):
        roll_back(world.store, Request(by="ada", at=world.now, comment="no"), found.id)


def test_a_re_slice_that_went_back_is_a_failure_and_nothing_is_undone() -> None:
    world = world_with(fails="the state could not be read")
    lead = Lead(world)
    run(world, lead, 12.0)
    (found,) = reslices(world)
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    run(world, lead, 4.0)
    failed = world.store.recommendation(found.id)
    assert failed.status is Status.FAILED
    assert failed.history[-1].why == "the state could not be read"
    assert [r for r in world.store.recommendations() if r.rollback_of] == []


def test_an_approval_of_slices_that_are_others_by_now_is_refused() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 12.0)
    (found,) = reslices(world)
    seen = world.slicing
    world.slicing = seen.handed((0,), "count.0", "count.1")
    assert world.store.slice_if(world.slicing, seen)
    world.tick()
    with pytest.raises(Refused, match="the slices of count are others now"):
        people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)


def test_by_itself_in_mode_auto_and_pause_all_stops_it() -> None:
    world = world_with(Mode.AUTO)
    people.pause_all(world.store, by="ada", now=world.now)
    lead = Lead(world)
    run(world, lead, 16.0)
    assert [r.status for r in reslices(world)] == ["proposed"]
    people.resume_all(world.store, by="ada", now=world.now)
    run(world, lead, 12.0)
    assert len(world.slicing.owners["count.0"]) == 26


def test_a_leader_that_dies_between_order_and_end_is_followed_by_one_that_goes_on() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 12.0)
    (found,) = reslices(world)
    people.approve(world.store, found.id, found.plan_hash, by="ada", now=world.now)
    lead.cycle(planner="no_op")
    assert world.store.recommendation(found.id).status is Status.APPLYING
    world.store.release(lead.lease)
    heir = Lead(world, "two")
    run(world, heir, 6.0)
    assert len(world.store.reslicings()) == 1
    assert world.store.recommendation(found.id).applied_at is not None


def test_a_proposal_is_taken_back_when_the_planner_no_longer_asks() -> None:
    world = world_with(withdraw_s=6.0)
    lead = Lead(world)
    run(world, lead, 12.0)
    (found,) = reslices(world)
    world.places["a"].executors = world.places["a"].wanted = 4
    run(world, lead, 12.0)
    gone = world.store.recommendation(found.id)
    assert gone.status is Status.CANCELLED
    assert "smr has been content with the slices of count" in gone.history[-1].why


def test_the_hash_is_that_of_owners_and_places_not_of_words() -> None:
    world = world_with()
    lead = Lead(world)
    run(world, lead, 12.0)
    decision = reslices(world)[0].decision
    assert isinstance(decision, Reslice)
    assert hash_of(replace(decision, reason=replace(decision.reason, text="?"))) == hash_of(
        decision
    )
    assert hash_of(replace(decision, clusters={"count.1": "c"})) != hash_of(decision)
    assert hash_of(replace(decision, owners=decision.was)) != hash_of(decision)
