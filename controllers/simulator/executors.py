"""Executors of a simulated cluster: asked for, starting, at work, leaving."""

from weir.controllers.simulator.model import ClusterModel


class ExecutorPool:
    """How many there are, and when that changes next.

    What is asked for is a total, as with Spark's `requestTotalExecutors`: those that
    are still starting are called off first, then some are decommissioned.

    >>> fleet = ExecutorPool(ClusterModel(name="a", executors=1, max_executors=4, executor_start_s=8))
    >>> fleet.ask(3, now=10.0); fleet.next_at, fleet.active
    (18.0, 1)
    >>> fleet.pass_time(18.0); fleet.active, fleet.present
    (3, 3)
    >>> fleet.ask(2, now=20.0); fleet.active, fleet.present  # one takes no new task
    (2, 3)
    """

    def __init__(self, model: ClusterModel) -> None:
        self.model = model
        self.active = model.executors  # take tasks
        self.wanted = model.executors
        self.next_at = float("inf")  # next change
        self._ready_at: list[float] = []  # of those starting
        self._gone_at: list[float] = []  # of those leaving

    @property
    def present(self) -> int:
        """At work or leaving: what Spark lists."""
        return self.active + len(self._gone_at)

    @property
    def cores(self) -> int:
        """Cores that take tasks."""
        return self.active * self.model.cores_per_executor

    def ask(self, executors: int, now: float) -> None:
        """Ask for a total, within the limits."""
        model = self.model
        self.wanted = min(max(executors, model.min_executors), model.max_executors)
        more = self.wanted - self.active - len(self._ready_at)
        if more > 0:
            self._ready_at += [now + model.executor_start_s] * more
        for _ in range(-more):
            if self._ready_at:
                self._ready_at.pop()
            else:
                self.active -= 1
                self._gone_at.append(now + model.decommission_s)
        self._look_ahead()

    def put(self, executors: int) -> None:
        """Have exactly so many at once: what a recording says was there."""
        self.active = self.wanted = executors
        self._ready_at, self._gone_at = [], []
        self._look_ahead()

    def pass_time(self, now: float) -> None:
        """Let those begin and go whose time has come."""
        ready = sum(1 for at in self._ready_at if at <= now)
        if ready:
            self.active += ready
            self._ready_at = [at for at in self._ready_at if at > now]
        self._gone_at = [at for at in self._gone_at if at > now]
        self._look_ahead()

    def _look_ahead(self) -> None:
        self.next_at = min((*self._ready_at, *self._gone_at), default=float("inf"))
