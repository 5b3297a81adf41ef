"""What nobody can do better than: two bounds on executor-hours.

The *fluid* bound is the work that arrives, within the limits: who keeps up cannot use
less. The *clairvoyant* one knows the whole trace, so that executors have started when they
are needed, changes size at every period at no price, and keeps the target with whole
executors on a fluid queue. What needs more than the most executors misses the target for
everybody.
"""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from weir.controllers.simulator.model import WorldModel


def fluid_hours(model: WorldModel) -> float:
    """Sum of rate x cost over time, in executors, within the limits.

    >>> from weir.controllers.simulator import Scenario, Trace, world_of
    >>> trace = Trace(times=(0.0, 3600.0), rows_per_s=(100.0, 400.0))
    >>> round(fluid_hours(world_of(trace, Scenario(cost_s_per_row=0.01, max_executors=3))), 6)
    4.0
    """
    needs, lengths = _needs(model)
    cluster = model.cluster
    within = np.clip(needs, cluster.min_executors, cluster.max_executors)
    return float((within * lengths).sum() / 3600.0)


def clairvoyant_hours(model: WorldModel, target_s: float) -> float:
    """Executor-hours of who knows what comes and keeps the target.

    In each period the fewest whole executors that leave no more work waiting than the
    target allows after a batch's own time (wait for the trigger, batch, fixed time).

    >>> from weir.controllers.simulator import Scenario, Trace, world_of
    >>> trace = Trace(times=(0.0, 3600.0), rows_per_s=(100.0, 250.0))
    >>> world = world_of(trace, Scenario(cost_s_per_row=0.01, max_executors=9))
    >>> 3.5 <= clairvoyant_hours(world, 30.0) <= 4.0
    True
    """
    needs, lengths = _needs(model)
    cluster, operator = model.cluster, model.operators[0]
    spare_s = max(0.0, target_s - 1.5 * operator.trigger_s - operator.overhead_s)
    most, least = float(cluster.max_executors), float(cluster.min_executors)
    total = owed = 0.0
    for need, length in zip(needs.tolist(), lengths.tolist(), strict=True):
        work = owed + need * length
        may_wait = min(need, most) * min(spare_s, length)
        fewest = max(work - may_wait, 0.0) / length
        size = min(max(float(ceil(fewest - 1e-9)), least), most)
        owed = max(0.0, work - size * length)
        total += size * length
    return total / 3600.0


def _needs(model: WorldModel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Executors that the work of every period keeps busy, and the periods' lengths."""
    lengths = np.diff(np.concatenate([[model.begin], model.ends]))
    cores = model.cluster.cores_per_executor
    work = sum(
        np.array(o.rows_per_s) * np.array(o.cost_s_per_row) * o.stretch for o in model.operators
    )
    return np.asarray(work) / cores, lengths
