"""The samples of the last minutes of every cluster, read once each."""

from collections import deque
from collections.abc import Mapping, Sequence

from weir.controllers.engine.ports import Samples
from weir.controllers.model.sample import ClusterSample


class SampleWindow:
    """Follows the store's samples; what is older than asked for is dropped."""

    def __init__(self) -> None:
        self.since = float("inf")
        """From when on all samples are here."""
        self._samples: dict[str, deque[ClusterSample]] = {}

    def refresh(
        self, store: Samples, latest: Sequence[ClusterSample], since: float
    ) -> Mapping[str, Sequence[ClusterSample]]:
        """The samples since a time, by cluster; only what is new is read."""
        self.since = since
        names = {sample.cluster.name for sample in latest}
        for gone in set(self._samples) - names:
            del self._samples[gone]
        for newest in latest:
            name = newest.cluster.name
            known = self._samples.setdefault(name, deque())
            while known and known[-1].at > newest.at:  # from before the clock was set back
                known.pop()
            last_at = known[-1].at if known else since
            if known and _follows(newest, last_at):
                known.append(newest)
            elif newest.at > last_at:
                known.extend(store.samples(name, last_at + 1e-3, float("inf")))
            while known and known[0].at < since:
                known.popleft()
        return self._samples

    def between(self, cluster: str, since: float, until: float) -> list[ClusterSample]:
        """Samples of a cluster whose period ended in [since, until], oldest first."""
        return [s for s in self._samples.get(cluster, ()) if since <= s.at <= until]


def _follows(newest: ClusterSample, last_at: float) -> bool:
    """Whether a sample is the next one: its period began where the last one ended, so that
    there is none in between to read."""
    return last_at < newest.at <= last_at + 1.5 * newest.period_s
