"""Smart plugs: the load of each plug, household and house in the next window.

    readings --> meters --> loads --> predictor (stateful) --> predictions --> outlook

The predictor keeps the last readings of every place and adds up QSpark's equation 5.1 again for
each place that a batch touches: (mean + median of the window) / 2.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from weir.controllers.model.settings import setting
from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostSettings, Seconds, with_cost
from weir.pipeline.workloads.plugs import EXPONENT, readings
from weir.pipeline.workloads.ranking import ranking

# One shard: the readings of a place stay in order, and so the last of them are the same each time.
READINGS = Link("readings", "ts double, text string", shards=1)
LOADS = Link(
    "loads", "ts double, number bigint, place string, watts bigint", shards=GROUPS, key="place"
)
PREDICTIONS = Link(
    "predictions", "place string, n bigint, predicted_mw bigint, ts double", key="place"
)
SEEN = keys.ranking("plug_readings")
PREDICTED = keys.ranking("plug_predictions")
WINDOW = 100


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost, how often they run, and how long the window is."""

    meters_cost_s: Seconds = 0.001
    predictor_cost_s: Seconds = 0.001
    window: Annotated[
        int, setting("Readings of a place that are looked at", unit="rows", ge=1, le=10_000)
    ] = WINDOW


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def meters(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(READINGS.read(spark, context, "meters", use.max_rows), F.col("ts"))
        part = F.split("text", ",")
        house = F.concat(F.lit("house "), part[1])
        household = F.concat(house, F.lit(" household "), part[2])
        plug = F.concat(household, F.lit(" plug "), part[3])
        loads = with_cost(rows, use.meters_cost_s, kind).select(
            "ts",
            part[0].cast("bigint").alias("number"),
            F.explode(F.array(house, household, plug)).alias("place"),
            part[4].cast("bigint").alias("watts"),
        )
        return write_appended(loads, LOADS.target(context))

    def predictor(spark: SparkSession, context: Context) -> DataStreamWriter:
        loads = observed(LOADS.read(spark, context, "predictor", use.max_rows), F.col("ts"))
        rows = with_cost(loads, use.predictor_cost_s, kind)
        found = rows.groupBy("place").applyInPandasWithState(
            _predict(use.window), PREDICTIONS.schema, "n bigint, last binary",
            "append", GroupStateTimeout.NoTimeout,
        )  # fmt: skip
        return write_appended(found, PREDICTIONS.target(context))

    def outlook(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = PREDICTIONS.read(spark, context, "outlook", use.max_rows)
        return observed(rows, F.col("ts")).writeStream.foreachBatch(_show(context.redis_url))

    return [
        Operator(
            "meters", meters, use.trigger_s, reads=(READINGS.edge,), writes=(LOADS.edge,),
            backlog=READINGS.backlog("meters"),
        ),
        Operator(
            "predictor", predictor, use.trigger_s, reads=(LOADS.edge,), writes=(PREDICTIONS.edge,),
            backlog=LOADS.backlog("predictor"),
        ),
        Operator(
            "outlook", outlook, use.slow_trigger_s, reads=(PREDICTIONS.edge,),
            backlog=PREDICTIONS.backlog("outlook"),
        ),
    ]  # fmt: skip


def predicted_mw(window: Iterable[int]) -> int:
    """Equation 5.1 of QSpark, in milliwatts.

    >>> predicted_mw([10, 20, 90])
    30000
    """
    watts = np.fromiter(window, dtype=np.int64)
    return round(1000 * (float(watts.mean()) + float(np.median(watts))) / 2)


def expected(texts: Iterable[str]) -> dict[str, int]:
    """Readings and prediction of every place after these readings, without Spark."""
    seen: dict[str, int] = defaultdict(int)
    last: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=WINDOW))
    for text in texts:
        _, house, household, plug, watts = text.split(",")
        at_home = f"house {house} household {household}"
        for place in (f"house {house}", at_home, f"{at_home} plug {plug}"):
            seen[place] += 1
            last[place].append(int(watts))
    return _at_the_end(seen, {place: predicted_mw(window) for place, window in last.items()})


def counted(redis_url: str) -> dict[str, int]:
    """Readings and prediction of every place that have reached the end of the pipeline."""
    return _at_the_end(ranking(redis_url, SEEN), ranking(redis_url, PREDICTED))


def _at_the_end(seen: dict[str, int], predicted: dict[str, int]) -> dict[str, int]:
    return {f"{place}: readings": n for place, n in seen.items()} | {
        f"{place}: predicted mW": mw for place, mw in predicted.items()
    }


def _predict(
    window: int,
) -> Callable[[Any, Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    def each(
        key: Any, batches: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        rows = pd.concat(list(batches)).sort_values("number")
        n, last = state.get if state.exists else (0, b"")
        kept = np.append(np.frombuffer(bytes(last), np.int64), rows["watts"])[-window:]
        n += len(rows)
        state.update((n, kept.tobytes()))
        made = {"place": key[0], "n": n, "predicted_mw": predicted_mw(kept)}
        yield pd.DataFrame([{**made, "ts": rows["ts"].max()}])

    return each


def _show(redis_url: str) -> Callable[[DataFrame, int], None]:
    """The newest prediction of a place is the one after most readings."""

    def each(batch: DataFrame, batch_id: int) -> None:
        newest = batch.groupBy("place").agg(F.max(F.struct("n", "predicted_mw")).alias("last"))
        found = {row.place: row["last"] for row in newest.collect()}
        if found:
            with connect(redis_url) as client, client.pipeline(transaction=True) as together:
                together.zadd(SEEN, {place: last.n for place, last in found.items()})
                together.zadd(
                    PREDICTED, {place: last.predicted_mw for place, last in found.items()}
                )
                together.execute()

    return each


APPLICATION = Application(
    name="smart_plugs",
    title="Smart plugs",
    origin=(
        "After QSpark (section 5.1) and the DEBS 2014 challenge: plugs in households in houses "
        "report their load, and the load of each of them in the next window is predicted as half "
        "the sum of mean and median of its last 100 readings (equation 5.1). The work depends on "
        "how many different plugs a batch has, not only on its rows: a skew of 0 costs most. The "
        "readings are made here; the challenge's own are not used."
    ),
    source=READINGS,
    rows=readings,
    skew=EXPONENT,
    module=__name__,
    places={"wide": ("meters",), "narrow": ("predictor", "outlook")},
    expected=expected,
    counted=counted,
    rows_per_s=50.0,
    most_rows_per_s=120.0,
)
