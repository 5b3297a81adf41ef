"""One cycle of the engine: facts in, effects out.

    judge what has settled -> advance what is under way -> keep open proposals
    -> ask every scaler of a cluster with a new period -> plan the balance
    -> guards -> a recommendation, or the reason why there is none

Pure: the same facts and time give the same effects, and every effect can be done again, so
that the leader after a crash continues from what the store says.
"""

from weir.controllers.engine.apply.applying import applied
from weir.controllers.engine.apply.effects import Chain
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.judge.judging import judged
from weir.controllers.engine.propose.proposing import kept
from weir.controllers.engine.propose.rebalancing import balanced
from weir.controllers.engine.propose.resizing import considered

__all__ = ["balanced", "considered", "driven"]


def driven(facts: Facts, now: float) -> list[Chain]:
    """Handle what is there already: judge, apply, end, approve."""
    return [*judged(facts, now), *applied(facts, now), *kept(facts, now)]
