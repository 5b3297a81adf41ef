"""A recorded run in memory, ready to be asked for any moment of it."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq

from weir.controllers.model.errors import Refused
from weir.controllers.model.sample import Batch, Cluster, ClusterSample, Executor, OperatorSample
from weir.metrics.runs.actions import RecordedAction, read_actions
from weir.metrics.runs.columns import Columns
from weir.metrics.runs.library import RunInfo, run_info
from weir.metrics.runs.settings import SettingsLog

MOST_BYTES = 600_000_000
SAMPLES_MOST = 60_000
"""Simulating more would take minutes; of a longer run the last part is taken."""
BLOCK = 128  # samples that are decoded at once
_BLOCKS_KEPT = 96


class RecordedRun:
    """All samples of a run as columns, with the last blocks that were looked at as objects."""

    def __init__(self, folder: Path) -> None:
        self.info: RunInfo = run_info(folder)
        _refuse_the_largest(folder)
        self.clusters = Columns(folder, "clusters")
        self.operators = Columns(folder, "operators")
        self.executors = Columns(folder, "executors")
        self.batches = Columns(folder, "batches")
        self.actions: list[RecordedAction] = read_actions(folder)
        self.settings = SettingsLog(self.actions, self.info.first_at)
        self.worked_out: dict[Any, Any] = {}  # by whoever shows the run; lives as long as it
        self._periods_s = self.clusters.values("period_s")
        self._blocks: OrderedDict[tuple[str, int], list[ClusterSample]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size_bytes(self) -> int:
        """Memory that the columns take."""
        tables = (self.clusters, self.operators, self.executors, self.batches)
        return sum(table.size_bytes for table in tables)

    @property
    def names(self) -> list[str]:
        """The clusters of the run."""
        return sorted(self.clusters.spans)

    def samples(self, cluster: str, since: float, until: float) -> list[ClusterSample]:
        """The samples of a cluster with since <= at <= until, oldest first."""
        first = self.clusters.spans.get(cluster, (0, 0))[0]
        start, stop = self.clusters.range(cluster, since, until)
        found: list[ClusterSample] = []
        for number in range((start - first) // BLOCK, (stop - 1 - first) // BLOCK + 1):
            block, base = self._block(cluster, number), first + number * BLOCK
            found += block[max(start - base, 0) : stop - base]
        return found

    def before(self, cluster: str, at: float) -> ClusterSample | None:
        """The last sample of a cluster at or before a moment."""
        start, stop = self.clusters.range(cluster, float("-inf"), at)
        if stop <= start:
            return None
        moment = float(self.clusters.at[stop - 1])
        return self.samples(cluster, moment, moment)[-1]

    def sparse(self, cluster: str, moments: Sequence[float]) -> list[ClusterSample | None]:
        """The last sample at or before each of these moments, in order.

        Executors and batches are left out, and only these samples are decoded: of moments
        far apart, a small part of their blocks.
        """
        start, stop = self.clusters.spans.get(cluster, (0, 0))
        ends = start + np.searchsorted(self.clusters.at[start:stop], moments, "right")
        rows, place = np.unique(ends[ends > start] - 1, return_inverse=True)
        at = self.clusters.at[rows]
        operators: dict[float, list[OperatorSample]] = {}
        among = self.operators.at_moments(cluster, at)
        for moment, row in zip(
            self.operators.at[among].tolist(), self.operators.taken(among), strict=True
        ):
            operators.setdefault(moment, []).append(cast(OperatorSample, row))
        found = [
            ClusterSample(
                at=moment,
                period_s=period_s,
                cluster=cast(Cluster, row),
                operators=tuple(operators.get(moment, ())),
            )
            for moment, period_s, row in zip(
                at.tolist(),
                self._periods_s[rows].tolist(),
                self.clusters.taken(rows),
                strict=True,
            )
        ]
        return [*(None for end in ends if end <= start), *(found[i] for i in place)]

    def last_samples(self, most: int = SAMPLES_MOST) -> tuple[list[ClusterSample], float]:
        """All samples in order, or of a long run those of its last part; and from when on."""
        if not self.info.samples:
            raise Refused("This run holds no samples.")
        since = self.info.first_at
        if self.info.samples > most:
            since = self.info.last_at - self.info.duration_s * most / self.info.samples
        found = [s for name in self.names for s in self.samples(name, since, float("inf"))]
        return sorted(found, key=lambda s: s.at), since

    def _block(self, cluster: str, number: int) -> list[ClusterSample]:
        with self._lock:
            known = self._blocks.get((cluster, number))
            if known is None:
                known = self._decode(cluster, number)
                self._blocks[cluster, number] = known
                if len(self._blocks) > _BLOCKS_KEPT:
                    self._blocks.popitem(last=False)
            self._blocks.move_to_end((cluster, number))
        return known

    def _decode(self, cluster: str, number: int) -> list[ClusterSample]:
        first, end = self.clusters.spans[cluster]
        start = first + number * BLOCK
        stop = min(start + BLOCK, end)
        at = self.clusters.at[start:stop].tolist()
        operators = _by_moment(self.operators, cluster, at[0], at[-1])
        executors = _by_moment(self.executors, cluster, at[0], at[-1])
        batches = _by_moment(self.batches, cluster, at[0], at[-1])
        periods = self.clusters.texts("period_s", start, stop)
        return [
            ClusterSample(
                at=moment,
                period_s=period_s,
                cluster=cast(Cluster, row),
                operators=cast(tuple[OperatorSample, ...], tuple(operators.get(moment, ()))),
                executors=cast(tuple[Executor, ...], tuple(executors.get(moment, ()))),
                batches=cast(tuple[Batch, ...], tuple(batches.get(moment, ()))),
            )
            for moment, period_s, row in zip(
                at, periods, self.clusters.structs(start, stop), strict=True
            )
        ]


def _by_moment(
    columns: Columns, cluster: str, since: float, until: float
) -> dict[float, list[object]]:
    start, stop = columns.range(cluster, since, until)
    found: dict[float, list[object]] = {}
    for at, row in zip(columns.at[start:stop].tolist(), columns.structs(start, stop), strict=True):
        found.setdefault(at, []).append(row)
    return found


def _refuse_the_largest(folder: Path) -> None:
    need = 0
    for file in folder.rglob("[0-9]*.parquet"):
        footer = pq.read_metadata(file)
        need += sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    if need > MOST_BYTES:
        raise Refused(
            f"{folder.name} holds {need / 1e9:.1f} GB of samples, more than the "
            f"{MOST_BYTES / 1e9:.1f} GB that one page may take; replay a shorter run."
        )
