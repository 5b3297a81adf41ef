"""The samples of the last minutes of every cluster, read once each."""

from collections import deque
from collections.abc import Mapping, Sequence

from weir.controllers.engine.ports import Store
from weir.controllers.model.sample import ClusterSample


class Window:
    """Follows the store's samples; what is older than asked for is dropped."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[ClusterSample]] = {}

    def refreshed(
        self, store: Store, latest: Sequence[ClusterSample], since: float
    ) -> Mapping[str, Sequence[ClusterSample]]:
        """The samples since a time, by cluster; only what is new is read."""
        names = {sample.cluster.name for sample in latest}
        for gone in set(self._samples) - names:
            del self._samples[gone]
        for newest in latest:
            name = newest.cluster.name
            known = self._samples.setdefault(name, deque())
            last_at = known[-1].at if known else since
            if newest.at > last_at:
                known.extend(store.samples(name, last_at + 1e-3, float("inf")))
            while known and known[0].at < since:
                known.popleft()
        return self._samples
