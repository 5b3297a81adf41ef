"""The queueing model's latency with another number of executors."""

from collections.abc import Mapping
from math import inf
from typing import Any

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.drs.allocate import assign_processors
from weir.controllers.scaling.drs.measure import network_of, stations
from weir.controllers.scaling.facts import Scope, observe
from weir.controllers.scaling.registry import create


def latency_with(
    snapshot: Snapshot,
    cluster: str,
    executors: int,
    memory: bytes | None,
    settings: Mapping[str, Any],
) -> float | None:
    """None where the model cannot say, infinite where the cores would not keep up.

    Rates, costs and their variability are those that the DRS scaler has smoothed in its
    `memory`; what a batch engine adds on top is the least difference that it saw lately.
    """
    facts = observe(snapshot, Scope(cluster=cluster))
    if facts is None or memory is None or not facts.complete:
        return None
    try:
        scaler = create("drs", settings, Scope(cluster=cluster))
        known = scaler.remember(memory)
    except InvalidInput:
        return None
    use = scaler.settings
    network = network_of(facts, stations(known.tracks, use.variability), use.share_cores)
    if network is None:
        return None
    cores = executors * facts.cores
    if cores < network.least:
        return inf
    sojourn_s = network.sojourn_s(assign_processors(network, cores).processors)
    return float(sojourn_s + min(known.overhead, default=0.0))
