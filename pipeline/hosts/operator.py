"""How an operator is declared: a name and a function that builds its streaming query.

    def build(spark, context):
        return spark.readStream.format("rate").load().writeStream.format("console")

    OPERATORS = [Operator("rates", build, trigger_s=5)]

Any source and sink will do. Weir adds the query's name, trigger and checkpoint, so
a builder returns a DataStreamWriter that has not been started.

With a key it runs as slices, queries of their own that share its key groups:

    Operator("count", build, key="user", slices=4)

The builder then reads only `context.key_groups` (docs/slices.md).
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build
from weir.controllers.model.slicing import GROUPS, MOST_GROUPS, Slicing, sliced_operator
from weir.metrics.agent.track import OBSERVATION
from weir.pipeline.hosts.pools import own_pool

if TYPE_CHECKING:
    from weir.metrics.agent.track import Backlog

_PARTITIONS = "spark.sql.shuffle.partitions"
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
    name: str = ""  # of the operator or slice
    key_groups: tuple[int, ...] = ()  # that the slice is to read; empty: it is not sliced
    generation: int = 0  # in which the slice's checkpoint began

    @property
    def is_slice(self) -> bool:
        """Whether only some of the key groups are to be read."""
        return bool(self.key_groups)


@dataclass(frozen=True)
class Share:
    """What one slice has of its operator."""

    operator: str
    key_groups: tuple[int, ...]
    born: int  # generation in which its checkpoint began


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
    backlog: "Callable[[str, tuple[int, ...]], Backlog | None] | None" = field(default=None)
    """Rows waiting at its inputs, given the Redis URL and the key groups that it reads (none for
    all); None: taken from Spark's offsets."""
    key: str | None = None  # column by which its state is kept; with it, it runs as slices
    slices: int = 1  # with a key: how many at first
    groups: int = GROUPS  # with a key: its key groups, fixed for good
    share: Share | None = None  # set by the host: what this slice has of its operator

    @property
    def unsliced(self) -> str:
        """Why it is one query; empty if it runs as slices."""
        if self.key is None:
            return "it declares no key"
        if self.checkpoint is not None and not is_local(self.checkpoint):
            return "its checkpoint is not in a folder, and only there can state be handed over"
        return ""

    def slice(self, slicing: Slicing, name: str) -> "Operator":
        """One of its slices, an operator of its own."""
        share = Share(self.name, slicing.groups_of(name), slicing.born.get(name, 1))
        return replace(self, name=name, share=share)

    def location(self, checkpoints: Path) -> str:
        """Where its checkpoint is; a slice begins a new one with each share of the groups."""
        if self.share is None:
            return self.checkpoint or str(checkpoints / self.name)
        base = self.checkpoint or str(checkpoints / self.share.operator)
        return f"{base}/{slice_folder(self.name, self.share.born)}"

    def start(self, spark: SparkSession, context: Context, checkpoints: Path) -> object:
        """Build and start the query; every problem is an OperatorError that names it."""
        location = self.location(checkpoints)
        context = replace(context, name=self.name)
        if self.share is not None:
            groups, born = self.share.key_groups, self.share.born
            context = replace(context, key_groups=groups, generation=born)
            _check_unsliced(self.name, local_path(location).parent)
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
            with _one_partition(spark) if self.share else nullcontext(), own_pool(spark, self.name):
                return (
                    writer.queryName(self.name)
                    .option("checkpointLocation", location)
                    .trigger(processingTime=f"{int(self.trigger_s * 1000)} milliseconds")
                    .start()
                )
        except Exception as error:
            raise OperatorError(self.name, f"it did not start: {_first_line(error)}") from error


def slice_folder(name: str, born: int) -> str:
    """The folder of a slice's checkpoint, below its operator's.

    >>> slice_folder("count.2", 5)
    'count.2@5'
    """
    return f"{name}@{born}"


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
        elif operator.key is not None and not (
            1 <= operator.slices <= operator.groups <= MOST_GROUPS
        ):
            most = f"slices must be 1 to its {operator.groups} groups, groups at most {MOST_GROUPS}"
            bad.append(OperatorError(name, most))
        elif operator.key is not None and sliced_operator(name):
            bad.append(OperatorError(name, "a name that ends like a slice's cannot have slices"))
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


@contextmanager
def _one_partition(spark: SparkSession) -> Iterator[None]:
    """Queries that start meanwhile keep their state in one partition: a slice is a share of the
    keys already, and every further partition costs tasks in each batch. A query copies the
    session's settings as it starts."""
    before = spark.conf.get(_PARTITIONS)
    spark.conf.set(_PARTITIONS, "1")
    try:
        yield
    finally:
        spark.conf.set(_PARTITIONS, before or "2")


def local_path(location: str) -> Path:
    """A checkpoint that is a folder of this machine, as its path."""
    return Path(location.removeprefix("file://"))


def is_local(location: str) -> bool:
    """Whether a checkpoint is a folder of this machine.

    >>> is_local("/data/a"), is_local("file:///data/a"), is_local("hdfs://name/a")
    (True, True, False)
    """
    return "://" not in location or location.startswith("file://")


def _check_unsliced(name: str, folder: Path) -> None:
    """Slices begin without state: an operator that has some must not lose it silently."""
    if (folder / "commits").is_dir():
        raise OperatorError(
            name,
            f"{folder} holds the state of the operator from before it had slices; move that "
            "folder away to begin anew",
        )


def _check_folder(name: str, location: str) -> None:
    """A local checkpoint must be writable now, not after the first batch."""
    if not is_local(location):
        return
    folder = local_path(location)
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


def load_operators(module: str, values: Mapping[str, str] | None = None) -> list[Operator]:
    """The operators of a module: its OPERATORS, or `operators(settings)` with its Settings."""
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise InvalidInput(f"the module '{module}' cannot be imported: {error}") from None
    make = getattr(found, "operators", None)
    if make is not None:
        return list(make(build(found.Settings, values or {})))
    operators = getattr(found, "OPERATORS", None)
    if operators is None:
        raise InvalidInput(f"the module '{module}' has neither OPERATORS nor operators()")
    if values:
        raise InvalidInput(f"the module '{module}' has no settings")
    return list(operators)
