"""What Spark says of a streaming query, and how to end one at a batch boundary."""

import logging
import time
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from weir.metrics.agent.listener import Progress
from weir.metrics.agent.track import epoch

log = logging.getLogger(__name__)

LOOK_S = 0.1
"""How long a step waits for a query that is about to end: the sooner it is seen, the shorter
the pause of a move."""


def ends_at_boundary(spark: SparkSession, query: Any) -> bool:
    """Ask a query to end after the batch it is in; whether it is in one, and will.

    A plain stop interrupts the batch, which then has to be done again. Spark's own loop ends
    by itself once the query's state says TERMINATED; that is internal, so if it cannot be set
    the query is to be stopped plainly, which is correct too, only slower to resume. So is a
    query that merely waits for its next trigger: it would sit the wait out.
    """
    try:
        jvm: Any = spark.sparkContext._jvm
        runtime = jvm.org.apache.spark.sql.execution.streaming.runtime
        terminated = getattr(getattr(runtime, "TERMINATED$"), "MODULE$")
        query._jsq.streamingQuery().state().set(terminated)
        time.sleep(LOOK_S)  # a trigger that began at that very moment shows by now
        return bool(query.status["isTriggerActive"])
    except Exception as error:
        log.info("no clean stop at a batch boundary: %s", type(error).__name__)
        return False


def has_ended(query: Any) -> bool:
    """Whether its last batch is over. `isActive` is false as soon as it is asked to end, and with
    it `awaitTermination` is true once its time is up: only its trigger tells."""
    try:
        return bool(query.awaitTermination(LOOK_S)) and not query.status["isTriggerActive"]
    except Exception:  # the one that it has ended with
        return True


def last_progress(query: Any) -> Progress | None:
    """Its newest trigger, also one that found nothing to do: listeners hear of batches only."""
    found = query._jsq.lastProgress()
    return msgspec.json.decode(found.json(), type=Progress) if found else None


def has_batch(progress: Progress) -> bool:
    """Whether that trigger had a batch, which is then committed."""
    return "addBatch" in progress.duration_ms


def commit_time(progress: Progress) -> float:
    """When the batch of that trigger was committed."""
    return epoch(progress.timestamp) + progress.duration_ms["triggerExecution"] / 1000


def end_reason(error: Any) -> str:
    """What a query ended with, in one line."""
    if error is None:
        return "it ended by itself"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The last "SomethingError: ..." line of a Python traceback says more than its head.
    python = [line for line in lines if "Error: " in line and not line.startswith("File")]
    return (python[-1] if python else lines[0] if lines else type(error).__name__)[:300]
