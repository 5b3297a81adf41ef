"""Movie recommendation: movies are similar that have many fans in common.

    ratings --> history (stateful) --> mutual_fans --> similar_movies (stateful) --> similar
    similar --> recommendations

`history` knows of which movies each user is a fan; each new one makes a pair with every one before,
in both directions, as in DoDo's HistoryPE.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from weir.controllers.model.slicing import GROUPS
from weir.metrics.store import keys
from weir.pipeline.edges.link import Link
from weir.pipeline.edges.sink import write_appended, write_updated
from weir.pipeline.hosts.operator import Context, Operator, observed
from weir.pipeline.workloads.application import Application
from weir.pipeline.workloads.cost import CostSettings, Seconds, Slices, with_cost
from weir.pipeline.workloads.counting import counts_by
from weir.pipeline.workloads.movie_ratings import EXPONENT, FAN_FROM, ratings
from weir.pipeline.workloads.ranking import rank_largest, ranking

RATINGS = Link("ratings", "ts double, text string")
FANS = Link("mutual_fans", "ts double, pair string", shards=GROUPS, key="pair")
SIMILAR = Link("similar", "pair string, n bigint, ts double", key="pair")
RANKING = keys.ranking("movie_pairs")


class Settings(CostSettings, frozen=True, kw_only=True):
    """What the operators cost, and how often they run."""

    history_cost_s: Seconds = 0.002
    similar_movies_cost_s: Seconds = 0.0005
    slices: Slices = 0


def operators(settings: Settings | None = None) -> list[Operator]:
    """The pipeline's operators."""
    use = settings or Settings()
    kind = use.cost_kind

    def history(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = observed(RATINGS.read(spark, context, "history", use.max_rows), F.col("ts"))
        part = F.split("text", ",")
        fans = with_cost(rows, use.history_cost_s, kind).select(
            "ts",
            part[0].alias("user"),
            part[1].cast("int").alias("movie"),
            part[2].cast("int").alias("stars"),
        )
        pairs = (
            fans.where(F.col("stars") >= FAN_FROM)
            .groupBy("user")
            .applyInPandasWithState(
                _pair, FANS.schema, "movies binary", "append", GroupStateTimeout.NoTimeout
            )
        )
        return write_appended(pairs, FANS.target(context))

    def similar_movies(spark: SparkSession, context: Context) -> DataStreamWriter:
        pairs = observed(FANS.read(spark, context, "similar_movies", use.max_rows), F.col("ts"))
        rows = with_cost(pairs, use.similar_movies_cost_s, kind)
        return write_updated(counts_by(rows, "pair", context), SIMILAR.target(context))

    def recommendations(spark: SparkSession, context: Context) -> DataStreamWriter:
        rows = SIMILAR.read(spark, context, "recommendations", use.max_rows)
        rank = rank_largest(context.redis_url, RANKING, "pair")
        return observed(rows, F.col("ts")).writeStream.foreachBatch(rank)

    return [
        Operator(
            "history", history, use.trigger_s, reads=(RATINGS.edge,), writes=(FANS.edge,),
            backlog=RATINGS.backlog("history"),
        ),
        Operator(
            "similar_movies", similar_movies, use.trigger_s,
            reads=(FANS.edge,), writes=(SIMILAR.edge,), backlog=FANS.backlog("similar_movies"),
            key="pair" if use.slices else None, slices=use.slices or 1,
        ),
        Operator(
            "recommendations", recommendations, use.slow_trigger_s, reads=(SIMILAR.edge,),
            backlog=SIMILAR.backlog("recommendations"),
        ),
    ]  # fmt: skip


def expected(texts: Iterable[str]) -> dict[str, int]:
    """Mutual fans of every two movies after these ratings, without Spark."""
    fan_of: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        user, movie, stars = text.split(",")
        if int(stars) >= FAN_FROM:
            fan_of[user].add(movie)
    pairs = (pair for movies in fan_of.values() for pair in permutations(movies, 2))
    return Counter(f"{one}/{other}" for one, other in pairs)


def counted(redis_url: str) -> dict[str, int]:
    """Mutual fans by pair of movies that have reached the end of the pipeline."""
    return ranking(redis_url, RANKING)


def _pair(key: Any, batches: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """The pairs that a user's new favourites make with those before."""
    rows = pd.concat(list(batches)).sort_values(["ts", "movie"])
    known = np.frombuffer(bytes(state.get[0]), np.int32).tolist() if state.exists else []
    made: list[tuple[float, str]] = []
    for at, movie in zip(rows["ts"], rows["movie"], strict=True):
        if movie not in known:
            made += [(at, f"{a}/{b}") for k in known for a, b in ((k, movie), (movie, k))]
            known.append(int(movie))
    state.update((np.array(known, np.int32).tobytes(),))
    yield pd.DataFrame(made, columns=["ts", "pair"]).astype({"ts": float, "pair": str})


APPLICATION = Application(
    name="movies",
    title="Movie recommendation",
    origin=(
        "After DoDo (chapter 5): users rate movies, and two movies are similar that have many fans "
        "in common, a fan being who gave more than three stars. As in its S4 version one operator "
        "keeps the history of every user, one the mutual fans of every two movies, and one the "
        "lists of recommendations. The longer a user's history, the more pairs a rating makes. "
        "Ratings are made here, of 200 movies by 5,000 users; the Netflix prize's are not used."
    ),
    source=RATINGS,
    rows=ratings,
    skew=EXPONENT,
    module=__name__,
    places={"wide": ("history",), "narrow": ("similar_movies", "recommendations")},
    expected=expected,
    counted=counted,
    sliced="similar_movies",
    rows_per_s=50.0,
    most_rows_per_s=120.0,
)
