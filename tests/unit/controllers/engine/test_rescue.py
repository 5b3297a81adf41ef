"""Clusters die: what they ran is placed among those that live, as a recommendation like any other."""

from tests.support import people
from tests.unit.controllers.engine.engine_world import QUICK, Lead, World, run
from weir.controllers.engine.cycle import propose_rescue
from weir.controllers.engine.facts import read_facts
from weir.controllers.engine.ports import Part, Placement
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.decision import Rescue
from weir.controllers.model.failover import FAILOVER, FailoverSettings
from weir.controllers.model.placement import cluster_lease, operator_lease
from weir.controllers.model.sample import Mode

LEASE_S = FailoverSettings().lease_s


class Mortals(World):
    """Hosts that give signs of life and hold their leases for as long as they live."""

    def report(self) -> None:
        super().report()
        for name, place in self.places.items():
            if place.silent or not place.hosted:
                continue
            self.store.beat(Part(id=f"host:{name}", kind="host", name=name, at=self.now))
            self.store.acquire(cluster_lease(name), f"app-{name}/1", LEASE_S)
            for op, where in self.where.items():
                lease = self.store.lease(operator_lease(op))
                if where == name and (lease is None or lease.holder.startswith(f"app-{name}/")):
                    self.store.acquire(operator_lease(op), f"app-{name}/{self.runs[op]}", LEASE_S)

    def hosts(self) -> None:
        """Take over what is placed here once its lease is free; who is silent does nothing."""
        for op, placed in self.store.placements().items():
            old, new = self.places.get(self.where[op]), self.places[placed.cluster]
            if placed.cluster == self.where[op] or new.silent:
                continue
            lease = self.store.lease(operator_lease(op))
            if lease is not None and old is not None and not old.silent:
                self.store.release(lease)
            elif lease is None:
                self.where[op] = placed.cluster
                self.runs[op] += 1


def mortals(**loads: dict[str, float]) -> tuple[Mortals, Lead]:
    world = Mortals(**loads)
    for op in world.where:
        lease = world.store.lease(operator_lease(op))
        assert lease is not None
        world.store.release(lease)
    world.store.save_settings("engine", QUICK)
    for name in loads:
        world.store.save_settings(f"scale:{name}", {"scaler": "no_op"})
    lead = Lead(world)
    go_on(world, lead, 10.0)
    return world, lead


def go_on(world: World, lead: Lead, seconds: float) -> None:
    """World and engine by turns, a second each; a rescue comes first in every cycle."""
    end = world.now + seconds
    while world.now < end:
        world.tick(1.0)
        world.store.renew(lead.lease, 30.0)
        lead.do(propose_rescue(lead.facts(), world.now))
        lead.cycle()


def rescues(world: World) -> list[Recommendation]:
    return [r for r in world.store.recommendations() if r.kind == "rescue"]


def test_what_a_dead_cluster_ran_is_started_elsewhere_by_itself() -> None:
    world, lead = mortals(a={"x": 0.4, "y": 0.2}, b={"z": 0.3}, c={})
    died_at = world.now
    world.places["a"].silent = True
    go_on(world, lead, LEASE_S + 3.0)
    (found,) = rescues(world)
    assert isinstance(found.decision, Rescue)
    assert {m.operator for m in found.decision.moves} == {"x", "y"}
    assert found.decision.died_at == {"a": died_at}
    assert all(m.source == "a" for m in found.decision.moves)
    assert {p.cluster for p in world.store.placements().values()} <= {"b", "c"}
    go_on(world, lead, 5.0)
    (found,) = rescues(world)
    assert found.status is Status.EFFECTIVE
    assert found.mode == "approve"  # by itself, also where a person approves everything else
    assert "a died" in found.verdict
    assert "x in" in found.verdict
    assert {"cluster.died", "recommendation.effective"} <= {e.action for e in world.store.audit()}
    (death,) = world.store.deaths()
    assert (death.cluster, death.lost, death.waits) == ("a", (), "")


def test_nobody_is_dead_who_is_only_slow_or_still_holds_a_lease() -> None:
    world, lead = mortals(a={"x": 0.4}, b={})
    world.places["a"].silent = True
    world.store.acquire(cluster_lease("a"), "app-a/1", 60.0)  # its thread still renews
    go_on(world, lead, 20.0)
    assert not world.store.deaths()
    assert not rescues(world)


def test_an_engine_that_has_just_begun_to_look_declares_nobody_dead() -> None:
    world, lead = mortals(a={"x": 0.4}, b={})
    world.places["a"].silent = True
    world.tick(LEASE_S + 2.0)
    facts = lead.facts()
    assert set(facts.deaths) == {"a"}
    store = world.store
    early = read_facts(store, world.now, lead.lease.token, outlook=None, outlooks={}, watched_s=1.0)
    assert not early.deaths


