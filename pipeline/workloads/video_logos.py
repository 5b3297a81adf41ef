"""Video logo detection: which logos appear in which frames (DRS, section V).

    frames --> extract --> features --> match --> matches --> aggregate (stateful)

A frame has as many rows of features as it has corners, so the work varies from frame to frame.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostSettings, Rows, Seconds, spend, with_cost
from weir.pipeline.workloads.frames import EXPONENT, LOGOS, frames, logo_features, pixels_of
from weir.pipeline.workloads.vision import LENGTH, Descriptors, features, match

FRAMES = Link("frames", "ts double, text string")
FEATURES = Link(
    "features", "ts double, frame bigint, descriptor binary", shards=GROUPS, key="frame"
)
MATCHES = Link("matches", "ts double, frame bigint, logo bigint", shards=GROUPS, key="frame")
ENOUGH = 6
KEPT = "10 minutes"
"""How long a frame whose features come late can still be added up."""


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost besides their computing, and how often they run."""

    extract_cost_s: Seconds = 0.02
    match_cost_s: Seconds = 0.0005
    aggregate_cost_s: Seconds = 0.0
    enough: Annotated[
        int, setting("Matching features that make a logo appear in a frame", ge=1, le=1000)
    ] = ENOUGH


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def extract(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(FRAMES.read(spark, context, "extract", use.max_rows), F.col("ts"))
        found = rows.mapInArrow(_extract(use.extract_cost_s, kind), FEATURES.schema)
        return write_appended(found, FEATURES.target(context))

    def match(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(FEATURES.read(spark, context, "match", use.max_rows), F.col("ts"))
        found = rows.mapInArrow(_match(use.match_cost_s, kind), MATCHES.schema)
        return write_appended(found, MATCHES.target(context))

    def aggregate(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(MATCHES.read(spark, context, "aggregate", use.max_rows), F.col("ts"))
        counts = (
            with_cost(rows, use.aggregate_cost_s, kind)
            .withColumn("at", F.timestamp_seconds("ts"))
            .withWatermark("at", KEPT)
            .groupBy("at", "frame", "logo")
            .agg(F.count(F.lit(1)).alias("n"))
            .where(F.col("n") >= use.enough)
        )
        return counts.writeStream.outputMode("update").foreachBatch(_note(context.redis_url))

    return [
        Operator(
            "extract", extract, use.trigger_s, reads=(FRAMES.edge,), writes=(FEATURES.edge,),
            backlog=FRAMES.backlog("extract"),
        ),
        Operator(
            "match", match, use.trigger_s, reads=(FEATURES.edge,), writes=(MATCHES.edge,),
            backlog=FEATURES.backlog("match"),
        ),
        Operator(
            "aggregate", aggregate, use.trigger_s, reads=(MATCHES.edge,),
            backlog=MATCHES.backlog("aggregate"),
        ),
    ]  # fmt: skip


def logos_in(found: Descriptors, enough: int = ENOUGH) -> set[int]:
    """The logos that a frame with these features shows."""
    logos = match(found, *logo_features())
    counts = Counter(logos[logos >= 0].tolist())
    return {logo for logo, n in counts.items() if n >= enough}


def expected(texts: Iterable[str]) -> dict[str, int]:
    """In how many of these frames each logo is found, without Spark."""
    frames_of: Counter[str] = Counter()
    for text in texts:
        frames_of.update(f"logo {logo}" for logo in logos_in(features(pixels_of(text)[1])))
    return dict(frames_of)


def counted(redis_url: str) -> dict[str, int]:
    """In how many frames each logo was found, as far as the pipeline has come."""
    with connect(redis_url) as client:
        found = {f"logo {i}": int(client.bitcount(_key(i))) for i in range(LOGOS)}
    return {logo: n for logo, n in found.items() if n}


def _key(logo: int) -> str:
    return keys.sightings(str(logo))


def _extract(cost_s: float, kind: str) -> Callable[[Rows], Rows]:
    def each(batches: Rows) -> Iterator[pa.RecordBatch]:
        for batch in spend(cost_s, kind)(batches):
            times, numbers, descriptors = [], [], []
            rows = zip(batch.column("ts").to_pylist(), batch.column("text"), strict=True)
            for ts, text in rows:
                number, image = pixels_of(text.as_py())
                for descriptor in features(image):
                    times.append(ts)
                    numbers.append(number)
                    descriptors.append(descriptor.tobytes())
            yield pa.record_batch(
                {
                    "ts": pa.array(times, pa.float64()),
                    "frame": pa.array(numbers, pa.int64()),
                    "descriptor": pa.array(descriptors, pa.binary()),
                }
            )

    return each


def _match(cost_s: float, kind: str) -> Callable[[Rows], Rows]:
    def each(batches: Rows) -> Iterator[pa.RecordBatch]:
        known, names = logo_features()
        for batch in spend(cost_s, kind)(batches):
            data = b"".join(batch.column("descriptor").to_pylist())
            found = np.frombuffer(data, np.uint8).reshape(batch.num_rows, LENGTH)
            logos = match(found, known, names)
            near = pa.array(np.flatnonzero(logos >= 0))
            yield pa.record_batch(
                {
                    "ts": batch.column("ts").take(near),
                    "frame": batch.column("frame").take(near),
                    "logo": pa.array(logos[logos >= 0]),
                }
            )

    return each


def _note(redis_url: str) -> Callable[[DataFrame, int], None]:
    """A logo that was found in a frame stays found: one bit each, however often it is reported."""

    def each(batch: DataFrame, batch_id: int) -> None:
        found = batch.select("frame", "logo").distinct().collect()
        if found:
            with connect(redis_url) as client, client.pipeline(transaction=False) as together:
                for row in found:
                    together.setbit(_key(row.logo), row.frame, 1)
                together.execute()

    return each


APPLICATION = Application(
    name="video_logos",
    title="Video logo detection",
    origin=(
        "After DRS (section V, its application VLD): a chain of three operators finds logos in the "
        "frames of a video. The first extracts features, the second matches them with those of "
        "known logos by L2 distance, the third decides that a logo appears in a frame once enough "
        "features match. Frames of 64 by 64 points are made here, with up to two of six logos each; "
        "features are corners with histograms of gradients, computed in numpy, in place of SIFT "
        "with its scales and rotations. The skew says which logos appear most."
    ),
    source=FRAMES,
    rows=frames,
    skew=EXPONENT,
    module=__name__,
    places={"wide": ("extract",), "narrow": ("match", "aggregate")},
    expected=expected,
    counted=counted,
    rows_per_s=6.0,
    most_rows_per_s=18.0,
)
