"""The scaler that never scales: the baseline to compare every other with."""

from weir.controllers.model.decision import Decision
from weir.controllers.scaling.answers import stay
from weir.controllers.scaling.base import Memory, NoScalerSettings, Scaler
from weir.controllers.scaling.facts import ClusterFacts


class NoOpScaler(Scaler[NoScalerSettings, Memory]):
    """Leaves the executors as they are.

    >>> from weir.controllers.scaling.base import Scope
    >>> NoOpScaler.name, NoOpScaler(NoScalerSettings(), Scope(cluster="a")).fresh()
    ('no_op', Memory())
    """

    name = "no_op"
    title = "No scaling"

    def judge(self, facts: ClusterFacts, memory: Memory, now: float) -> tuple[Decision, Memory]:
        """No change, always."""
        return stay("Scaling is switched off.", "always", executors=facts.executors), memory
