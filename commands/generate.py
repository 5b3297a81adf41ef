"""`generate`: the demo's load generator."""

import signal

from weir.controllers.engine.ports import Workload
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.profile import Profile
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.workloads.application import application
from weir.pipeline.workloads.generator import Generator


def ramp(rows_per_s: float, ramp_rows_per_s2: float, most_rows_per_s: float) -> Profile:
    """A ramp that is given by how steep it is.

    >>> ramp(100, 5, 250).over_s, ramp(100, 0, 250).kind
    (30.0, 'constant')
    """
    if ramp_rows_per_s2 > 0 and most_rows_per_s <= 0:
        raise InvalidInput("Say with --most where the ramp ends.", field="most")
    if ramp_rows_per_s2 <= 0 or most_rows_per_s <= rows_per_s:
        return Profile()
    over_s = max(1.0, (most_rows_per_s - rows_per_s) / ramp_rows_per_s2)
    return Profile(kind="ramp", to_rows_per_s=most_rows_per_s, over_s=over_s)


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
        profile=ramp(rows_per_s, ramp_rows_per_s2, most_rows_per_s),
    )
    generator = Generator(RedisStore.at(redis_url), redis_url, initial, made)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: generator.stop())
    generator.run()
