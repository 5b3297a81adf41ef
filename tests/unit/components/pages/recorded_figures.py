"""What a recorded run says of a moment, worked out from its files alone, row by row."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds
import pytest

from tests.support.recorded_run import T0

AT = T0 + 640.0
"""Soon after executors were added, and early: scalers are asked about all that came before."""
WINDOW_S = 900.0

Row = dict[str, Any]
Expected = dict[str, float]


class Rows:
    """The run as it lies on disk."""

    def __init__(self, folder: Path) -> None:
        self.clusters = _read(folder, "clusters")
        self.operators = _read(folder, "operators")
        self.moments = sorted({r["at"] for r in self.clusters})

    def at(self, moment: float) -> tuple[dict[str, Row], list[Row]]:
        """Both clusters report at the same instants here."""
        clusters = {r["name"]: r for r in self.clusters if r["at"] == moment}
        return clusters, [r for r in self.operators if r["at"] == moment]


def _read(folder: Path, table: str) -> list[Row]:
    found: list[Row] = ds.dataset(folder / table, format="parquet").to_table().to_pylist()
    return sorted(found, key=lambda r: r["at"])


def cores(cluster: Row) -> float:
    return float(cluster["executors"] * cluster["cores_per_executor"])


def of_clusters(rows: Rows) -> Expected:
    """What stands of every cluster and operator at the moment, and of all together."""
    clusters, operators = rows.at(AT)
    found: Expected = {}
    for name, c in clusters.items():
        own = [o for o in operators if o["cluster"] == name]
        base = f"cluster/{name}"
        found |= {
            f"{base}/load": sum(o["load"] for o in own) / cores(c),
            f"{base}/load-by-operator": sum(o["load"] for o in own) / cores(c),
            f"{base}/latency": max(o["latency_p50_s"] for o in own),
            f"{base}/own-latency": max(o["processing_s"] + o["scheduling_s"] for o in own),
            f"{base}/queue": sum(o["queue_rows"] for o in own),
            f"{base}/throughput": sum(o["processed_rows_per_s"] for o in own),
            f"{base}/executors": c["executors"],
            f"{base}/capacity": cores(c),
            f"{base}/failed": c["failed_tasks"],
            f"{base}/lost": c["executors_lost"],
            f"{base}/dropped-events": c["dropped_events"],
            f"{base}/dropped-samples": c["dropped_samples"],
            f"scale/{name}/present": c["executors"],
            f"scale/{name}/load": found_load(own, c),
            f"scale/{name}/latency": max(o["latency_p50_s"] for o in own),
        }
    for o in operators:
        base, here = f"operator/{o['name']}", cores(clusters[o["cluster"]])
        found |= {
            f"{base}/load": o["load"] / here,
            f"{base}/queue": o["queue_rows"],
            f"{base}/arriving": o["arrival_rows_per_s"],
            f"{base}/processed": o["processed_rows_per_s"],
            f"{base}/rates": o["processed_rows_per_s"],
            f"{base}/latency": o["latency_p50_s"],
            f"{base}/latency-max": o["latency_max_s"],
            f"{base}/batch": o["scheduling_s"] + o["processing_s"],
            f"{base}/processing": o["processing_s"],
            f"{base}/scheduling": o["scheduling_s"],
            f"{base}/batch-id": o["batch_id"],
            f"{base}/batch-rows": o["batch_rows"],
            f"{base}/cost": o["cost_s_per_row"],
            f"{base}/busy": o["busy_cores"] / here,
            f"{base}/tasks": o["tasks"],
            f"{base}/failed": o["failed_tasks"],
            f"{base}/skew": o["skew"],
            f"{base}/restarts": o["restarts"],
        }
        if o["stateful"]:
            found |= {
                f"{base}/state": o["state_rows"],
                f"{base}/state-rows": o["state_rows"],
                f"{base}/state-bytes": o["state_bytes"],
            }
    written = {data for o in operators for data in o["writes"]}
    outside = [o for o in operators if not written & set(o["reads"])]
    return found | {
        "all/clusters": len(clusters),
        "all/operators": len(operators),
        "all/arriving": sum(o["arrival_rows_per_s"] for o in outside),
        "all/load": max(found[f"cluster/{name}/load"] for name in clusters),
        "all/latency": max(o["latency_p50_s"] for o in operators),
        "all/queue": sum(o["queue_rows"] for o in operators),
        "all/executors": sum(c["executors"] for c in clusters.values()),
        **balance(rows),
    }


def found_load(own: list[Row], cluster: Row) -> float:
    return float(sum(o["load"] for o in own) / cores(cluster))


def balance(rows: Rows) -> Expected:
    """Load distance as the papers have it: the largest distance from the mean over all cores.

    Loads are means of the last minute, which is what planners go by unless told otherwise.
    """
    clusters, operators = rows.at(AT)
    lately = [m for m in rows.moments if AT - 60.0 <= m <= AT]
    points = {
        n: 100 * float(np.mean([
            sum(o["load"] for o in rows.at(m)[1] if o["cluster"] == n) for m in lately
        ])) / cores(c)
        for n, c in clusters.items()
    }  # fmt: skip
    total = sum(cores(c) for c in clusters.values())
    mean = sum(points[n] * cores(c) for n, c in clusters.items()) / total
    distance = max(abs(p - mean) for p in points.values())
    writer = {data: o for o in operators for data in o["writes"]}
    flows = [(writer[d]["cluster"] == o["cluster"], o["arrival_rows_per_s"])
             for o in operators for d in o["reads"] if d in writer]  # fmt: skip
    return {
        "balance/distance": distance,
        "balance/now": distance,
        "balance/top": max(points.values()) / 100,
        "balance/collocation": sum(r for stays, r in flows if stays) / sum(r for _, r in flows),
    }


_UNITS = {"%": 0.01, "ms": 1e-3, "min": 60.0, "h": 3600.0, "ms/row": 1e-3, "µs/row": 1e-6,
          "kB": 1e3, "MB": 1e6, "GB": 1e9, "M": 1e6, "G": 1e9}  # fmt: skip


def reading(text: str) -> tuple[float, float]:
    """What a text says, and by how much it is rounded."""
    found = re.match(r"(-?[\d,]+(?:\.(\d+))?)\s*(\S*)", text)
    assert found, text
    times = _UNITS.get(found[3], 1.0)
    return float(found[1].replace(",", "")) * times, 0.5 * 10.0 ** -len(found[2] or "") * times


def agrees(key: str, text: str, expected: float) -> None:
    said, off = reading(text)
    assert said == pytest.approx(expected, abs=off * 1.02 + 1e-9, rel=0.01), (key, text, expected)


def at_moment(
    owner: str, what: str, clusters: dict[str, Row], operators: list[Row], chart: dict[str, Any]
) -> list[float | None]:
    if owner in clusters:
        c, own = clusters[owner], [o for o in operators if o["cluster"] == owner]
        total: Callable[[str], float] = lambda field: sum(o[field] for o in own)  # noqa: E731
        most: Callable[[str], float] = lambda field: max(o[field] for o in own)  # noqa: E731
        named = {o["name"]: o for o in own}
        return {
            "load": lambda: [100 * total("load") / cores(c), 100 * c["busy_cores"] / cores(c)],
            "latency": lambda: [most("latency_p50_s"), most("latency_max_s")],
            "queue": lambda: [total("queue_rows")],
            "throughput": lambda: [total("arrival_rows_per_s"), total("processed_rows_per_s")],
            "executors": lambda: [c["executors"], c["executors_wanted"]],
            "load-by-operator": lambda: [
                100 * named[t["name"]]["load"] / cores(c) for t in chart["traces"]
            ],
            "scale": lambda: [
                total("load") / c["cores_per_executor"], c["executors_wanted"],
                c["executors_granted"], c["executors"], most("latency_p50_s"),
            ],
        }[what]()  # fmt: skip
    (o,) = [o for o in operators if o["name"] == owner]
    here = cores(clusters[o["cluster"]])
    return {
        "rates": [o["arrival_rows_per_s"], o["processed_rows_per_s"]],
        "latency": [o["latency_p50_s"], o["latency_max_s"]],
        "batch": [o["scheduling_s"], o["processing_s"]],
        "queue": [o["queue_rows"]],
        "load": [100 * o["load"] / here, 100 * o["busy_cores"] / here],
        "skew": [o["skew"]],
        "state": [o["state_rows"]],
    }[what]
