"""An edge as the operators at its two ends use it."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from weir.metrics.agent.track import Backlog
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.source import FORMAT
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.hosts.operator import Context


@dataclass(frozen=True)
class Link:
    """Its name, its columns, and the column by which rows are shared out."""

    edge: str
    schema: str
    shards: int = 4  # of a keyed operator's input: its key groups
    key: str | None = None

    def reader(
        self, spark: SparkSession, context: Context, consumer: str, max_rows: int
    ) -> DataStreamReader:
        """What reads its rows; for a slice only those of its key groups."""
        reader = (
            spark.readStream.format(FORMAT)
            .options(edge=self.edge, shards=self.shards, consumer=consumer)
            .options(schema=self.schema, maxRows=max_rows)
        )
        if context.is_slice:
            reader = reader.options(groups=",".join(map(str, context.key_groups)), tasks=1)
        return reader

    def read(
        self, spark: SparkSession, context: Context, consumer: str, max_rows: int
    ) -> DataFrame:
        """Its rows."""
        return self.reader(spark, context, consumer, max_rows).load()

    def target(self, context: Context) -> dict[str, object]:
        """The options with which an operator or slice writes to it."""
        options: dict[str, object] = {
            "edge": self.edge, "shards": self.shards, "fence": context.fence,
        }  # fmt: skip
        if self.key is not None:
            options["key"] = self.key
        if context.is_slice:
            options |= {"producer": context.name, "generation": context.generation}
        return options

    def backlog(self, consumer: str) -> Callable[[str, tuple[int, ...]], Backlog]:
        """Says how many rows wait for a consumer, in all or in some key groups."""
        known: dict[str, EdgeStream] = {}

        def look(redis_url: str, groups: tuple[int, ...]) -> Backlog:
            if redis_url not in known:
                known[redis_url] = EdgeStream(connect(redis_url), self.edge, self.shards)
            found = known[redis_url].counters(groups or None)
            done = known[redis_url].committed().get(consumer, {})
            rows = {group: count for group, (count, _) in found.items()}
            return Backlog(
                appended_rows=sum(rows.values()),
                appended_bytes=sum(size for _, size in found.values()),
                committed_rows=sum(done.get(str(group), 0) for group in found),
                by_group=tuple(rows[group] for group in groups),
            )

        return look
