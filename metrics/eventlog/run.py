"""Events to the `ClusterSample`s that a live agent would have reported.

Operators are the streaming queries. A log of batch jobs only has one operator per
stage family instead: all stages with the same name, which is the line of code
that caused them ("count at Jobs.scala:17"). Stage ids are new in every job and job
groups are random in servers and notebooks, so neither would give a series. Once a
query has been seen, tasks of no query count for the cluster alone.

| figure             | from the log                                                        |
|--------------------|---------------------------------------------------------------------|
| arrival_rows_per_s | rows of a batch (and what the queue grew by), over the time since   |
|                    | the trigger before it                                               |
| processed_rows_... | the same rows over the time from commit to commit                   |
| cost_s_per_row     | run time of the tasks between two commits / rows of the batch       |
| busy_cores         | run time of the tasks over the time from launch to finish           |
| queue_rows         | latest offset - end offset of sources that count rows               |
| scheduling_s       | half the time between two triggers, and what the queue means at the |
|                    | rate of arrivals: what the median row waits here                    |
| latency_p50_s      | event times, where the query observes them as a live agent wants    |

Queries whose names begin with "_" are a host's own and no operators.
"""

from collections import OrderedDict
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.sample import (
    Cluster,
    ClusterSample,
    Mode,
    OperatorSample,
    OperatorStatus,
)
from weir.metrics.eventlog import events as e
from weir.metrics.eventlog.executors import LoggedExecutors
from weir.metrics.eventlog.queries import LastBatch, LoggedQuery
from weir.metrics.eventlog.summary import NOT_FAILED, at_ms
from weir.metrics.eventlog.timeline import Bucket, LoggedWork, LogTimeline

PERIOD_S = 10.0
LATENESS_S = 600.0
_STAGES_KEPT = 20_000
_FAMILIES_MOST = 200
_OTHER = "other stages"
_HIDDEN = "_"


