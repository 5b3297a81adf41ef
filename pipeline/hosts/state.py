"""Handing keyed state from some slices to others: new checkpoints written from old ones.

The state of the old slices is read with Spark's state reader, the rows whose key groups a new
slice owns are written into a checkpoint of its own, and beside them the offsets up to which
exactly these groups had been read. The old checkpoints are only read.

The writing is done by Spark's own `StateRewriter`, the class behind its repartitioning of
checkpoints. It is internal, so what it wrote is read back and counted before anybody relies
on it; where it is missing, `why_not` says so and nothing is begun.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weir.controllers.model.errors import Refused, Unavailable
from weir.controllers.placement.hashing import key_group_sql

_VERSION = "v1"
_ALL = "_readAllColumnFamilies"
_REWRITER = "org.apache.spark.sql.execution.streaming.state.StateRewriter"


@dataclass(frozen=True)
class Target:
    """A slice to be: the groups it will own and the folder of its checkpoint."""

    name: str
    key_groups: tuple[int, ...]
    folder: Path


@dataclass(frozen=True)
class StoppedSlice:
    """A slice that has stopped: what its checkpoint says of its last batch."""

    name: str
    folder: Path
    batch: int
    metadata: Mapping[str, Any]
    offsets: tuple[Mapping[str, Any], ...]  # one for each of its inputs

    @classmethod
    def of(cls, name: str, folder: Path) -> "StoppedSlice":
        """Read it; refused unless it ended with a commit."""
        begun, done = _batches(folder / "offsets"), _batches(folder / "commits")
        if not done:
            raise Refused(f"{name} has not committed a batch yet; try again later")
        if begun[-1] != done[-1]:
            raise Refused(f"{name} was stopped within batch {begun[-1]}; let it commit that first")
        if why := _indivisible(folder / "state"):
            raise Refused(f"{name} {why}")
        version, metadata, *lines = (folder / "offsets" / str(done[-1])).read_text().splitlines()
        if version != _VERSION:
            raise Refused(f"{name}: offsets of version {version} cannot be handed over")
        offsets = tuple(_offset(name, line) for line in lines)
        return cls(name, folder, done[-1], json.loads(metadata), offsets)


def hand_over(
    spark: SparkSession,
    sources: Sequence[StoppedSlice],
    targets: Sequence[Target],
    key: str,
    groups: int,
) -> int:
    """Write the targets' checkpoints from the sources'; the number of rows of state in them."""
    if why := why_not(spark):
        raise Refused(why)
    ensure_callback_server_started(spark.sparkContext._gateway)
    batch = max(source.batch for source in sources)
    group = key_group_sql(f"partition_key.`{key}`", groups)
    for target in targets:
        _prepare(target, sources, batch)
        _rewrite(spark, sources, target, batch, group)
    before: int = sum(_rows(spark, s.folder, s.batch).count() for s in sources)
    after = 0
    for target in targets:
        found = _rows(spark, target.folder, batch + 1).selectExpr(
            "count(*) AS rows", f"count_if({_strange(key, groups, target)}) AS strange"
        )
        rows, strange = found.collect()[0]
        if strange:
            raise Unavailable(f"{strange} keys of {target.name} belong to other slices")
        after += rows
    if before != after:
        raise Unavailable(f"of {before:,} keys {after:,} were handed over")
    return before


def why_not(spark: SparkSession) -> str:
    """Why state cannot be handed over with this Spark; empty if it can."""
    jvm: Any = spark.sparkContext._jvm
    try:
        jvm.java.lang.Class.forName(
            _REWRITER, False, jvm.java.lang.Thread.currentThread().getContextClassLoader()
        )
    except Exception:
        return f"Spark {spark.version} cannot rewrite state, so slices stay as they are"
    return ""


def merge_offsets(
    sources: Sequence[StoppedSlice], key_groups: Iterable[int]
) -> list[dict[str, Any]]:
    """Up to where these key groups were read, by input; a group is a shard or partition."""
    wanted = {str(group) for group in key_groups}
    merged: list[dict[str, Any]] = []
    for inputs in zip(*(source.offsets for source in sources), strict=True):
        found: dict[str, Any] = {}
        for offset in inputs:
            for name, at in offset.items():
                if isinstance(at, dict):  # as Kafka has it: topic, then partition
                    own = {p: n for p, n in at.items() if p in wanted}
                    found[name] = {**found.get(name, {}), **own}
                elif name in wanted:
                    found[name] = at
        merged.append(found)
    return merged


def _prepare(target: Target, sources: Sequence[StoppedSlice], batch: int) -> None:
    """Everything of a checkpoint but the state: two batches done, both up to the same offsets,
    as Spark looks at the last two when it resumes."""
    folder, base = target.folder, sources[0]
    shutil.rmtree(folder, ignore_errors=True)  # of a try that was cut off
    for name in ("offsets", "commits", "sources"):
        (folder / name).mkdir(parents=True)
    (folder / "metadata").write_text(json.dumps({"id": str(uuid4())}))
    watermark = min(int(s.metadata.get("batchWatermarkMs", 0)) for s in sources)
    metadata = {**base.metadata, "batchWatermarkMs": watermark}
    lines = [_line(offset) for offset in merge_offsets(sources, target.key_groups)]
    offsets = "\n".join([_VERSION, _line(metadata), *lines])
    done = (base.folder / "commits" / str(base.batch)).read_text()
    for number in (batch, batch + 1):
        (folder / "offsets" / str(number)).write_text(offsets)
        (folder / "commits" / str(number)).write_text(done)
    for found in (base.folder / "state").rglob("_metadata"):
        _copy(found, folder / found.relative_to(base.folder), str(base.folder), str(folder))


def _copy(source: Path, target: Path, before: str, after: str) -> None:
    """The description of the state, which names its own folder."""
    for file in source.rglob("*"):
        if file.is_file() and not file.name.endswith(".crc"):
            place = target / file.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes().replace(before.encode(), after.encode()))


def _rewrite(
    spark: SparkSession, sources: Sequence[StoppedSlice], target: Target, batch: int, group: str
) -> None:
    jvm: Any = spark.sparkContext._jvm
    session: Any = spark._jsparkSession
    base = sources[0]
    nothing = getattr(getattr(jvm.scala, "None$"), "MODULE$")
    mine = F.expr(f"{group} IN ({', '.join(map(str, target.key_groups))})")

    def choose(frame: DataFrame) -> DataFrame:
        others = (_all_columns(spark, s) for s in sources[1:])
        return reduce(DataFrame.union, others, frame).where(mine).coalesce(1)

    jvm.org.apache.spark.sql.execution.streaming.state.StateRewriter(
        session,
        base.batch,
        batch + 1,
        f"file:{target.folder}",
        session.sessionState().newHadoopConf(),
        jvm.scala.Some(f"file:{base.folder}"),
        jvm.scala.Some(_Function(spark, choose)),
        nothing,
    ).run()


class _Function:
    """A function over frames, as Scala calls it."""

    def __init__(self, spark: SparkSession, over: Any) -> None:
        self._spark = spark
        self._over = over

    def apply(self, frame: Any) -> Any:
        return self._over(DataFrame(frame, self._spark))._jdf

    class Java:
        implements = ["scala.Function1"]


def _all_columns(spark: SparkSession, source: StoppedSlice) -> Any:
    return _reader(spark, source.folder, source.batch).option(_ALL, "true").load()


def _rows(spark: SparkSession, folder: Path, batch: int) -> Any:
    return _reader(spark, folder, batch).load()


def _reader(spark: SparkSession, folder: Path, batch: int) -> Any:
    return spark.read.format("statestore").option("path", f"file:{folder}").option("batchId", batch)


def _strange(key: str, groups: int, target: Target) -> str:
    owned = ", ".join(map(str, target.key_groups))
    return f"{key_group_sql(f'key.`{key}`', groups)} NOT IN ({owned})"


def _batches(folder: Path) -> list[int]:
    return sorted(int(f.name) for f in folder.glob("*") if f.name.isdigit()) or []


def _indivisible(folder: Path) -> str:
    """Why the state below cannot be divided; empty if it can."""
    operators = [f for f in folder.glob("*") if f.name.isdigit()]
    if len(operators) != 1:
        return f"keeps state in {len(operators)} operators; only one can be divided"
    stores = [f for f in operators[0].glob("*/*/*") if f.suffix in (".zip", ".changelog", ".delta")]
    return "keeps state of a join, which cannot be divided" if stores else ""


def _offset(name: str, line: str) -> Mapping[str, Any]:
    """Where an input was; it must count by shard or partition, else it cannot be divided."""
    found = None if line == "-" else json.loads(line)
    if not isinstance(found, dict) or not all(
        isinstance(at, dict) or key.isdigit() for key, at in found.items()
    ):
        raise Refused(f"{name} reads an input whose offsets do not count by partition")
    return found


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
