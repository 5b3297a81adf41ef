"""The policy that was in force during a recorded run, deciding anew in the simulator.

While a cluster's mode left the decision to its scaler, that scaler decides again, with
the settings of that moment; else what people asked for is asked for again.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from weir.controllers.model.decision import Decision, Grounds, NoChange, Reason, Scale
from weir.controllers.model.errors import WeirError
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create
from weir.controllers.simulator.model import ClusterModel, WorldModel


class InForce(Struct, frozen=True, kw_only=True):
    """How a cluster was scaled from one moment on."""

    since: float
    scaler: str
    settings: dict[str, Any] = {}
    min_executors: int = 0
    max_executors: int | None = None
    mode: Mode = Mode.APPROVE
    acts: bool = False  # nobody had to approve


class RecordedPolicy:
    """In the place of a scaler; what each scaler remembers is kept by its name.

    >>> from weir.controllers.simulator.model import OperatorModel
    >>> flow = OperatorModel(name="o", rows_per_s=(0.0,) * 3, cost_s_per_row=(0.1,) * 3)
    >>> cluster = ClusterModel(name="a", executors=1, max_executors=9, recorded=(1, 1, 2))
    >>> world = WorldModel(begin=0.0, ends=(5.0, 10.0, 15.0), operators=(flow,), focus="a",
    ...                    clusters=(cluster,))
    >>> policy = RecordedPolicy(world, (InForce(since=0.0, scaler="fixed"),))
    >>> decision, _ = policy.decide(Snapshot(at=10.0, period_s=5.0), {}, 10.0)
    >>> decision.executors
    2
    """

    def __init__(self, world: WorldModel, policy: Sequence[InForce]) -> None:
        self._world = world
        self._policy = policy
        self._since = [p.since for p in policy]

    def fresh(self) -> dict[str, Any]:
        """Nothing is remembered at first."""
        return {}

    def decide(
        self, snapshot: Snapshot, memory: dict[str, Any], now: float
    ) -> tuple[Decision, dict[str, Any]]:
        """The answer of the scaler that was followed then, or what was asked for then."""
        number = bisect_right(self._since, now) - 1
        then = self._policy[max(number, 0)]
        if number < 0 or not then.acts:
            return self._as_asked(now), memory
        scope = Scope(
            cluster=self._world.focus,
            min_executors=then.min_executors,
            max_executors=then.max_executors,
        )
        try:
            scaler = create(then.scaler, then.settings, scope)
        except WeirError as error:
            return NoChange(
                reason=Reason(text=str(error), rule="not usable", grounds=Grounds.UNUSABLE)
            ), memory
        before = memory.get(then.scaler)
        decision, after = scaler.decide(snapshot, scaler.fresh() if before is None else before, now)
        return decision, {**memory, then.scaler: after}

    def _as_asked(self, now: float) -> Decision:
        cluster = self._world.cluster
        asked = _asked_after(cluster, bisect_right(self._world.ends, now + 1e-6))
        reason = Reason(text="As it was asked for then.", rule="recorded")
        if asked is None:
            return NoChange(reason=reason)
        return Scale(cluster=cluster.name, executors=asked, before=asked, reason=reason)


def _asked_after(cluster: ClusterModel, period: int) -> int | None:
    """Executors asked for in a period, or there where nothing was asked."""
    series = cluster.asked or cluster.recorded
    return series[period] if period < len(series) else None
