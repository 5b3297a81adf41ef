"""A FAIR pool per operator, whose shares can be changed while its query runs.

Spark makes a pool when the first job names it, and its weight stays 1: allocation files are read
once, at the start. But the scheduler reads a pool's weight and least share again for every offer of
cores, so they are set in the pool itself. Both are fields of an internal class; where they cannot
be set, `why_not` says so and all operators share alike.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Rules
from weir.controllers.engine.stored import share_settings
from weir.controllers.model.shares import first_cores

log = logging.getLogger(__name__)

LOOK_S = 1.0
_MODE = "spark.scheduler.mode"
FAIR = {_MODE: "FAIR"}
_POOL = "spark.scheduler.pool"


@contextmanager
def own_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """A query that starts meanwhile runs its jobs in the pool of that name."""
    spark.sparkContext.setLocalProperty(_POOL, name)
    try:
        yield
    finally:
        spark.sparkContext._jsc.setLocalProperty(_POOL, None)


class Pools:
    """The pools of one application. `running` are the operators that are at work, `cores` those
    that they share."""

    def __init__(
        self,
        spark: SparkSession,
        store: Rules,
        cluster: str,
        running: Callable[[], Iterable[str]],
        cores: Callable[[], int],
    ) -> None:
        self._spark = spark
        self._store = store
        self._cluster = cluster
        self._running = running
        self._cores = cores
        self.shares: dict[str, tuple[int, int]] = {}  # weight and cores that come first, as set
        self.why_not = ""  # why shares are not followed
        mode = spark.sparkContext.getConf().get(_MODE)
        if mode != FAIR[_MODE]:
            self.why_not = f"Spark's scheduler mode is {mode}"
            log.info("shares are not followed: %s", self.why_not)

    def keep(self, over: Event) -> None:
        """Follow what is set, in a thread of its own until it is over."""
        if not self.why_not:
            Thread(target=self._keep, args=(over,), name="weir-shares", daemon=True).start()

    def _keep(self, over: Event) -> None:
        while not self.why_not and not over.wait(LOOK_S):
            try:
                self.step()
            except (RedisError, OSError) as error:
                log.debug("shares stay as they are: %s", error)

    def step(self) -> None:
        """Set the shares as they are wanted now."""
        weights = share_settings(self._store, self._cluster).by_operator
        self._share({name: weights.get(name, 1) for name in self._running()}, self._cores())

    def _share(self, weights: Mapping[str, int], cores: int) -> None:
        """Give pools their weights, and the cores that come with them as least share."""
        least = first_cores(weights, cores)
        wanted = {name: (weight, least[name]) for name, weight in weights.items()}
        self.shares = {name: share for name, share in wanted.items() if self._set(name, *share)}

    def _set(self, name: str, weight: int, least: int) -> bool:
        context: Any = self._spark.sparkContext._jsc.sc()
        try:
            pool = context.getPoolForName(name)
            if pool.isEmpty():  # none of its jobs has begun
                return False
            found = pool.get()
            for field, value in (("weight", weight), ("minShare", least)):
                place = found.getClass().getDeclaredField(field)
                place.setAccessible(True)
                if place.getInt(found) != value:
                    place.setInt(found, value)
            return True
        except Exception as error:
            self.why_not = f"this Spark's pools cannot be changed ({type(error).__name__})"
            log.info("shares: %s", self.why_not)
            return False
