"""Writing a stream to an edge."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.pipeline.edges.source import FORMAT, EdgeWriter


def write_appended(rows: DataFrame, options: Mapping[str, Any]) -> DataStreamWriter:
    """Rows that are only ever added."""
    return rows.writeStream.outputMode("append").format(FORMAT).options(**options)


def write_updated(rows: DataFrame, options: Mapping[str, Any]) -> DataStreamWriter:
    """Rows of an aggregation, each time they change.

    Spark lets a Python sink take appended rows only, so here the same writer runs on
    the executors from within `foreachBatch`. What it writes is the same, and as exact.
    """
    writer = EdgeWriter({key: str(value) for key, value in options.items()})

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writer.write(batches)
        return iter(())

    def each(batch: DataFrame, batch_id: int) -> None:
        batch.mapInArrow(write, "done boolean").write.format("noop").mode("overwrite").save()

    return rows.writeStream.outputMode("update").foreachBatch(each)
