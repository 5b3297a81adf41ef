"""How much one report may hold: what is above is cut where reports are read, and said.

A report that is larger is a mistake or an attack, and either would keep the engine busy for
minutes: what it does with operators grows faster than their number.
"""

from typing import Any

from msgspec.structs import replace

from weir.controllers.model.sample import ClusterSample

MOST_CLUSTERS = 2000
"""Overall."""
MOST_OPERATORS = 1000
MOST_EXECUTORS = 2000
MOST_BATCHES = 10_000
MOST_DATA_SETS = 100
"""Of one operator, to read and to write each: edges follow from them."""


def within_limits(sample: ClusterSample) -> ClusterSample:
    """The report as it is, or as much of it as is read; the cluster then says what is missing.

    >>> from weir.controllers.model.sample import Cluster, OperatorSample
    >>> operators = tuple(OperatorSample(name=f"o{i}", cluster="a") for i in range(1200))
    >>> report = ClusterSample(
    ...     at=2.0, period_s=2.0, cluster=Cluster(name="a"), operators=operators)
    >>> cut = within_limits(report)
    >>> len(cut.operators), cut.cluster.cut
    (1000, '200 operators')
    >>> within_limits(cut) is cut
    True
    """
    over: dict[str, int] = {}
    kept: dict[str, Any] = {}
    for name, most in (
        ("operators", MOST_OPERATORS),
        ("executors", MOST_EXECUTORS),
        ("batches", MOST_BATCHES),
    ):
        found = getattr(sample, name)
        if len(found) > most:
            over[name], kept[name] = len(found) - most, found[:most]
    operators = kept.get("operators", sample.operators)
    sets = sum(max(0, len(d) - MOST_DATA_SETS) for o in operators for d in (o.reads, o.writes))
    if sets:
        over["data sets"] = sets
        kept["operators"] = tuple(
            replace(o, reads=o.reads[:MOST_DATA_SETS], writes=o.writes[:MOST_DATA_SETS])
            for o in operators
        )
    if not over:
        return sample
    text = ", ".join(f"{count} {name}" for name, count in over.items())
    before = f"{sample.cluster.cut}, " if sample.cluster.cut else ""
    return replace(sample, cluster=replace(sample.cluster, cut=before + text), **kept)
