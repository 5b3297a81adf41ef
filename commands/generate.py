"""`generate`: the demo's load generator."""

import signal

from weir.controllers.engine.ports import Workload
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.workloads.application import application
from weir.pipeline.workloads.generator import Generator


def run(
    redis_url: str,
    workload: str,
    rows_per_s: float,
    ramp_rows_per_s2: float,
    most_rows_per_s: float,
) -> None:
    """Generate until SIGTERM or Ctrl-C. A rate that was set before stays in force."""
    made = application(workload)
    initial = Workload(
        name=made.source.edge,
        rows_per_s=rows_per_s,
        ramp_rows_per_s2=ramp_rows_per_s2,
        most_rows_per_s=most_rows_per_s,
    )
    generator = Generator(RedisStore.at(redis_url), redis_url, initial, made)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: generator.stop())
    generator.run()
