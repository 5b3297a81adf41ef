"""Executors as they come and go in a log, and the tasks that run on them."""

from collections import defaultdict

from weir.controllers.model.sample import Executor
from weir.metrics.agent.removal import is_loss
from weir.metrics.eventlog import events as e
from weir.metrics.eventlog.timeline import Bucket, LoggedWork, LogTimeline

_DRIVER = ("driver", "<driver>")


class _Known:
    """One executor; `cores` is None until something tells."""

    __slots__ = ("added_ms", "cores", "heap_bytes", "host", "lost", "most_running", "removed_ms")

    def __init__(self, host: str, cores: int | None, added_ms: int) -> None:
        self.host, self.cores, self.added_ms = host, cores, added_ms
        self.removed_ms: int | None = None
        self.lost = False
        self.heap_bytes = 0
        self.most_running = 1


class LoggedExecutors:
    """Who is there in a period, how busy, and what still runs.

    Logs before Spark 1.3 do not say when executors come or how many cores they
    have: then block managers and tasks tell of them, and the most tasks seen at
    once stand for the cores.
    """

    def __init__(self, timeline: LogTimeline) -> None:
        self.lost = 0  # gone without being asked to, up to the last closed period
        self._timeline = timeline
        self._known: dict[str, _Known] = {}
        self._gone: set[str] = set()  # so that a late task does not bring one back
        self._running: dict[int, dict[int, tuple[int, str, str]]] = defaultdict(dict)
        self._count: dict[str, int] = defaultdict(int)  # running tasks by executor

    @property
    def idle(self) -> bool:
        """No task runs."""
        return not self._running

    # -- what the log says

    def added(self, event: e.ExecutorAdded) -> None:
        """An executor has registered."""
        self._timeline.saw(event.at_ms)
        info = event.info or e.ExecutorInfo()
        self._gone.discard(event.id)
        self._known[event.id] = _Known(info.host or "", max(1, info.cores), event.at_ms)

    def removed(self, event: e.ExecutorRemoved) -> None:
        """An executor is gone; a decommissioned one is reported twice."""
        self._timeline.saw(event.at_ms)
        known = self._known.get(event.id)
        if known is not None and known.removed_ms is None:
            known.removed_ms = event.at_ms
            known.lost = is_loss(event.reason)
            for stage, tasks in list(self._running.items()):
                for task in [t for t, (_, _, where) in tasks.items() if where == event.id]:
                    self._forget(stage, task)

    def manager_added(self, event: e.BlockManagerAdded) -> None:
        """The driver has a block manager too, but is no executor."""
        id = event.manager.executor
        if id not in _DRIVER and id not in self._known:
            self._timeline.saw(event.at_ms)
            self._known[id] = _Known(event.manager.host or "", None, event.at_ms)

    def manager_removed(self, event: e.BlockManagerRemoved) -> None:
        """Counts only where nothing better is known."""
        known = self._known.get(event.manager.executor)
        if known is not None and known.cores is None and known.removed_ms is None:
            self._timeline.saw(event.at_ms)
            known.removed_ms = event.at_ms

    def task_started(self, stage: int, info: e.TaskInfo, key: str) -> None:
        """A task runs from now on."""
        self._running[stage][info.id] = (info.launch_ms, key, info.executor)
        self._count[info.executor] += 1
        known = self._at_work(info)
        if known is not None and known.cores is None:
            known.most_running = max(known.most_running, self._count[info.executor])

    def task_ended(self, event: e.TaskEnd) -> None:
        """A task has ended."""
        self._forget(event.stage, event.info.id)
        known, metrics = self._at_work(event.info), event.executor_metrics
        if known is not None and metrics is not None and metrics.heap_bytes:
            known.heap_bytes = metrics.heap_bytes

    def stage_over(self, stage: int) -> None:
        """Whatever end of a task the log has lost, it is not running now."""
        for task in list(self._running.get(stage, ())):
            self._forget(stage, task)

    # -- what a period looked like

    def credit_running(self, bucket: Bucket, begin_ms: int, end_ms: int) -> None:
        """Enter the tasks that outlast the period; at their end only the rest is added."""
        for tasks in self._running.values():
            for launch_ms, key, executor in tasks.values():
                if launch_ms < end_ms:
                    bucket.busy(key, executor, end_ms - max(launch_ms, begin_ms))

    def present(self, bucket: Bucket, begin_ms: int, end_ms: int) -> tuple[Executor, ...]:
        """The executors that are there at the end of the period."""
        found = []
        for id, known in list(self._known.items()):
            if known.removed_ms is not None and known.removed_ms < end_ms:
                self.lost += known.lost
                del self._known[id]
                self._gone.add(id)
            elif known.added_ms < end_ms:
                found.append(
                    _executor(
                        id, known, bucket.executors.get(id) or LoggedWork(), end_ms - begin_ms
                    )
                )
        return tuple(found)

    def _at_work(self, info: e.TaskInfo) -> _Known | None:
        known = self._known.get(info.executor)
        if known is None and info.executor not in self._gone:
            known = self._known[info.executor] = _Known("", None, info.launch_ms)
        return known

    def _forget(self, stage: int, task: int) -> None:
        tasks = self._running.get(stage)
        gone = tasks.pop(task, None) if tasks else None
        if gone is not None:
            self._count[gone[2]] -= 1
            if not tasks:
                del self._running[stage]


def _executor(id: str, known: _Known, work: LoggedWork, period_ms: int) -> Executor:
    cores = known.cores or known.most_running
    return Executor(
        id=id,
        host=known.host,
        cores=cores,
        busy_share=min(1.0, work.busy_ms / (period_ms * cores)),
        tasks=work.tasks,
        failed_tasks=work.failed,
        memory_bytes=known.heap_bytes,
        added_at=known.added_ms / 1000,
    )
