"""`weir engine`: one engine as a process, ready before it leads."""

import signal

from weir.controllers.balancing.base import planners
from weir.controllers.engine.propose.rescuing import warm_up
from weir.controllers.scaling.horizon.scaler import compile_horizon
from weir.controllers.scaling.parameter_optimisation.cost import compile_cost
from weir.controllers.scaling.predictive import forecast
from weir.controllers.scaling.registry import scalers
from weir.metrics.process_memory import collect_rarely, one_heap
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.engine.planning import Planning
from weir.pipeline.engine.process import Engine


def run(redis_url: str) -> None:
    """Run an engine until SIGTERM or Ctrl-C."""
    one_heap()
    # Before it leads: a leader that compiles or loads for seconds keeps all clusters waiting.
    planning = Planning()
    planning.collect()  # starts the worker
    engine = Engine(RedisStore.at(redis_url), planning=planning)
    with engine.getting_ready():
        compile_kernels()
        forecast.warm_up()
    collect_rarely()
    run_until_told(engine)


def compile_kernels() -> None:
    """Let planners and scalers work once: the first time some of them compile for seconds."""
    planners()
    scalers()
    warm_up()
    compile_horizon()
    compile_cost()


def run_until_told(engine: Engine) -> None:
    """Cycle until SIGTERM or Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: engine.stop())
    engine.run()
