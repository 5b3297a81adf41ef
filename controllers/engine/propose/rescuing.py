"""What dead clusters left behind, placed among those that live.

The planner that the engine follows says where to; what it leaves, or places above
`most_load`, goes largest first to where it fits best. Nothing else moves meanwhile.
"""

from collections.abc import Collection, Mapping
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.balancing.base import planner
from weir.controllers.balancing.problem import Bin, Budget, Item, Problem
from weir.controllers.engine.apply.effects import Chain, Create, KeepDeaths, Save
from weir.controllers.engine.deaths import death_entries
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard import guards
from weir.controllers.engine.propose.balance import names_in, problem_now
from weir.controllers.engine.propose.make import new_id, new_recommendation
from weir.controllers.engine.recommendation import ENGINE, Recommendation, Status, move_to
from weir.controllers.model.decision import Move, Prediction, Reason, Rescue
from weir.controllers.model.failover import Death
from weir.controllers.model.sample import Cluster, Mode
from weir.controllers.model.words import number_of, percent

RESCUE = "rescue"
MOST_PLANNED = 200
"""With more lost operators than this no planner is asked: they go largest first."""
_UNDER_WAY = (Status.APPROVED, Status.APPLYING)


class Places(Struct, frozen=True, kw_only=True):
    """Where lost operators go, and why the others go nowhere."""

    moves: tuple[Move, ...] = ()
    waits: dict[str, str] = {}  # operator -> why


def propose_rescue(facts: Facts, now: float) -> list[Chain]:
    """Propose to start elsewhere what was lost; note who died and who is back."""
    chains: list[Chain] = []
    waits: dict[str, str] = {}  # cluster -> why nothing is proposed for what it lost
    for advice in (False, True):
        lost = {
            name: death.cluster
            for death in facts.deaths.values()
            for name in death.lost
            if _is_advice(facts, death) is advice and name not in _coming(facts)
        }
        places = _places(facts, lost) if lost else Places()
        for name, why in places.waits.items():
            waits.setdefault(lost[name], f"{name}: {why}")
        if lost:
            chains += _propose(places, facts, now, advice)
    for death in facts.deaths.values():
        if facts.modes.get(death.cluster) is Mode.OBSERVE and death.lost:
            waits[death.cluster] = "its mode is observe"
    after = {n: replace(d, waits=waits.get(n, "")) for n, d in facts.deaths.items()}
    if list(after.values()) != list(facts.deaths_known):
        said = tuple(death_entries(facts.deaths_known, after, facts.snapshot, now))
        chains.insert(0, (KeepDeaths(deaths=tuple(after.values()), said=said),))
    return chains


def _is_advice(facts: Facts, death: Death) -> bool | None:
    """Whether the mode of a dead cluster makes it advice only; None: not even that."""
    mode = facts.modes.get(death.cluster, Mode.APPROVE)
    return None if mode is Mode.OBSERVE else mode is Mode.RECOMMEND


def _coming(facts: Facts) -> set[str]:
    """Operators that are on their way already."""
    under_way = {
        move.operator
        for r in facts.recommendations
        if r.status in _UNDER_WAY and isinstance(r.decision, Rescue)
        for move in r.decision.moves
    }
    return under_way | {m.move.operator for r in facts.rebalances for m in r.moves if m.step.paused}


def _propose(places: Places, facts: Facts, now: float, advice: bool) -> list[Chain]:
    open_ = [
        (r, r.decision)
        for r in facts.recommendations
        if r.status is Status.PROPOSED and isinstance(r.decision, Rescue)
        if any(facts.modes.get(m.source) is Mode.RECOMMEND for m in r.decision.moves) is advice
    ]
    wanted = {m.operator for m in places.moves}
    living = {c.name for c in _living(facts)}
    for _, decision in open_:
        same = {m.operator for m in decision.moves} == wanted
        if same and all(m.target in living for m in decision.moves):
            return []  # a plan that changes at every look cannot be approved by anybody
    gone: list[Chain] = [
        (
            Save(
                recommendation=move_to(
                    found, Status.SUPERSEDED, at=now, by=ENGINE, why="more or less was lost"
                )
            ),
        )
        for found, _ in open_
    ]
    if not places.moves:
        return gone
    fresh = _recommend(places.moves, facts, now)
    fresh = replace(fresh, guards=guards.guard_states(facts.case(fresh, now)))
    return [*gone, (Create(recommendation=fresh),)]


def _recommend(moves: tuple[Move, ...], facts: Facts, now: float) -> Recommendation:
    dead = dict.fromkeys(m.source for m in moves)
    died_at = {name: facts.deaths[name].at for name in dead}
    past = [
        r.measured.outage_s
        for r in facts.recommendations
        if isinstance(r.decision, Rescue) and r.measured and r.measured.outage_s is not None
    ]
    died = " and ".join(dead) + (" has" if len(dead) == 1 else " have")
    decision = Rescue(
        moves=moves,
        died_at=died_at,
        reason=Reason(
            text=f"{died} died; {number_of(len(moves), 'operator')} of what ran there can start elsewhere.",
            rule="no sign of life and no lease",
            numbers={f"silent_s of {n}": round(now - at, 1) for n, at in died_at.items()},
        ),
        prediction=Prediction(pause_s=median(past) if past else None),
    )
    return new_recommendation(
        decision,
        facts.snapshot,
        id=new_id(RESCUE, [(m.operator, m.source, m.target) for m in moves], now),
        source=RESCUE,
        now=now,
        ttl_s=max(facts.engine.ttl_s, 600.0),
        recent=facts.lately({m.target for m in moves}, now),
    )


