"""What holds an action back: one small question each, answered with a reason and a time.

    timing   the engine does not propose yet (a person may still act)
    policy   the engine does not act by itself (a person may still approve)
    hard     nobody does it now

Each guard looks at one recommendation and one cluster that it touches.
"""

from collections.abc import Iterable, Mapping

from weir.controllers.engine.guard.case import OPEN, Case, Guard
from weir.controllers.engine.guard.hard import HARD, turn
from weir.controllers.engine.guard.policy import POLICY, REPEATED_RESCUE
from weir.controllers.engine.guard.timing import TIMING, one_at_a_time
from weir.controllers.engine.recommendation import GuardState
from weir.controllers.model.decision import Rescue

__all__ = [
    "HARD",
    "POLICY",
    "TIMING",
    "Case",
    "first_closed",
    "guard_states",
    "one_at_a_time",
    "turn",
]

RESCUING = ("agent", REPEATED_RESCUE, "pause")
"""What holds a rescue back. The others weigh an action against leaving things as they are, and
with a dead cluster that is no choice."""


def guard_states(case: Case) -> tuple[GuardState, ...]:
    """Every guard's answer; of several clusters, that of the first that holds it back."""
    states = []
    rescue = isinstance(case.recommendation.decision, Rescue)
    for name, guard in {**TIMING, **HARD, **POLICY}.items():
        if (rescue and name not in RESCUING) or (not rescue and name == REPEATED_RESCUE):
            continue
        found = [guard(case, cluster) for cluster in case.recommendation.clusters]
        why, opens_at = next((answer for answer in found if answer[0]), OPEN)
        states.append(GuardState(name=name, open=not why, reason=why, opens_at=opens_at))
    return tuple(states)


def first_closed(states: Iterable[GuardState], *kinds: Mapping[str, Guard]) -> GuardState | None:
    """The first guard of these kinds that is closed.

    >>> first_closed([GuardState(name="pause", open=False, reason="paused")], POLICY).reason
    'paused'
    """
    names = {name for kind in kinds for name in kind}
    return next((s for s in states if s.name in names and not s.open), None)
