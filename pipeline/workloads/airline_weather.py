"""Airline delays joined with the weather (ALBIC's job 4).

    records --> extract_delays --> late --> plane_delays, route_delays --> ...   as in `airline.py`
       |                             +----> join_weather --> delays_in_rain --> courier_efficiency
       +------> rain_score --> rain_scores ----+

A rain score is 0 to 100: how much it rained at an airport on a day, of the most ever measured. The
efficiency of a courier is the sum of delays by scores in steps of ten. Both sides of the join carry
the day of the data as time, so that state is dropped once the slower side has passed it.
"""

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads import airline
from weir.pipeline.workloads.airline import DELAY_COLUMNS, delay_operators
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import Seconds, with_cost
from weir.pipeline.workloads.flights import EXPONENT, MOST_RAIN_MM, flights_and_weather
from weir.pipeline.workloads.ranking import rank_largest, ranking

# One shard: days come in their order, and the join may forget those that have passed.
RECORDS = Link("records", "ts double, text string", shards=1)
LATE = Link("late", DELAY_COLUMNS, shards=GROUPS, key="plane")
PLANE_SUMS = Link("plane_sums", "name string, n bigint, ts double", key="name")
ROUTE_SUMS = Link("route_sums", "name string, n bigint, ts double", key="name")
SCORES = Link("rain_scores", "ts double, day bigint, airport string, score bigint", key="airport")
IN_RAIN = Link("delays_in_rain", "ts double, step string, minutes bigint", key="step")
STEPS = keys.ranking("courier_efficiency")
FIRST_DAY_S = 1_072_915_200
"""The first of January 2004. Spark's watermark begins in 1970, and a row of that day is late."""
LATE_DAYS = 30
"""How many days of the data a row may come later than those after it."""


class Settings(airline.Settings, frozen=True, kw_only=True):
    """What the operators cost, and how often they run."""

    rain_score_cost_s: Seconds = 0.0005
    join_weather_cost_s: Seconds = 0.0005


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def rain_score(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(RECORDS.read(spark, context, "rain_score", use.max_rows), F.col("ts"))
        part = F.split("text", ",")
        scores = with_cost(rows.where(part[0] == "W"), use.rain_score_cost_s, kind).select(
            "ts",
            part[1].cast("bigint").alias("day"),
            part[2].alias("airport"),
            F.floor(part[3].cast("bigint") * 100 / MOST_RAIN_MM).alias("score"),
        )
        return write_appended(scores, SCORES.target(context))

    def join_weather(spark: SparkSession, context: Context) -> DataStreamWriter:
        late = observed(LATE.read(spark, context, "join_weather", use.max_rows), F.col("ts"))
        delays = _with_day(with_cost(late, use.join_weather_cost_s, kind), "flown")
        scores = _with_day(SCORES.read(spark, context, "join_weather", use.max_rows), "rained")
        at = (F.col("origin") == F.col("airport")) & (F.col("flown") == F.col("rained"))
        found = delays.join(scores.drop("ts", "day"), at).select(
            "ts", _step(F.col("score")).alias("step"), "minutes"
        )
        return write_appended(found, IN_RAIN.target(context))

    def courier_efficiency(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = IN_RAIN.read(spark, context, "courier_efficiency", use.max_rows)
        sums = observed(rows, F.col("ts")).groupBy("step").agg(F.sum("minutes").alias("n"))
        rank = rank_largest(context.redis_url, STEPS, "step")
        return sums.writeStream.outputMode("update").foreachBatch(rank)

    return [
        *delay_operators(use, RECORDS, LATE, PLANE_SUMS, ROUTE_SUMS),
        Operator(
            "rain_score", rain_score, use.trigger_s, reads=(RECORDS.edge,), writes=(SCORES.edge,),
            backlog=RECORDS.backlog("rain_score"),
        ),
        Operator(
            "join_weather", join_weather, use.trigger_s,
            reads=(LATE.edge, SCORES.edge), writes=(IN_RAIN.edge,),
            backlog=LATE.backlog("join_weather"),
        ),
        Operator(
            "courier_efficiency", courier_efficiency, use.slow_trigger_s, reads=(IN_RAIN.edge,),
            backlog=IN_RAIN.backlog("courier_efficiency"),
        ),
    ]  # fmt: skip


def _with_day(rows: DataFrame, name: str) -> DataFrame:
    """With the day of the data as time, by which state is dropped."""
    at = F.timestamp_seconds(F.col("day") * 86400 + FIRST_DAY_S)
    return rows.withColumn(name, at).withWatermark(name, f"{LATE_DAYS} days")


def _step(score: Column) -> Column:
    low = F.least(F.floor(score / 10) * 10, F.lit(90))
    return F.concat_ws("-", low, low + 10)


def expected(texts: Iterable[str]) -> dict[str, int]:
    """Delays by plane and year, by route, and by steps of the rain score, without Spark."""
    records = list(texts)
    found = airline.expected(text for text in records if text.startswith("F"))
    score = {}
    for text in records:
        if text.startswith("W"):
            _, day, place, rain = text.split(",")
            score[day, place] = int(rain) * 100 // MOST_RAIN_MM
    for text in records:
        if text.startswith("F"):
            _, day, _, origin, _, delay = text.split(",")
            if int(delay) > 0 and (day, origin) in score:
                low = min(score[day, origin] // 10 * 10, 90)
                name = f"rain {low}-{low + 10}"
                found[name] = found.get(name, 0) + int(delay)
    return found


def counted(redis_url: str) -> dict[str, int]:
    """The same, as far as it has reached the end of the pipeline."""
    rain = {f"rain {step}": n for step, n in ranking(redis_url, STEPS).items()}
    return airline.counted(redis_url) | rain


APPLICATION = Application(
    name="airline_weather",
    title="Delays and weather",
    origin=(
        "After ALBIC (section 5.2, real job 4): to the sums of delays by airplane and by route come "
        "reports of the weather. A rain score of 0 to 100 says how much it rained at an airport on "
        "a day; late flights are joined with the score of where they began, and delays are summed "
        "by scores in steps of ten, the efficiency of couriers. Flights and weather are made here; "
        "the data of the Department of Transportation and of NOAA are not used. The paper's "
        "operators that write to a database write to Redis here."
    ),
    source=RECORDS,
    rows=flights_and_weather,
    skew=EXPONENT,
    module=__name__,
    places={
        "wide": ("extract_delays", "route_delays", "store_routes", "rain_score", "join_weather"),
        "narrow": ("plane_delays", "store_planes", "courier_efficiency"),
    },
    expected=expected,
    counted=counted,
    sliced="plane_delays",
    rows_per_s=50.0,
    most_rows_per_s=100.0,
)
