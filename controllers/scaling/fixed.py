"""A fixed number of executors: what most people run today."""

from typing import Annotated

from msgspec import Struct

from weir.controllers.model.decision import Decision
from weir.controllers.model.settings import setting
from weir.controllers.model.words import are, number_of
from weir.controllers.scaling.answers import because, scale_to
from weir.controllers.scaling.base import Memory, Scaler
from weir.controllers.scaling.facts import ClusterFacts


class FixedSettings(Struct, frozen=True, kw_only=True):
    """How many."""

    executors: Annotated[
        int, setting("Executors to keep; 0 keeps the most that is allowed", ge=0, unit="executors")
    ] = 0


class Fixed(Scaler[FixedSettings, Memory]):
    """Keeps the number of executors that was set, within the limits.

    >>> from weir.controllers.scaling.base import Scope
    >>> from weir.controllers.model.sample import Cluster
    >>> from weir.controllers.model.snapshot import Snapshot
    >>> cluster = Cluster(name="a", executors=1, max_executors=4)
    >>> snapshot = Snapshot(at=0.0, period_s=1.0, clusters=(cluster,))
    >>> scaler = Fixed(FixedSettings(executors=9), Scope(cluster="a"))
    >>> scaler.decide(snapshot, scaler.fresh(), 0.0)[0].executors
    4
    """

    name = "fixed"
    title = "Fixed number"
    settings_type = FixedSettings

    def judge(self, facts: ClusterFacts, memory: Memory, now: float) -> tuple[Decision, Memory]:
        """Scale to the number set."""
        wanted = self.settings.executors or facts.high
        reason = because(
            f"{number_of(wanted, 'executor')} {are(wanted)} set.", "executors = set", set=wanted
        )
        return scale_to(facts, wanted, reason), memory
