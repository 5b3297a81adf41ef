"""One plan for size and place: which of what scalers and planners ask for is done, and in what order.

    scalers: so many executors each        planner: these operators elsewhere
                        \\                    /
             the cheapest of: both, one of them, neither  (`weir.controllers.balancing.joint`)
                                  |
              scale out -> move -> scale in, each step a recommendation of its own

Only the next step of the plan is proposed. When it is done everything is looked at again, so a
step that fails leaves a world that is sound and planned for anew. What the plan does without
is not proposed, so no two proposals contradict each other.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import fields, replace

from weir.controllers.balancing.joint import ClusterSize, JointProblem, Option, Way, best_options
from weir.controllers.balancing.latency import Timing, timing_of
from weir.controllers.balancing.plan import Plan
from weir.controllers.balancing.problem import Problem
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard.modes import strictest_mode
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.scaling import ScaleSettings
from weir.controllers.engine.recommendation import Kind, Recommendation, Status
from weir.controllers.model.decision import Move, Moves, Reason, Scale
from weir.controllers.model.sample import Mode
from weir.controllers.model.words import number_of, percent
from weir.controllers.scaling.registry import scalers

PLAN_AGE_S = 20.0
PATIENCE_S = 60.0
"""How long a rebalance that people do not answer keeps an automatic cluster from scaling."""
SEARCHING = frozenset({"milp", "integrative"})
"""Planners that weigh anything: beside their placements every move is tried. Any other planner
is followed as it is; only scaling that it makes unnecessary is left out."""
_OPEN = (Status.PROPOSED, Status.APPROVED, Status.APPLYING)


def options_now(
    facts: Facts, view: Outlook, wanted: Mapping[str, int], *, may_move: bool = True
) -> tuple[Option, ...]:
    """The ways to go on, best first; `wanted` are sizes that scalers ask for at this moment."""
    plan = followed_plan(view, facts)
    open_ = _open_moves(facts)
    placements = [] if plan is None else [plan.placement]
    proposed: tuple[Move, ...] = ()
    if open_ is not None and isinstance(open_.decision, Moves):
        proposed = open_.decision.moves
        placements.append(_apply_moves(view.problem, proposed))
    asked = {**_sizes_asked(facts), **wanted}
    return best_options(
        _question(facts, view.problem, asked),
        placements,
        may_move=may_move and plan is not None and facts.balance.planner != "no_op",
        search=facts.balance.planner in SEARCHING,
        proposed=proposed,
    )


def scale_in_plan(
    decision: Scale, facts: Facts, now: float
) -> tuple[Scale, str, tuple[Option, ...]]:
    """A scaler's answer as part of the plan: what is left of it, why none is, and the options."""
    view = facts.outlook
    cluster, out = decision.cluster, decision.executors > decision.before
    others = [r for r in facts.recommendations if r.status in _OPEN]
    if not out and any(r.kind is Kind.SCALE_OUT and r.clusters != (cluster,) for r in others):
        return decision, "a scale-out elsewhere comes first", ()
    moving = _open_moves(facts)
    touches = moving is not None and cluster in moving.clusters
    if touches and moving is not None and moving.status is not Status.PROPOSED:
        return decision, f"the rebalance that is {moving.status} comes first", ()
    if view is None or now - view.at > PLAN_AGE_S or _elsewhere(facts, view.problem):
        return decision, "", ()
    mine = facts.modes.get(cluster, Mode.APPROVE)
    waited = moving is not None and now - moving.at >= PATIENCE_S
    may_move = not (waited and mine in (Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA))
    may_move = may_move and (touches or not view.wait)
    options = options_now(facts, view, {cluster: decision.executors}, may_move=may_move)
    if not options:
        return decision, "", ()
    best = options[0]
    modes = strictest_mode(facts.modes, clusters_touched(best.moves)) if best.moves else mine
    if best.moves and modes in (Mode.OBSERVE, Mode.RECOMMEND):
        options = options_now(facts, view, {cluster: decision.executors}, may_move=False)
        best = options[0]
    size = best.sizes.get(cluster)
    if best.way in (Way.NOTHING, Way.SIZE) or not best.moves:
        return decision, "", options  # what scaling alone costs is for its scaler to judge
    if size is None or (size > decision.before) != out:
        return decision, _instead(best, decision), options
    if not out:
        return decision, f"first {moves_in_words(best.moves)}, then it can be smaller", options
    if size < decision.executors:
        text = f"{decision.reason.text} With {moves_in_words(best.moves)}, {size} are enough."
        decision = replace(decision, executors=size, reason=replace(decision.reason, text=text))
    return decision, "", options


