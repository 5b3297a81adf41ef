"""What was measured in a network of queues, and what DRS's model makes of it; pure."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from weir.controllers.model.errors import InvalidInput
from weir.controllers.scaling.drs.allocate import assign_processors
from weir.controllers.scaling.drs.network import Network, Station, arrival_rates
from weir.pipeline.experiments.drs_rows import Served

Allocation = tuple[int, ...]


def words(allocation: Sequence[int]) -> str:
    """As the paper writes it.

    >>> words((10, 11, 1))
    '10:11:1'
    """
    return ":".join(map(str, allocation))


def sojourns(served: Sequence[Served], first: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each arrival when it came, how long until it was fully processed, and the sum over its
    rows of the time that each spent at its operator, which is what equation 4 adds up."""
    came: dict[int, float] = {}
    ended: dict[int, float] = defaultdict(float)
    added: dict[int, float] = defaultdict(float)
    for row in served:
        ended[row.arrival] = max(ended[row.arrival], row.done)
        added[row.arrival] += row.done - row.came
        if row.operator == first:
            came[row.arrival] = min(row.came, came.get(row.arrival, row.came))
    order = sorted(came, key=lambda a: came[a])
    at = np.array([came[a] for a in order])
    return at, np.array([ended[a] for a in order]) - at, np.array([added[a] for a in order])


def network_of(
    served: Sequence[Served],
    operators: Sequence[str],
    external_per_s: float,
    variability: bool = False,
) -> Network:
    """The queueing network as measured; with the variability that was measured, or M/M/k.

    How much arrives follows from what comes from outside and from what each operator passes on,
    so that it is also known of one that does not keep up.
    """
    rows: dict[str, list[Served]] = {o: [s for s in served if s.operator == o] for o in operators}
    for name, of in rows.items():
        if len(of) < 3:
            raise InvalidInput(f"{name}: {len(of)} rows are too few to tell its rates")
    routing = {
        (source, target): sum(s.sent.get(target, 0) for s in of) / len(of)
        for source, of in rows.items() for target in operators
    }  # fmt: skip
    arrivals = arrival_rates(operators, {operators[0]: external_per_s}, routing)
    stations = []
    for name, of in rows.items():
        gaps = np.diff(sorted(s.came for s in of))
        work = np.array([s.done - s.begun for s in of])
        stations.append(
            Station(
                name=name, arrivals=arrivals[name], rate=float(1.0 / work.mean()),
                ca2=float(gaps.var() / gaps.mean() ** 2) if variability else 1.0,
                cs2=float(work.var() / work.mean() ** 2) if variability else 1.0,
            )
        )  # fmt: skip
    return Network(stations=tuple(stations), external=external_per_s)


def measured(
    served: Sequence[Served],
    operators: Sequence[str],
    allocation: Sequence[int],
    most: int,
    began: float,
    skip_s: float,
    length_s: float,
) -> dict[str, Any]:
    """One run's figures, and what both models say of its allocation; the first seconds are left
    out, while the queues fill."""
    at, complete, added = sojourns(served, operators[0])
    counted = at >= began + skip_s
    rows = [s for s in served if began + skip_s <= s.came <= began + length_s]
    external = counted.sum() / (length_s - skip_s)
    simple, general = (network_of(rows, operators, float(external), v) for v in (False, True))
    return {
        "allocation": words(allocation),
        "arrivals": int(counted.sum()),
        "mean_s": float(complete[counted].mean()),
        "std_s": float(complete[counted].std()),
        "added_s": float(added[counted].mean()),
        "mmk_s": simple.sojourn_s(allocation),
        "gigk_s": general.sojourn_s(allocation),
        "mmk_wants": words(recommended(simple, most)),
        "gigk_wants": words(recommended(general, most)),
        "stations": [
            {"name": s.name, "arrivals": s.arrivals, "rate": s.rate, "offered": s.offered,
             "ca2": s.ca2, "cs2": s.cs2}
            for s in general.stations
        ],
    }  # fmt: skip


def recommended(network: Network, most: int) -> Allocation:
    """What DRS recommends with this many processors; nothing where they cannot keep up."""
    return assign_processors(network, most).processors if network.least <= most else ()


def line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Slope, intercept and correlation of the straight line through points.

    >>> line([1.0, 2.0, 3.0], [3.0, 5.0, 7.0])
    (2.0, 1.0, 1.0)
    """
    slope, intercept = np.polyfit(x, y, 1)
    return (
        round(float(slope), 9),
        round(float(intercept), 9),
        round(float(np.corrcoef(x, y)[0, 1]), 9),
    )
