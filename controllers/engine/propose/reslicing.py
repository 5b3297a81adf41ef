"""The rings of sliced operators: the followed ring planner's answer as a proposal."""

from msgspec.structs import replace

from weir.controllers.engine.apply.effects import Chain
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard.modes import strictest_mode
from weir.controllers.engine.propose.make import new_id, new_recommendation
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.proposing import offer
from weir.controllers.engine.propose.rings import (
    RingOutlook,
    reslice_pause,
    ring_outlook,
    ring_problem,
)
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.engine.stored import read_leniently
from weir.controllers.model.decision import Reslice
from weir.controllers.model.sample import Mode
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.words import by_number, span
from weir.controllers.placement.base import RingPlanner, ring_planners
from weir.controllers.placement.no_reslice import NoReslice

_DONE = (Status.APPLIED, Status.EFFECTIVE, Status.INEFFECTIVE, Status.UNMEASURED)


def with_rings(view: Outlook, facts: Facts, now: float) -> Outlook:
    """The view of the balance with the ring of every sliced operator."""
    if not facts.slicings:
        return view
    loads = {i.name: i.load for i in view.problem.items if i.known}
    draining = {b.name for b in view.problem.bins if not b.keep}
    planner, pause = _followed_planner(facts), reslice_pause(facts.reslicings)
    found = []
    for slicing in facts.slicings.values():
        problem = ring_problem(facts.snapshot, slicing, loads=loads, draining=draining, pause=pause)
        before = facts.outlook.ring(slicing.operator) if facts.outlook else None
        ring = ring_outlook(problem, planner, before, now)
        found.append(replace(ring, wait=_wait(slicing, view, facts, now)))
    return replace(view, rings=tuple(sorted(found, key=lambda r: by_number(r.operator))))


def _followed_planner(facts: Facts) -> RingPlanner:
    """The chosen ring planner with its settings; the one that does nothing if it is not there."""
    kind = ring_planners().get(facts.reslicing.planner, NoReslice)
    return kind(read_leniently(kind.Settings, facts.ring_planners.get(kind.name, {})))


def propose_reslices(view: Outlook, facts: Facts, now: float) -> tuple[list[Chain], Outlook]:
    """A proposal for every ring whose planner asks for a change, or why there is none."""
    chains: list[Chain] = []
    rings: list[RingOutlook] = []
    for ring in view.rings:
        if isinstance(ring.decision, Reslice) and not ring.wait:
            chain, why = _reslice(ring.decision, ring.planner, view, facts, now)
            ring = replace(ring, wait=why)
            if chain:
                chains.append(chain)
        rings.append(ring)
    return chains, replace(view, rings=tuple(rings))


def _reslice(
    decision: Reslice, planner: str, view: Outlook, facts: Facts, now: float
) -> tuple[Chain, str]:
    if strictest_mode(facts.modes, decision.touches) is Mode.OBSERVE:
        return (), f"mode observe in one of {', '.join(sorted(decision.touches, key=by_number))}"
    fresh = new_recommendation(
        decision,
        facts.snapshot,
        id=new_id(planner, decision.operator, now),
        source=planner,
        now=now,
        ttl_s=facts.engine.ttl_s,
        outlook=view,
        recent=facts.lately(decision.touches, now),
        track=facts.track(decision.touches[0], planner) if decision.touches else None,
    )
    return offer(fresh, facts, now)


def _wait(slicing: Slicing, view: Outlook, facts: Facts, now: float) -> str:
    """Why no re-slice of an operator is proposed now; empty if one may be."""
    if slicing.held:
        return f"{', '.join(slicing.held)} is being re-sliced"
    moving = next((r for r in facts.rebalances if not r.final), None)
    if moving is not None:
        return "a rebalance is under way"
    unknown = [n for n in view.problem.unknown if n in slicing.owners]
    if unknown:
        return f"the cost of {', '.join(unknown)} is not known yet"
    for other in facts.recommendations:
        if not _of(other, slicing.operator):
            continue
        if other.status in (Status.APPROVED, Status.APPLYING):
            return f"a re-slice of {slicing.operator} is {other.status}"
        left_s = (other.applied_at or 0.0) + facts.reslicing.hold_s - now
        if other.status in _DONE and left_s > 0.0:
            return f"the last re-slice is to settle for {span(left_s)} more"
    return ""


def _of(recommendation: Recommendation, operator: str) -> bool:
    decision = recommendation.decision
    return isinstance(decision, Reslice) and decision.operator == operator
