"""The scaler that never scales: the baseline to compare every other with."""

from weir.controllers.model.decision import Decision
from weir.controllers.scaling.answers import stay
from weir.controllers.scaling.base import Memory, NoSettings, Scaler
from weir.controllers.scaling.facts import Facts


class NoOp(Scaler[NoSettings, Memory]):
    """Leaves the executors as they are.

    >>> from weir.controllers.scaling.base import Scope
    >>> NoOp.name, NoOp(NoSettings(), Scope(cluster="a")).fresh()
    ('no_op', Memory())
    """

    name = "no_op"
    title = "No scaling"

    def judge(self, facts: Facts, memory: Memory, now: float) -> tuple[Decision, Memory]:
        """No change, always."""
        return stay("Scaling is switched off.", "always", executors=facts.executors), memory