def moves_in_plan(
    facts: Facts, view: Outlook
) -> tuple[tuple[Move, ...] | None, str, tuple[Option, ...]]:
    """The moves that the plan for size and place makes now; None with the reason if none."""
    options = options_now(facts, view, {})
    best = options[0]
    larger = sorted(n for n, size in best.sizes.items() if size > facts_size(facts, n))
    if larger and (not best.moves or clusters_touched(best.moves) & {*larger}):
        text = f"scaling of {', '.join(larger)} comes first; then it is planned again"
        return None, text, options
    if not best.moves:
        spare = next((o for o in options if o.moves), None)
        if spare is None:
            return None, "", options
        worth = spare.cost - best.cost
        return (
            None,
            f"{moves_in_words(spare.moves)} would cost {_worth(worth)} more than it brings",
            options,
        )
    return best.moves, "", options


def followed_plan(view: Outlook, facts: Facts) -> Plan | None:
    """The plan of the planner that is followed; None if there is no such planner."""
    name = facts.balance.planner
    return next((p.plan for p in view.proposals if p.plan.planner == name), None)


def clusters_touched(moves: Sequence[Move]) -> set[str]:
    """The clusters that moves take from or give to."""
    return {c for m in moves for c in (m.source, m.target)}


def moves_in_words(moves: Sequence[Move]) -> str:
    """What moves where, the first three of them."""
    named = ", ".join(f"{m.operator} to {m.target}" for m in moves[:3])
    more = f" and {len(moves) - 3} more" if len(moves) > 3 else ""
    return f"moving {named}{more}"


def contradicts(a: Recommendation, b: Recommendation) -> bool:
    """Whether two open proposals of the engine cannot both be meant.

    They change the size of one cluster, or one moves what the other makes room for; or one
    takes executors from a cluster while another cluster is to get more.
    """
    if a.kind is Kind.REBALANCE or b.kind is Kind.REBALANCE:
        return not set(a.clusters).isdisjoint(b.clusters)
    kinds = {a.kind, b.kind}
    if kinds == {Kind.SCALE_OUT, Kind.SCALE_IN}:
        return True
    return kinds <= {Kind.SCALE_OUT, Kind.SCALE_IN} and a.clusters == b.clusters


def drained_clusters(facts: Facts) -> tuple[str, ...]:
    """Clusters that people want emptied and that are: they can be ended."""
    named = {n.strip() for n in facts.balance.draining_clusters.split(",")} - {""}
    in_use = {o.cluster for o in facts.snapshot.operators}
    here = {c.name for c in facts.snapshot.clusters if not facts.snapshot.gone(c.name)}
    return tuple(sorted((named & here) - in_use))


def facts_size(facts: Facts, cluster: str) -> int:
    """Executors that a cluster was asked for."""
    found = facts.snapshot.cluster(cluster)
    return found.executors_asked if found is not None else 0


