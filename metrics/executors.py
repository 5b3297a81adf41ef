"""Adding and removing a driver's executors while it runs."""

import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from controllers.model.errors import InvalidInput, Refused

Progress = Callable[[float, str], None]


class Executors:
    """The executors of one application: asked for, and there.

    Growing asks the cluster manager for a new total. Shrinking decommissions, so that
    running tasks finish; a kill would lose them.
    """

    def __init__(self, spark: SparkSession, minimum: int, maximum: int, wanted: int) -> None:
        self._context = spark.sparkContext
        self._jvm = self._context._jvm
        self._scala_context = self._context._jsc.sc()
        self.minimum = minimum
        self.maximum = maximum
        self.wanted = wanted

    def why_not(self) -> str:
        """Why this application cannot be scaled; empty if it can."""
        if self._context.master.startswith("local"):
            return "a local master has no executors to add or remove"
        manager = self._scala_context.executorAllocationManager()
        if manager.isDefined() and not self._stopped(manager.get()):
            return "Spark's dynamic allocation is on and would undo what is asked for"
        return ""

    @staticmethod
    def _stopped(manager: Any) -> bool:
        # Its thread pool is private; the class offers no other way to see that it ended.
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

    def scale_to(
        self, target: int, progress: Progress = lambda share, text: None, timeout_s: float = 90.0
    ) -> str:
        """Bring the application to `target` executors and wait until they are there."""
        if not self.minimum <= target <= self.maximum:
            raise InvalidInput(
                f"{target} executors are outside the limits {self.minimum} to {self.maximum}",
                field="executors",
            )
        reason = self.why_not()
        if reason:
            raise Refused(reason)
        began = time.monotonic()
        before = len(self.present())
        self.wanted = target
        if target < before:
            self._decommission(self.present()[target:])
        self._request(target)
        while time.monotonic() - began < timeout_s:
            there = len(self.present())
            if there == target:
                took_s = time.monotonic() - began
                return f"{before} to {target} executors in {took_s:.1f} s"
            done = abs(there - before) / max(abs(target - before), 1)
            progress(min(done, 0.99), f"{there} of {target} executors are there")
            time.sleep(0.25)
        raise Refused(
            f"only {len(self.present())} of {target} executors are there after {timeout_s:.0f} s; "
            "the request stands, see the cluster manager for free cores"
        )

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
