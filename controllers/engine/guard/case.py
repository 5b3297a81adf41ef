"""What a guard looks at, and how it answers."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.guard.rules import EngineSettings, GuardSettings
from weir.controllers.engine.propose.scaling import ScaleSettings
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.failover import FailoverSettings
from weir.controllers.model.snapshot import Snapshot


class Case(Struct, frozen=True, kw_only=True):
    """All that the guards look at."""

    recommendation: Recommendation
    snapshot: Snapshot
    now: float
    engine: EngineSettings = EngineSettings()
    failover: FailoverSettings = FailoverSettings()
    settings: Mapping[str, GuardSettings] = {}
    scaling: Mapping[str, ScaleSettings] = {}
    others: Sequence[Recommendation] = ()
    rebalances: Sequence[Rebalance] = ()
    fresh_periods: Mapping[str, int] = {}
    asked: Mapping[str, Sequence[tuple[float, int]]] = {}
    """Per cluster: when its scaler asked for how many executors, oldest first."""

    def rules(self, cluster: str) -> GuardSettings:
        """The guards' settings of a cluster."""
        return self.settings.get(cluster, GuardSettings())

    def touching(self, cluster: str) -> list[Recommendation]:
        """Other recommendations for the cluster."""
        own = self.recommendation.id
        return [r for r in self.others if cluster in r.clusters and r.id != own]


Answer = tuple[str, float | None]
"""Why it is closed (empty: open), and when it opens."""
OPEN: Answer = ("", None)
Guard = Callable[[Case, str], Answer]
"""Looks at one recommendation and one cluster that it touches."""
