"""Trials as a PySpark job: batches of settings over an RDD, the world as a broadcast.

Our own package travels with the job; numpy, scipy, msgspec and statsmodels must be
installed where the executors run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from weir.controllers.simulator.search import TuneJob, TuneResult, evaluate
from weir.metrics.eventlog.spark_batch import application

if TYPE_CHECKING:
    from weir.controllers.simulator.model import WorldModel
    from weir.controllers.simulator.search import Evaluate
    from weir.controllers.simulator.tune import MakeEvaluate


@contextmanager
def spark_evaluator(master: str) -> Iterator[MakeEvaluate]:
    """Simulates on a Spark cluster; what goes wrong there is a sentence."""
    failed = f"--spark: {master} did not finish the trials"
    with application(master, "weir tune", ("controllers",), failed) as context:

        def evaluator(world: WorldModel) -> Evaluate:
            shared = context.broadcast(world)

            def run(jobs: Sequence[TuneJob]) -> Sequence[TuneResult]:
                tasks = context.parallelize(list(jobs), max(1, len(jobs)))
                return tasks.map(lambda job: evaluate(shared.value, job)).collect()

            return run

        yield evaluator