# -- where to


def _living(facts: Facts) -> list[Cluster]:
    """Clusters that can take an operator: alive, hosting, and not merely observed. Where a person
    wants one to be emptied, or only advised, it is taken if there is no other."""
    alive = [
        c
        for c in facts.snapshot.clusters
        if c.hosted
        and c.capacity > 0
        and c.name not in facts.deaths
        and not facts.snapshot.silent(c.name)
        and facts.modes.get(c.name) is not Mode.OBSERVE
    ]
    draining = names_in(facts.balance.draining_clusters)
    better = [
        c for c in alive if c.name not in draining and facts.modes.get(c.name) is not Mode.RECOMMEND
    ]
    return better or alive


def _places(facts: Facts, lost: Mapping[str, str]) -> Places:
    """Where each lost operator goes, of `lost`: operator -> the cluster that died."""
    living = _living(facts)
    if not living:
        return Places(waits=dict.fromkeys(lost, "no cluster lives that could take it"))
    problem = _problem(facts, lost, living)
    wished = _wanted_places(facts, problem, lost)
    room = {c.name: _room(c, facts) for c in living}
    load = {c.name: 0.0 for c in living}
    for item in problem.items:
        if item.name not in lost and item.bin in load:
            load[item.bin] += item.load
    moves: list[Move] = []
    waits: dict[str, str] = {}
    items = sorted((i for i in problem.items if i.name in lost), key=lambda i: (-i.load, i.name))
    for item in items:
        able = [c for c in living if not c.unfit_for(item.name)]
        if not able:
            waits[item.name] = "no cluster that lives declares it"
            continue
        able.sort(
            key=lambda c: (
                c.name != wished.get(item.name),
                (load[c.name] + item.load) / c.capacity,
                c.name,
            )
        )
        target = next((c.name for c in able if load[c.name] + item.load <= room[c.name]), None)
        if target is None:
            waits[item.name] = (
                f"no room: it needs {item.load:.2f} cores, and every cluster that lives would be "
                f"above {percent(facts.failover.most_load)} with all executors that it may have"
            )
            continue
        load[target] += item.load
        moves.append(Move(operator=item.name, source=lost[item.name], target=target))
    return Places(moves=tuple(moves), waits=waits)


def _room(cluster: Cluster, facts: Facts) -> float:
    """Cores of load that it may carry once it has all executors that it may have."""
    executors = cluster.executors
    if cluster.can_scale:
        executors = max(executors, cluster.max_executors)
    return executors * cluster.cores_per_executor * facts.failover.most_load


def _problem(facts: Facts, lost: Mapping[str, str], living: Collection[Cluster]) -> Problem:
    """All that lives stays where it is; what was lost may go anywhere."""
    whole = problem_now(replace(facts.snapshot, dead=()), facts.samples, facts.balance)
    known = {item.name: item for item in whole.items}
    names = {c.name for c in living}
    allowed = {name: tuple(c.name for c in living if not c.unfit_for(name)) for name in lost}
    last = {o.name: o.load for o in facts.snapshot.operators}
    items = [replace(i, pinned=True, known=True) for i in whole.items if i.bin in names]
    for name, cluster in lost.items():
        item = known.get(name) or Item(name=name, load=max(0.0, last.get(name, 0.0)), bin=cluster)
        items.append(replace(item, bin=cluster, pinned=False, known=True, allowed=allowed[name]))
    dead = dict.fromkeys(lost.values())
    bins = [Bin(name=c.name, capacity=float(c.capacity)) for c in living]
    bins += [Bin(name=name, capacity=1.0, keep=False) for name in dead]
    there = {item.name for item in items}
    flows = tuple(f for f in whole.flows if f.source in there and f.target in there)
    return replace(whole, bins=tuple(bins), items=tuple(items), flows=flows, budget=Budget())


def _wanted_places(facts: Facts, problem: Problem, lost: Mapping[str, str]) -> dict[str, str]:
    """Where the planner that the engine follows would put them."""
    if len(lost) > MOST_PLANNED:
        return {}
    try:
        plan = planner(facts.balance.planner).plan(problem)
    except Exception:  # whatever breaks a planner must not keep operators dead
        return {}
    return {m.operator: m.target for m in plan.moves if m.operator in lost}


def warm_up() -> None:
    """Compile what the first rescue needs: it has no time to."""
    bins = (Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0, keep=False))
    item = Item(name="x", load=0.5, bin="b")
    for name in ("milp", "static_greedy"):
        planner(name).plan(Problem(bins=bins, items=(item,)))
