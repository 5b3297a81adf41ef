"""What every operator weighs when load is balanced: rows that arrive x cost of a row.

The load that a sample reports goes by what arrives. Behind an operator that cannot keep up
less arrives than would arrive if it could, so what arrives is brought to the rate that has
to be met (`weir.controllers.scaling.rates`). Right after a start the cost of a row is not known:
then the last known one counts, wherever in the window it was measured. If there is none,
though rows come or wait, the load is unknown, which is not the same as 0.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.sample import ClusterSample, OperatorSample
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.rates import demands

_Period = tuple[ClusterSample, OperatorSample]


class Loads(Struct, frozen=True, kw_only=True):
    """Loads in cores by operator: over the window, now, and which of them are only guesses."""

    series: dict[str, LoadSeries]
    now: dict[str, float]
    unknown: frozenset[str]


def loads_of(samples: Mapping[str, Sequence[ClusterSample]], snapshot: Snapshot) -> Loads:
    """The loads of a snapshot's operators, given the samples of the window by cluster.

    A series goes on where its operator moves to; where two clusters report one period of it,
    the later home counts.

    >>> from weir.controllers.model.sample import Cluster
    >>> slow = OperatorSample(name="slow", cluster="c", writes=("mid",), cost_s_per_row=0.02, load=2.0,
    ...                 arrival_rows_per_s=100.0, processed_rows_per_s=50.0)
    >>> fast = OperatorSample(name="fast", cluster="c", reads=("mid",), cost_s_per_row=0.01, load=0.5,
    ...                 arrival_rows_per_s=50.0, processed_rows_per_s=50.0)
    >>> sample = ClusterSample(
    ...     at=0.0, period_s=1.0, cluster=Cluster(name="c"), operators=(slow, fast)
    ... )
    >>> loads_of({}, Snapshot.of([sample], at=0.0)).now
    {'fast': 1.0, 'slow': 2.0}
    """
    seen = _periods_by_operator(samples)
    means = {o.name: _mean(o, seen[o.name]) for o in snapshot.operators}
    asked = demands(snapshot.with_operators(tuple(means.values())))
    series, now, unknown = {}, {}, set()
    for operator in snapshot.operators:
        name, arrives = operator.name, means[operator.name].arrival_rows_per_s
        rate = asked[name].rows_per_s if name in asked else arrives
        factor, cost = rate / arrives if arrives > 0.0 else 1.0, _cost(operator, seen[name])
        series[name] = LoadSeries(
            tuple(_load(o, cost) * factor for o in _first_entries(seen[name]))
        )
        now[name] = _load(operator, cost) * factor
        if cost is None and (rate > 0.0 or operator.queue_rows):
            unknown.add(name)
    return Loads(series=series, now=now, unknown=frozenset(unknown))


def _periods_by_operator(
    samples: Mapping[str, Sequence[ClusterSample]],
) -> dict[str, list[_Period]]:
    """Every operator's periods, oldest first, wherever it ran."""
    found: dict[str, list[_Period]] = defaultdict(list)
    for sample in sorted((s for its in samples.values() for s in its), key=lambda s: s.at):
        for operator in sample.operators:
            found[operator.name].append((sample, operator))
    return found


def _first_entries(periods: Sequence[_Period]) -> list[OperatorSample]:
    """An operator in every period in which it ran, wherever: one entry where two report it."""
    first: dict[str, int] = {}  # its homes, in order
    found: list[_Period] = []
    for sample, operator in periods:
        if operator.batch_id is None:
            continue
        order = first.setdefault(operator.cluster, len(first))
        if found and operator.cluster != found[-1][1].cluster:
            before, other = found[-1]
            if sample.at - before.at < sample.period_s / 2.0:
                if order < first[other.cluster]:
                    continue
                found.pop()
        found.append((sample, operator))
    return [operator for _, operator in found]


def _mean(operator: OperatorSample, periods: Sequence[_Period]) -> OperatorSample:
    """With its mean rates over the window: what comes out of one period went in before.

    While it moves two clusters report it: rows that arrive are then told twice, rows that
    are processed are not, as it runs in one place only.
    """
    if not periods:
        return operator
    told_s = sum(s.period_s for s, _ in periods)
    span_s = periods[-1][0].at - periods[0][0].at + periods[0][0].period_s
    arrived = sum(o.arrival_rows_per_s * s.period_s for s, o in periods)
    processed = sum(o.processed_rows_per_s * s.period_s for s, o in periods)
    return replace(
        operator,
        arrival_rows_per_s=arrived / told_s,
        processed_rows_per_s=processed / min(span_s, told_s),
    )


def _cost(operator: OperatorSample, periods: Sequence[_Period]) -> float | None:
    """The last known cost of a row; None if none is known."""
    newest_first = (operator, *(o for _, o in reversed(periods)))
    return next((c for o in newest_first if (c := o.cost_s_per_row) is not None), None)


def _load(operator: OperatorSample, cost: float | None) -> float:
    """The work that arrives in a period, by the cost of that period or else the last known."""
    if operator.cost_s_per_row is None and cost is not None:
        return operator.arrival_rows_per_s * cost
    return operator.load