def _question(facts: Facts, problem: Problem, wanted: Mapping[str, int]) -> JointProblem:
    sites, timings = {}, {}
    loads: dict[str, float] = {}
    for item in problem.items:
        loads[item.bin] = loads.get(item.bin, 0.0) + item.load
    bins = {b.name for b in problem.bins}
    for cluster in facts.snapshot.clusters:
        if cluster.name not in bins:
            continue
        own = facts.scaling.get(cluster.name, ScaleSettings())
        size = cluster.executors_asked
        low, high = max(cluster.min_executors, own.min_executors), cluster.max_executors
        high = min(high, own.max_executors or high)
        if not cluster.can_scale:
            low = high = size
        sites[cluster.name] = ClusterSize(
            name=cluster.name, executors=size, cores=cluster.cores_per_executor,
            low=min(low, size), high=max(high, size), wanted=wanted.get(cluster.name),
        )  # fmt: skip
    by_name = {o.name: o for o in facts.snapshot.operators}
    for item in problem.items:
        operator, site = by_name.get(item.name), sites.get(item.bin)
        if operator is None or site is None or operator.processing_s is None:
            continue
        cores = max(site.executors * site.cores, 1)
        timings[item.name] = timing_of(
            item.load, loads[item.bin] - item.load, cores, operator.trigger_s, operator.processing_s
        )
    return JointProblem(
        problem=problem, sites=sites, timings=_known_timings(timings), target_s=_target_s(facts),
        limit=facts.engine.cured_below, most_executors=facts.engine.total_executors or None,
    )  # fmt: skip


def _known_timings(timings: Mapping[str, Timing]) -> dict[str, Timing]:
    return {name: t for name, t in timings.items() if t.trigger_s or t.fixed_s}


def _target_s(facts: Facts) -> float | None:
    """The strictest latency target that a followed scaler has."""
    found = []
    for cluster in facts.snapshot.clusters:
        name = facts.scaling.get(cluster.name, ScaleSettings()).scaler
        kind = scalers().get(name)
        if kind is None:
            continue
        default = next(
            (f.default for f in fields(kind.settings_type) if f.name == "target_latency_s"), None
        )
        value = facts.own.get(cluster.name, {}).get(name, {}).get("target_latency_s", default)
        if isinstance(value, int | float):
            found.append(float(value))
    return min(found, default=None)


def _sizes_asked(facts: Facts) -> dict[str, int]:
    """Sizes that are proposed or under way."""
    return {
        r.decision.cluster: r.decision.executors
        for r in facts.recommendations
        if r.status in _OPEN and isinstance(r.decision, Scale)
    }


def _open_moves(facts: Facts) -> Recommendation | None:
    return next(
        (r for r in facts.recommendations if r.status in _OPEN and r.kind is Kind.REBALANCE), None
    )


def _apply_moves(problem: Problem, moves: Sequence[Move]) -> dict[str, str]:
    bins = {b.name for b in problem.bins}
    return problem.placement | {
        m.operator: m.target for m in moves if m.operator in problem.placement and m.target in bins
    }


def _elsewhere(facts: Facts, problem: Problem) -> bool:
    """An operator is no longer where it was when the balance was looked at."""
    now = {o.name: o.cluster for o in facts.snapshot.operators}
    return any(now.get(i.name) != i.bin for i in problem.items) or bool(problem.unknown)


def _instead(best: Option, decision: Scale) -> str:
    what = "more executors" if decision.executors > decision.before else "fewer executors"
    return (
        f"{moves_in_words(best.moves)} does without {what} of {decision.cluster}: the fullest "
        f"cluster is then at {percent(best.load)} with {number_of(best.executors, 'executor')} over all"
    )


def _worth(cost: float) -> str:
    """A cost in executors.

    >>> _worth(1.0), _worth(0.04), _worth(2.13)
    ('1.0 executor', 'less than 0.1 executors', '2.1 executors')
    """
    text = f"{cost:.1f}"
    if cost > 0.0 and text == "0.0":
        return "less than 0.1 executors"
    return f"{text} {'executor' if text == '1.0' else 'executors'}"


def joint_reason(options: Sequence[Option]) -> Reason:
    """Why the best option: what it comes to beside the others."""
    best = options[0]
    others = "; ".join(f"{o.way.value}: {_worth(o.cost)}" for o in options[1:])
    moves = moves_in_words(best.moves)
    text = (
        f"{moves[:1].upper()}{moves[1:]} is the cheapest way: {_worth(best.cost)}, risks included"
    )
    text += f" ({others})." if others else "."
    return Reason(text=text, rule="least cost of size and place", numbers={"cost": best.cost})