class SampleBuilder:
    """Folds events into samples, one per period, in order.

    >>> builder = SampleBuilder(period_s=10)
    >>> builder.add(e.ApplicationStart(name="app", id="a-1", at_ms=1_000_000))
    >>> [(s.at, s.cluster.name) for s in builder.rest()]
    [(1010.0, 'app')]
    """

    def __init__(self, period_s: float = PERIOD_S, lateness_s: float = LATENESS_S) -> None:
        self.period_s = period_s
        self._timeline = LogTimeline(round(period_s * 1000), round(lateness_s * 1000))
        self._executors = LoggedExecutors(self._timeline)
        self._queries: dict[str, LoggedQuery] = {}
        self._restarts: dict[str, int] = {}
        self._stages: OrderedDict[int, str] = OrderedDict()
        self._families: set[str] = set()
        self._streaming = False
        self._app = e.ApplicationStart()
        self._version = ""
        self._properties: dict[str, str] = {}
        self._handlers = {
            e.TaskStart: self._task_start,
            e.TaskEnd: self._task_end,
            e.StageSubmitted: self._stage_submitted,
            e.StageCompleted: lambda event: self._executors.stage_over(event.info.id),
            e.JobStart: self._job_start,
            e.QueryStarted: self._query_started,
            e.QueryProgress: self._query_progress,
            e.QueryTerminated: self._query_terminated,
            e.ExecutorAdded: self._executors.added,
            e.ExecutorRemoved: self._executors.removed,
            e.BlockManagerAdded: self._executors.manager_added,
            e.BlockManagerRemoved: self._executors.manager_removed,
            e.ApplicationStart: self._application_start,
            e.ApplicationEnd: lambda event: self._timeline.saw(event.at_ms),
            e.EnvironmentUpdate: self._environment,
            e.LogStart: self._log_start,
        }

    def add(self, event: Struct) -> None:
        """Take in one event."""
        self._handlers[type(event)](event)  # type: ignore[operator]

    def ripe(self) -> Iterator[ClusterSample]:
        """Samples of the periods that are over since the last call."""
        for number, bucket in self._timeline.ripe(silent=self._executors.idle):
            yield self._sample(number, bucket)

    def rest(self) -> Iterator[ClusterSample]:
        """Samples of all periods that are left, at the end of the log."""
        for number, bucket in self._timeline.rest(silent=self._executors.idle):
            yield self._sample(number, bucket)

    # -- the application

    def _log_start(self, event: e.LogStart) -> None:
        self._version = event.version or ""

    def _application_start(self, event: e.ApplicationStart) -> None:
        self._app = event
        self._timeline.saw(event.at_ms)

    def _environment(self, event: e.EnvironmentUpdate) -> None:
        self._properties = {k: str(v) for k, v in (event.properties or {}).items()}

    # -- jobs, stages and tasks

    def _job_start(self, event: e.JobStart) -> None:
        self._timeline.saw(event.at_ms)
        query = event.properties.query if event.properties else None
        if query:
            for stage in event.stages or ():
                self._place(stage, query)

    def _stage_submitted(self, event: e.StageSubmitted) -> None:
        query = event.properties.query if event.properties else None
        if query or event.info.id not in self._stages:
            self._place(event.info.id, query or self._family(event.info.name))

    def _family(self, name: str | None) -> str:
        family = (name or "stage").strip()[:120]
        if family not in self._families and len(self._families) >= _FAMILIES_MOST:
            return _OTHER
        self._families.add(family)
        return family

    def _place(self, stage: int, key: str) -> None:
        self._stages[stage] = key
        if len(self._stages) > _STAGES_KEPT:
            self._stages.popitem(last=False)

    def _task_start(self, event: e.TaskStart) -> None:
        info = event.info
        self._timeline.saw(info.launch_ms)
        key = self._stages.get(event.stage, _OTHER)
        self._executors.task_started(event.stage, info, key)

    def _task_end(self, event: e.TaskEnd) -> None:
        info, metrics, reason = event.info, event.metrics, event.reason.reason
        self._executors.task_ended(event)
        if reason == "Resubmitted":
            return  # it ended before, and was counted then
        timeline = self._timeline
        finish = info.finish_ms
        timeline.saw(finish)
        key = self._stages.get(event.stage, _OTHER)
        run_ms = metrics.run_ms if metrics else 0
        cpu_ns = metrics.cpu_ns if metrics else 0
        rows = metrics.input.rows if metrics and metrics.input else 0
        failed = reason not in NOT_FAILED
        launch = info.launch_ms if info.launch_ms > 0 else finish - run_ms
        bucket = timeline.at(finish)
        bucket.failed += failed
        bucket.operator(key).ended(run_ms, cpu_ns, rows, failed)
        executor = bucket.executor(info.executor)
        executor.tasks += 1
        executor.failed += failed
        if launch // timeline.period_ms == finish // timeline.period_ms:
            bucket.busy(key, info.executor, run_ms)
        else:
            for part, share in timeline.spread(launch, finish):
                part.busy(key, info.executor, run_ms * share)
        query = self._queries.get(key)
        if query is not None:
            query.run_since_ms += run_ms

    # -- streaming queries

    def _query(self, id: str, name: str | None) -> LoggedQuery:
        query = self._queries.get(id)
        if query is None:
            self._streaming = True
            wanted = name or f"query-{id[:8]}"
            if any(q.name == wanted for q in self._queries.values()):
                wanted = f"{wanted}-{id[:8]}"
            query = LoggedQuery(id, wanted, self._timeline.newest_ms or 0)
            query.restarts = self._restarts.get(id, 0)
            self._queries[id] = query
        return query

    def _query_started(self, event: e.QueryStarted) -> None:
        started = at_ms(event.timestamp) or 0
        self._timeline.saw(started)
        query = self._query(event.id, event.name)
        query.started_ms = min(query.started_ms, started or query.started_ms)
        query.begins(event.run)

    def _query_progress(self, event: e.QueryProgress) -> None:
        progress = event.progress
        self._query(progress.id, progress.name).note_progress(progress, self._timeline)

    def _query_terminated(self, event: e.QueryTerminated) -> None:
        query = self._queries.get(event.id)
        if query is not None and event.run in ("", query.run):
            query.ends(self._timeline.newest_ms or 0, event.exception)

    # -- closing a period

    def _sample(self, number: int, bucket: Bucket) -> ClusterSample:
        begin_ms = number * self._timeline.period_ms
        end_ms = begin_ms + self._timeline.period_ms
        self._executors.credit_running(bucket, begin_ms, end_ms)
        executors = self._executors.present(bucket, begin_ms, end_ms)
        count = len(executors)
        cores = max(1, round(sum(x.cores for x in executors) / count)) if count else 1
        name = self._app.name or self._app.id or "application"
        fewest, most = self._limits(count)
        operators = tuple(self._operators(name, bucket, end_ms))
        return ClusterSample(
            at=end_ms / 1000,
            period_s=self.period_s,
            cluster=Cluster(
                name=name,
                app_id=self._app.id or "",
                app_name=self._app.name or "",
                spark_version=self._version,
                executors=count,
                executors_wanted=count,
                cores_per_executor=cores,
                min_executors=fewest,
                max_executors=most,
                mode=Mode.OBSERVE,
                busy_cores=bucket.busy_ms / self._timeline.period_ms,
                failed_tasks=bucket.failed,
                executors_lost=self._executors.lost,
            ),
            operators=operators,
            executors=executors,
            batches=tuple(
                batch
                for operator in operators
                if (work := bucket.operators.get(operator.query_id or ""))
                for batch in work.committed
            ),
        )

    def _limits(self, present: int) -> tuple[int, int]:
        if self._properties.get("spark.dynamicAllocation.enabled") != "true":
            return max(1, present), max(1, present)
        read = self._properties.get
        fewest = _whole(read("spark.dynamicAllocation.minExecutors"), 0)
        most = _whole(read("spark.dynamicAllocation.maxExecutors"), present)
        return fewest, max(most, present, 1)

    def _operators(self, cluster: str, bucket: Bucket, end_ms: int) -> Iterator[OperatorSample]:
        if not self._streaming:
            for family in sorted(bucket.operators):
                yield self._stage_operator(cluster, family, bucket.operators[family])
            return
        for query in list(self._queries.values()):
            if query.started_ms < end_ms:
                work = bucket.operators.get(query.id) or LoggedWork()
                operator = self._query_operator(cluster, query, work, end_ms)
                if not query.name.startswith(_HIDDEN):
                    yield operator
                if query.ended_ms is not None and query.ended_ms < end_ms:
                    self._restarts[query.id] = query.restarts + 1
                    del self._queries[query.id]

    def _query_operator(
        self, cluster: str, query: LoggedQuery, work: LoggedWork, end_ms: int
    ) -> OperatorSample:
        if isinstance(work.batch, LastBatch):
            query.batch = work.batch
        if work.cost_rows:
            query.cost_s_per_row = work.cost_run_ms / 1000 / work.cost_rows
        batch, cost = query.batch, query.cost_s_per_row
        arrival = work.rows_in / self.period_s
        busy = work.busy_ms / self._timeline.period_ms
        status = OperatorStatus.RUNNING
        if query.ended_ms is not None and query.ended_ms < end_ms:
            status = OperatorStatus.FAILED if query.exception else OperatorStatus.STOPPED
        operator = OperatorSample(
            name=query.name,
            cluster=cluster,
            status=status,
            message=(query.exception or "").split("\n", 1)[0][:300],
            restarts=query.restarts,
            query_id=query.id,
            run_id=query.run or None,
            reads=query.reads,
            writes=query.writes,
            arrival_rows_per_s=arrival,
            processed_rows_per_s=work.rows_done / self.period_s,
            cost_s_per_row=cost,
            load=busy if cost is None else arrival * cost,
            queue_rows=batch.queue_rows if batch else None,
            processing_s=batch.processing_s if batch else None,
            scheduling_s=batch.scheduling_s if batch else None,
            latency_p50_s=batch.latency_p50_s if batch else None,
            latency_max_s=batch.latency_max_s if batch else None,
            batch_id=batch.id if batch else None,
            batch_at=batch.at_s if batch else None,
            batch_rows=batch.rows if batch else None,
            batches=work.batches,
            rows=work.cost_rows,
            state_rows=batch.state_rows if batch else None,
            state_bytes=batch.state_bytes if batch else None,
            stateful=query.stateful,
        )
        return self._with_tasks(operator, work)

    def _stage_operator(self, cluster: str, family: str, work: LoggedWork) -> OperatorSample:
        """Batch work has no queue: what arrives is what is read, and the load is what is done."""
        rows_per_s = work.input_rows / self.period_s
        operator = OperatorSample(
            name=family,
            cluster=cluster,
            arrival_rows_per_s=rows_per_s,
            processed_rows_per_s=rows_per_s,
            cost_s_per_row=work.run_ms / 1000 / work.input_rows if work.input_rows else None,
            load=work.busy_ms / self._timeline.period_ms,
        )
        return self._with_tasks(operator, work)

    def _with_tasks(self, operator: OperatorSample, work: LoggedWork) -> OperatorSample:
        return replace(
            operator,
            busy_cores=work.busy_ms / self._timeline.period_ms,
            run_time_s=work.run_ms / 1000,
            cpu_time_s=work.cpu_ns / 1e9,
            tasks=work.tasks,
            failed_tasks=work.failed,
            skew=work.skew,
        )


def _whole(text: str | None, default: int) -> int:
    """A property as a number; Spark's "infinity" is 2147483647."""
    return min(int(text), 2**31 - 1) if text and text.isdecimal() else default
