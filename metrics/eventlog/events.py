"""The events of Spark's log that matter here, with only the fields that are read.

Each is a msgspec Struct: what is not declared is checked for being JSON and
skipped without building a Python object, which makes a task's end (3-5 kB, of
which 200 bytes matter) four times cheaper than parsing all of it, and still
finds every broken line. Fields that some version of Spark leaves out have
defaults; `null` is accepted where a version writes it.

Reference: org.apache.spark.util.JsonProtocol, Spark 1.0 to 4.x.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

Int = Annotated[int, Meta(ge=-(2**53), le=2**53)]
"""A number that a log can mean: larger ones are damage, and would not fit a column."""


class SkippedLines(Struct):
    """An event that nobody reads: only checked for being whole."""


class Named(Struct):
    """The name alone, for lines whose first field is not the name."""

    event: str = field(name="Event")


class LogStart(Struct):
    version: str | None = field(name="Spark Version", default=None)


class ApplicationStart(Struct):
    name: str | None = field(name="App Name", default=None)
    id: str | None = field(name="App ID", default=None)
    attempt: str | None = field(name="App Attempt ID", default=None)
    at_ms: Int = field(name="Timestamp", default=0)


class ApplicationEnd(Struct):
    at_ms: Int = field(name="Timestamp", default=0)


class EnvironmentUpdate(Struct):
    properties: dict[str, Any] | None = field(name="Spark Properties", default=None)


class ExecutorInfo(Struct):
    host: str | None = field(name="Host", default=None)
    cores: Int = field(name="Total Cores", default=1)


class ExecutorAdded(Struct):
    id: str = field(name="Executor ID")
    at_ms: Int = field(name="Timestamp", default=0)
    info: ExecutorInfo | None = field(name="Executor Info", default=None)


class ExecutorRemoved(Struct):
    id: str = field(name="Executor ID")
    at_ms: Int = field(name="Timestamp", default=0)
    reason: str | None = field(name="Removed Reason", default=None)


class BlockManager(Struct):
    executor: str = field(name="Executor ID")
    host: str | None = field(name="Host", default=None)


class BlockManagerAdded(Struct):
    """Before Spark 1.3 the only sign that an executor has come."""

    manager: BlockManager = field(name="Block Manager ID")
    at_ms: Int = field(name="Timestamp", default=0)


class BlockManagerRemoved(Struct):
    manager: BlockManager = field(name="Block Manager ID")
    at_ms: Int = field(name="Timestamp", default=0)


class JobProperties(Struct):
    query: str | None = field(name="sql.streaming.queryId", default=None)


class JobStart(Struct):
    at_ms: Int = field(name="Submission Time", default=0)
    stages: list[Int] | None = field(name="Stage IDs", default=None)
    properties: JobProperties | None = field(name="Properties", default=None)


class StageInfo(Struct):
    id: Int = field(name="Stage ID")
    name: str | None = field(name="Stage Name", default=None)


class StageSubmitted(Struct):
    info: StageInfo = field(name="Stage Info")
    properties: JobProperties | None = field(name="Properties", default=None)


class StageCompleted(Struct):
    info: StageInfo = field(name="Stage Info")


class TaskInfo(Struct):
    id: Int = field(name="Task ID")
    launch_ms: Int = field(name="Launch Time", default=0)
    finish_ms: Int = field(name="Finish Time", default=0)
    executor: str = field(name="Executor ID", default="")


class TaskStart(Struct):
    stage: Int = field(name="Stage ID")
    info: TaskInfo = field(name="Task Info")


class EndReason(Struct):
    reason: str = field(name="Reason", default="")


class InputMetrics(Struct):
    rows: Int = field(name="Records Read", default=0)


class ExecutorMetrics(Struct):
    heap_bytes: Int = field(name="JVMHeapMemory", default=0)


class TaskMetrics(Struct):
    run_ms: Int = field(name="Executor Run Time", default=0)
    cpu_ns: Int = field(name="Executor CPU Time", default=0)
    input: InputMetrics | None = field(name="Input Metrics", default=None)


class TaskEnd(Struct):
    stage: Int = field(name="Stage ID")
    reason: EndReason = field(name="Task End Reason")
    info: TaskInfo = field(name="Task Info")
    metrics: TaskMetrics | None = field(name="Task Metrics", default=None)
    executor_metrics: ExecutorMetrics | None = field(name="Task Executor Metrics", default=None)


class QueryStarted(Struct):
    id: str
    run: str = field(name="runId", default="")
    name: str | None = None
    timestamp: str | None = None


class QueryTerminated(Struct):
    id: str
    run: str = field(name="runId", default="")
    exception: str | None = None


class StateOperator(Struct):
    rows: Int = field(name="numRowsTotal", default=0)
    bytes: Int = field(name="memoryUsedBytes", default=0)


class LoggedSource(Struct):
    description: str | None = None
    rows: Int = field(name="numInputRows", default=0)
    end_offset: Any = field(name="endOffset", default=None)
    latest_offset: Any = field(name="latestOffset", default=None)


class Sink(Struct):
    description: str | None = None


class Durations(Struct):
    trigger_ms: Int = field(name="triggerExecution", default=0)
    add_batch_ms: Int | None = field(name="addBatch", default=None)


class LoggedProgress(Struct):
    id: str
    run: str = field(name="runId", default="")
    name: str | None = None
    timestamp: str = ""
    batch: Int = field(name="batchId", default=-1)
    durations: Durations = field(name="durationMs", default_factory=Durations)
    states: list[StateOperator] | None = field(name="stateOperators", default=None)
    sources: list[LoggedSource] | None = None
    sink: Sink | None = None
    observed: dict[str, Any] | None = field(name="observedMetrics", default=None)

    @property
    def rows(self) -> int:
        """Input rows of the batch, over all sources."""
        return sum(source.rows for source in self.sources or ())


class QueryProgress(Struct):
    progress: LoggedProgress


EVENTS: dict[str, type[Struct]] = {
    "SparkListenerLogStart": LogStart,
    "SparkListenerApplicationStart": ApplicationStart,
    "SparkListenerApplicationEnd": ApplicationEnd,
    "SparkListenerEnvironmentUpdate": EnvironmentUpdate,
    "SparkListenerExecutorAdded": ExecutorAdded,
    "SparkListenerExecutorRemoved": ExecutorRemoved,
    "SparkListenerBlockManagerAdded": BlockManagerAdded,
    "SparkListenerBlockManagerRemoved": BlockManagerRemoved,
    "SparkListenerJobStart": JobStart,
    "SparkListenerStageSubmitted": StageSubmitted,
    "SparkListenerStageCompleted": StageCompleted,
    "SparkListenerTaskStart": TaskStart,
    "SparkListenerTaskEnd": TaskEnd,
    "QueryStartedEvent": QueryStarted,
    "QueryProgressEvent": QueryProgress,
    "QueryTerminatedEvent": QueryTerminated,
}
"""Event by the last part of its name: the packages have moved between versions."""
