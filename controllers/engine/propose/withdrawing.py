"""Whether the scaler or planner behind a proposal of the engine still asks for it.

What it says counts only once it has said so for `withdraw_s`: a load that swings around a
threshold must not make a proposal come and go. While it cannot tell, the proposal stays.
"""

from weir.controllers.balancing.base import planners
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.propose.make import ROLLBACK
from weir.controllers.engine.recommendation import ENGINE, Recommendation
from weir.controllers.model.decision import Rescue, Reslice, Scale
from weir.controllers.model.words import number_of, span
from weir.controllers.scaling.registry import scalers


def why_withdrawn(recommendation: Recommendation, facts: Facts) -> str:
    """Why the engine takes its own proposal back; empty if it stands."""
    if recommendation.by != ENGINE or recommendation.source == ROLLBACK:
        return ""
    decision = recommendation.decision
    if isinstance(decision, Rescue):
        back = [name for name in decision.died_at if name not in facts.deaths]
        return f"{', '.join(back)} {'lives' if len(back) == 1 else 'live'} again" if back else ""
    followed = _followed_by_now(recommendation, facts)
    if followed and followed != recommendation.source:
        return f"{_title(followed)} is followed now, not {_title(recommendation.source)}"
    if isinstance(decision, Scale):
        who, content_s = _scaler(decision, recommendation.at, facts)
        what = f"content with {number_of(decision.before, 'executor')}"
    elif isinstance(decision, Reslice):
        who, content_s = _ring_planner(decision, recommendation.at, facts)
        what = f"content with the slices of {decision.operator}"
    else:
        who, content_s = _planner(recommendation.at, facts)
        what = "content with where the operators are"
    if content_s is None or content_s < facts.engine.withdraw_s:
        return ""
    return f"{_title(who)} has been {what} for {span(content_s)}"


def _title(name: str) -> str:
    """A scaler or planner as people know it."""
    if name in scalers():
        return scalers()[name].title
    return planners()[name].label if name in planners() else name


def _followed_by_now(recommendation: Recommendation, facts: Facts) -> str:
    """Whom the engine asks about this by now; empty if it has not looked since."""
    decision = recommendation.decision
    if isinstance(decision, Scale):
        scale = facts.outlooks.get(decision.cluster)
        return scale.scaler if scale is not None and scale.at > recommendation.at else ""
    view = facts.outlook
    if isinstance(decision, Reslice):
        ring = view.ring(decision.operator) if view is not None else None
        fresh = view is not None and ring is not None and view.at > recommendation.at
        return ring.planner if fresh and ring is not None else ""
    return view.planner if view is not None and view.at > recommendation.at else ""


def _scaler(decision: Scale, since: float, facts: Facts) -> tuple[str, float | None]:
    """The followed scaler, and how long it has not wanted a change in this direction."""
    view = facts.outlooks.get(decision.cluster)
    if view is None:
        return "", None
    out = decision.executors > decision.before
    content: list[float] = []  # times of its answers since it last asked for such a change
    for at, target in view.asked:
        wants = target > decision.before if out else target < decision.before
        if wants or at <= since:
            content.clear()
        else:
            content.append(at)
    return view.scaler, content[-1] - content[0] if content else None


def _planner(since: float, facts: Facts) -> tuple[str, float | None]:
    """The followed planner, and how long it has found nothing worth a move."""
    view = facts.outlook
    if view is None or view.content_since is None:
        return "", None
    return view.planner, view.at - max(view.content_since, since)


def _ring_planner(decision: Reslice, since: float, facts: Facts) -> tuple[str, float | None]:
    """The followed ring planner, and how long it has left the operator's slices as they are."""
    view = facts.outlook
    ring = view.ring(decision.operator) if view is not None else None
    if view is None or ring is None or ring.content_since is None:
        return "", None
    return ring.planner, view.at - max(ring.content_since, since)
