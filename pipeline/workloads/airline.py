"""Airline delays: delays by airplane and year, and by route (ALBIC's jobs 2 and 3).

    flights --> extract_delays --> delays --> plane_delays (stateful) --> plane_sums --> store_planes
                                      +-----> route_delays (stateful) --> route_sums --> store_routes

Only flights that were late count. Delays are in minutes.
"""

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended, write_updated
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostSettings, Seconds, Slices, with_cost
from weir.pipeline.workloads.flights import EXPONENT, FIRST_YEAR, flights, year_of
from weir.pipeline.workloads.ranking import rank_largest, ranking

FLIGHTS = Link("flights", "ts double, text string")
DELAY_COLUMNS = "ts double, day bigint, plane string, origin string, route string, minutes bigint"
DELAYS = Link("delays", DELAY_COLUMNS, shards=GROUPS, key="plane")
PLANE_SUMS = Link("plane_sums", "name string, n bigint, ts double", key="name")
ROUTE_SUMS = Link("route_sums", "name string, n bigint, ts double", key="name")
PLANES = keys.ranking("plane_delays")
ROUTES = keys.ranking("route_delays")


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost, and how often they run."""

    extract_delays_cost_s: Seconds = 0.001
    plane_delays_cost_s: Seconds = 0.001
    route_delays_cost_s: Seconds = 0.0005
    slices: Slices = 0


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    return delay_operators(settings or Settings(), FLIGHTS, DELAYS, PLANE_SUMS, ROUTE_SUMS)


def delay_operators(
    use: Settings, flown: Link, delays: Link, plane_sums: Link, route_sums: Link
) -> list[Operator]:
    """Jobs 2 and 3, from flights on one edge to sums in Redis."""
    kind = use.cost_kind

    def extract(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(flown.read(spark, context, "extract_delays", use.max_rows), F.col("ts"))
        late = late_flights(with_cost(rows, use.extract_delays_cost_s, kind))
        return write_appended(late, delays.target(context))

    def plane_delays(spark: SparkSession, context: Context) -> DataStreamWriter:
        late = observed(delays.read(spark, context, "plane_delays", use.max_rows), F.col("ts"))
        rows = with_cost(late, use.plane_delays_cost_s, kind)
        if context.is_slice:
            rows = rows.coalesce(1)  # with one shuffle partition: no exchange
        year = F.floor(F.col("day") / 365) + FIRST_YEAR
        sums = (
            rows.withColumn("year", year)
            .groupBy("plane", "year")
            .agg(F.sum("minutes").alias("n"), F.max("ts").alias("ts"))
            .select(F.concat_ws(" ", "plane", "year").alias("name"), "n", "ts")
        )
        return write_updated(sums, plane_sums.target(context))

    def route_delays(spark: SparkSession, context: Context) -> DataStreamWriter:
        late = observed(delays.read(spark, context, "route_delays", use.max_rows), F.col("ts"))
        sums = (
            with_cost(late, use.route_delays_cost_s, kind)
            .groupBy(F.col("route").alias("name"))
            .agg(F.sum("minutes").alias("n"), F.max("ts").alias("ts"))
        )
        return write_updated(sums, route_sums.target(context))

    return [
        Operator(
            "extract_delays", extract, use.trigger_s, reads=(flown.edge,), writes=(delays.edge,),
            backlog=flown.backlog("extract_delays"),
        ),
        Operator(
            "plane_delays", plane_delays, use.trigger_s,
            reads=(delays.edge,), writes=(plane_sums.edge,), backlog=delays.backlog("plane_delays"),
            key="plane" if use.slices else None, slices=use.slices or 1,
        ),
        Operator(
            "route_delays", route_delays, use.trigger_s,
            reads=(delays.edge,), writes=(route_sums.edge,), backlog=delays.backlog("route_delays"),
        ),
        store_sums("store_planes", plane_sums, PLANES, use),
        store_sums("store_routes", route_sums, ROUTES, use),
    ]  # fmt: skip


def late_flights(rows: DataFrame) -> DataFrame:
    """The flights among the rows that were late, in columns."""
    part = F.split("text", ",")
    return rows.where(part[0] == "F").select(
        "ts",
        part[1].cast("bigint").alias("day"),
        part[2].alias("plane"),
        part[3].alias("origin"),
        F.concat_ws("-", part[3], part[4]).alias("route"),
        part[5].cast("bigint").alias("minutes"),
    ).where("minutes > 0")  # fmt: skip


def store_sums(name: str, sums: Link, ranking: str, use: Settings) -> Operator:
    """An operator that writes sums, which only grow, to where they can be asked for."""

    def build(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(sums.read(spark, context, name, use.max_rows), F.col("ts"))
        return rows.writeStream.foreachBatch(rank_largest(context.redis_url, ranking, "name"))

    return Operator(name, build, use.slow_trigger_s, reads=(sums.edge,), backlog=sums.backlog(name))


def expected(texts: Iterable[str]) -> dict[str, int]:
    """Minutes of delay by plane and year, and by route, after these flights, without Spark."""
    sums: Counter[str] = Counter()
    for _, day, plane, origin, destination, delay in (text.split(",") for text in texts):
        if int(delay) > 0:
            sums[f"plane {plane} {year_of(int(day))}"] += int(delay)
            sums[f"route {origin}-{destination}"] += int(delay)
    return dict(sums)


def counted(redis_url: str) -> dict[str, int]:
    """The same, as far as it has reached the end of the pipeline."""
    return {f"plane {name}": n for name, n in ranking(redis_url, PLANES).items()} | {
        f"route {name}": n for name, n in ranking(redis_url, ROUTES).items()
    }


APPLICATION = Application(
    name="airline",
    title="Airline delays",
    origin=(
        "After ALBIC (section 5.2, real jobs 2 and 3): delays are extracted from flights, summed by "
        "airplane and year (job 2) and by route (job 3). All rows of a plane go from the one "
        "operator to the other, so it matters much whether both are in the same place; a plane "
        "flies four routes, so job 3 can be collocated only in part. Flights are made here, of 300 "
        "planes between 30 airports from 2004 on; the Department of Transportation's are not used."
    ),
    source=FLIGHTS,
    rows=flights,
    skew=EXPONENT,
    module=__name__,
    places={
        "wide": ("extract_delays", "route_delays", "store_routes"),
        "narrow": ("plane_delays", "store_planes"),
    },
    expected=expected,
    counted=counted,
    sliced="plane_delays",
    rows_per_s=50.0,
    most_rows_per_s=120.0,
)