def test_two_at_once_down_to_the_last_one() -> None:
    world, lead = mortals(a={"x": 0.4}, b={"y": 0.2}, c={"z": 0.1})
    world.places["a"].silent = world.places["b"].silent = True
    go_on(world, lead, LEASE_S + 6.0)
    assert {p.cluster for p in world.store.placements().values()} == {"c"}
    world.places["c"].silent = True
    go_on(world, lead, LEASE_S + 6.0)
    waits = {d.cluster: d.waits for d in world.store.deaths()}
    assert "no cluster lives" in waits["c"]
    world.places["b"].silent = False  # b comes back and takes all
    go_on(world, lead, LEASE_S + 6.0)
    assert {p.cluster for p in world.store.placements().values()} == {"b"}
    assert [d.cluster for d in world.store.deaths()] == ["a", "c"]
    assert "cluster.returned" in {e.action for e in world.store.audit()}


def test_a_target_that_dies_meanwhile_is_rescued_from() -> None:
    world, lead = mortals(a={"x": 0.4}, b={}, c={"z": 0.9})
    world.places["a"].silent = True
    go_on(world, lead, LEASE_S + 1.0)
    (first,) = rescues(world)
    target = first.decision.moves[0].target
    world.places[target].silent = True
    go_on(world, lead, LEASE_S + 8.0)
    (left,) = {"b", "c"} - {target}
    assert world.store.placements()["x"].cluster == left
    assert world.where["x"] == left


def test_what_finds_no_room_waits_and_says_so() -> None:
    world, lead = mortals(a={"x": 5.0, "y": 0.2}, b={})
    world.places["b"].most = 1
    world.tick()
    world.places["a"].silent = True
    go_on(world, lead, LEASE_S + 6.0)
    placed = world.store.placements()
    assert (placed["x"].cluster, placed["y"].cluster) == ("a", "b")
    (death,) = world.store.deaths()
    assert death.lost == ("x",)
    assert "no room" in death.waits


def test_paused_it_is_proposed_and_a_person_may_approve_it() -> None:
    world, lead = mortals(a={"x": 0.4}, b={})
    world.store.save_settings("engine", {**QUICK, "paused": True})
    world.places["a"].silent = True
    go_on(world, lead, LEASE_S + 6.0)
    (found,) = rescues(world)
    assert found.status is Status.PROPOSED
    assert [g.name for g in found.guards if not g.open] == ["pause"]
    world.store.save_settings("engine", QUICK)
    go_on(world, lead, 5.0)
    (found,) = rescues(world)
    assert found.status is Status.EFFECTIVE


def test_the_switch_and_the_modes_hold_it_back() -> None:
    for settings, mode, proposed in (
        ({"rescue_by_itself": False}, Mode.AUTO, True),
        ({}, Mode.RECOMMEND, True),
        ({}, Mode.OBSERVE, False),
    ):
        world, lead = mortals(a={"x": 0.4}, b={})
        world.store.save_settings(FAILOVER, settings)
        people.set_mode(world.store, "a", mode, by="ada", now=world.now)
        world.places["a"].silent = True
        go_on(world, lead, LEASE_S + 6.0)
        assert [r.status for r in rescues(world)] == [Status.PROPOSED] * proposed
        assert world.store.placements()["x"] == Placement(operator="x", cluster="a")


def test_an_operator_that_is_rescued_again_and_again_waits_for_a_person() -> None:
    world, lead = mortals(a={"x": 0.4}, b={}, c={}, d={}, e={})
    for _ in range(4):
        where = world.store.placements()["x"].cluster
        world.places[where].silent = True
        go_on(world, lead, LEASE_S + 8.0)
    assert [r.status for r in rescues(world)].count(Status.EFFECTIVE) == 3
    (open_,) = [r for r in rescues(world) if not r.status.final]
    assert open_.status is Status.PROPOSED
    shut = [g for g in open_.guards if not g.open]
    assert "rescued 3 times" in shut[0].reason
    assert shut[0].opens_at is not None


def test_a_cluster_that_is_back_ends_the_proposal_and_takes_its_own_up_again() -> None:
    world, lead = mortals(a={"x": 0.4}, b={})
    world.store.save_settings(FAILOVER, {"rescue_by_itself": False})
    world.places["a"].silent = True
    go_on(world, lead, LEASE_S + 6.0)
    world.places["a"].silent = False
    go_on(world, lead, 4.0)
    (found,) = rescues(world)
    assert found.status is Status.CANCELLED
    assert "lives again" in found.history[-1].why
    assert not world.store.deaths()


def test_a_dead_cluster_does_not_hold_up_other_plans() -> None:
    world, lead = mortals(a={}, b={"x": 0.9, "y": 0.9}, c={})
    world.store.save_settings("balance", {"planner": "milp", "least_periods": 2, "hold_s": 0.0})
    world.places["a"].silent = True
    go_on(world, lead, LEASE_S + 4.0)
    run(world, lead, 30.0, planner="milp")
    plans = [r for r in world.store.recommendations() if r.kind == "rebalance"]
    assert plans, lead.facts().outlook
    assert all("a" not in r.clusters for r in plans)
