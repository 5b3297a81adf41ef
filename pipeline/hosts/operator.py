"""How an operator is declared: a name and a function that builds its streaming query.

    def build(spark, context):
        return spark.readStream.format("rate").load().writeStream.format("console")

    OPERATORS = [Operator("rates", build, trigger_s=5)]

Any source and sink will do. Weir adds the query's name, trigger and checkpoint, so
a builder returns a DataStreamWriter that has not been started.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.errors import InvalidInput
from weir.metrics.agent.track import OBSERVATION

if TYPE_CHECKING:
    from weir.metrics.agent.track import Backlog

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class OperatorError(InvalidInput):
    """An operator that cannot run; the sentence names it."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"operator '{name}': {problem}", field=name)


@dataclass(frozen=True)
class Context:
    """What a builder is given besides the session."""

    redis_url: str
    fence: int = 0  # token of the lease under which the query runs


Builder = Callable[[SparkSession, Context], DataStreamWriter]


@dataclass(frozen=True)
class Operator:
    """One streaming query that Weir may start, stop and move."""

    name: str
    build: Builder
    trigger_s: float = 1.0  # 0: as fast as it can
    checkpoint: str | None = None  # default: a folder of its own below the host's
    reads: tuple[str, ...] = ()  # names of data sets, to draw the flows
    writes: tuple[str, ...] = ()
    backlog: "Callable[[str], Backlog | None] | None" = field(default=None)
    """Rows waiting at its inputs, given the Redis URL; None: taken from Spark's offsets."""

    def start(self, spark: SparkSession, context: Context, checkpoints: Path) -> object:
        """Build and start the query; every problem is an OperatorError that names it."""
        location = self.checkpoint or str(checkpoints / self.name)
        _check_folder(self.name, location)
        try:
            writer = self.build(spark, context)
        except Exception as error:
            raise OperatorError(self.name, f"its builder failed: {_first_line(error)}") from error
        if not isinstance(writer, DataStreamWriter):
            raise OperatorError(
                self.name,
                f"its builder must return a DataStreamWriter, not {type(writer).__name__}",
            )
        try:
            return (
                writer.queryName(self.name)
                .option("checkpointLocation", location)
                .trigger(processingTime=f"{int(self.trigger_s * 1000)} milliseconds")
                .start()
            )
        except Exception as error:
            raise OperatorError(self.name, f"it did not start: {_first_line(error)}") from error


def check(operators: Iterable[Operator]) -> tuple[dict[str, Operator], list[OperatorError]]:
    """The operators that can be used, by name, and what is wrong with the others."""
    good: dict[str, Operator] = {}
    bad: list[OperatorError] = []
    for operator in operators:
        name = getattr(operator, "name", "")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            bad.append(
                OperatorError(
                    str(name), "a name is needed: letters, digits, '.', '_' and '-', at most 100"
                )
            )
        elif name in good:
            bad.append(OperatorError(name, "the name is used twice; the first one is kept"))
        elif not callable(getattr(operator, "build", None)):
            bad.append(OperatorError(name, "it has no builder"))
        else:
            good[name] = operator
    return good, bad


def observed(rows: DataFrame, event_time_s: Column) -> DataFrame:
    """Let end-to-end latency be measured: `event_time_s` is seconds since the epoch."""
    return rows.observe(
        OBSERVATION,
        F.percentile_approx(event_time_s, 0.5).alias("event_p50_s"),
        F.min(event_time_s).alias("event_first_s"),
    )


def is_local(location: str) -> bool:
    """Whether a checkpoint is a folder of this machine.

    >>> is_local("/data/a"), is_local("file:///data/a"), is_local("hdfs://name/a")
    (True, True, False)
    """
    return "://" not in location or location.startswith("file://")


def _check_folder(name: str, location: str) -> None:
    """A local checkpoint must be writable now, not after the first batch."""
    if not is_local(location):
        return
    folder = Path(location.removeprefix("file://"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".weir-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OperatorError(
            name, f"its checkpoint {location} cannot be written ({error.strerror or error})"
        ) from None


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[
        :300
    ]
