"""One cycle of the engine: facts in, effects out.

    rescue what dead clusters left -> judge what has settled -> advance what is under way -> keep open proposals
    -> ask every scaler of a cluster with a new period -> plan the balance
    -> guards -> a recommendation, or the reason why there is none

Pure: the same facts and time give the same effects, and every effect can be done again, so
that the leader after a crash continues from what the store says.
"""

from weir.controllers.engine.apply.applying import apply_approved
from weir.controllers.engine.apply.effects import Chain
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.judge.judging import judge_outcomes
from weir.controllers.engine.propose import rebalancing
from weir.controllers.engine.propose.coming import come_and_go
from weir.controllers.engine.propose.ending import end_drained
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.proposing import review_proposals
from weir.controllers.engine.propose.rescuing import propose_rescue
from weir.controllers.engine.propose.resizing import propose_scaling
from weir.controllers.engine.propose.reslicing import propose_reslices, with_rings

__all__ = ["advance_recommendations", "propose_rebalance", "propose_rescue", "propose_scaling"]


def propose_rebalance(facts: Facts, view: Outlook, now: float) -> list[Chain]:
    """Turn a fresh view of the balance into proposals: who owns which keys, and what runs where."""
    chains, view = propose_reslices(with_rings(view, facts, now), facts, now)
    return [*rebalancing.propose_rebalance(facts, view, now), *chains]


def advance_recommendations(facts: Facts, now: float) -> list[Chain]:
    """Handle what is there already: judge, apply, end, approve."""
    return [
        *judge_outcomes(facts, now),
        *apply_approved(facts, now),
        *review_proposals(facts, now),
        *end_drained(facts, now),
        *come_and_go(facts, now),
    ]
