"""Adding and removing a driver's executors while it runs."""

from typing import Any

from pyspark.sql import SparkSession

from weir.metrics.agent.granted import Grants
from weir.metrics.agent.sizing import Sizing


class SparkExecutors(Sizing):
    """The executors of one application: asked for, granted, and there.

    Growing asks the cluster manager for a new total. Shrinking decommissions, so that
    running tasks finish; a kill would lose them.
    """

    def __init__(self, spark: SparkSession, minimum: int, maximum: int, wanted: int) -> None:
        super().__init__(minimum, maximum, wanted)
        self._context: Any = spark.sparkContext  # beyond PySpark's interface: the JVM behind it
        self._jvm: Any = self._context._jvm
        self._scala_context = self._context._jsc.sc()
        self._grants = Grants(spark)
        self.cores = _configured_cores(self._context)  # each, until the first one reports
        self.granted = self._ask_granted()

    def why_not(self) -> str:
        """Why this application cannot be scaled; empty if it can."""
        if self._context.master.startswith("local"):
            return "a local master has no executors to add or remove"
        manager = self._scala_context.executorAllocationManager()
        if manager.isDefined() and not self._is_stopped(manager.get()):
            return "Spark's dynamic allocation is on and would undo what is asked for"
        return ""

    @staticmethod
    def _is_stopped(manager: Any) -> bool:
        # Its thread pool is private; nothing else shows that it has ended.
        field = next(
            (f for f in manager.getClass().getDeclaredFields() if f.getName().endswith("executor")),
            None,
        )
        if field is None:
            return False
        field.setAccessible(True)
        return bool(field.get(manager).isShutdown())

    def present(self) -> list[str]:
        """Ids of the executors that are there, oldest first."""
        ids = self._scala_context.getExecutorIds()
        found = [ids.apply(i) for i in range(ids.length())]
        return sorted(found, key=lambda i: (len(i), i))

    def _staying(self) -> list[str]:
        # Spark lists one that is being decommissioned until its last task is done.
        backend = self._scala_context.schedulerBackend()
        return [i for i in self.present() if backend.isExecutorActive(i)]

    def _ask_granted(self) -> int | None:
        return self._grants.granted(self.cores)

    def _request(self, target: int) -> None:
        empty = getattr(getattr(self._jvm.scala.collection.immutable, "Map$"), "MODULE$").empty()
        self._scala_context.requestTotalExecutors(target, 0, empty)

    def _decommission(self, ids: list[str]) -> None:
        info = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo
        option = self._jvm.scala.Option.empty
        pairs = self._context._gateway.new_array(self._jvm.scala.Tuple2, len(ids))
        for i, executor in enumerate(ids):
            pairs[i] = self._jvm.scala.Tuple2(executor, info("scaled in by Weir", option()))
        self._scala_context.schedulerBackend().decommissionExecutors(pairs, True, False)


def _configured_cores(context: Any) -> int:
    if context.master.startswith("local"):
        return int(context.defaultParallelism)
    return int(context.getConf().get("spark.executor.cores", "1") or 1)
