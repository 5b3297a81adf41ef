"""The last 15 minutes of every cluster, and how far their streams have been read."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.model.age import AHEAD_S
from weir.controllers.model.sample import ClusterSample
from weir.metrics.store import keys

FORGET_AFTER_S = 15.0
"""How long a cluster that is missing in Redis stays on the page: a restarted Redis is empty at
first."""


class SeriesWindow:
    """One series per cluster. It holds what readers give it and never reads by itself."""

    def __init__(self) -> None:
        self._series: dict[str, deque[ClusterSample]] = {}
        self._read_to: dict[str, bytes] = {}  # cluster -> id of the last entry that was looked at
        self._not_streams: set[str] = set()  # clusters whose key holds something else
        self._missing_since: dict[str, float] = {}

    @property
    def empty(self) -> bool:
        """No cluster is known."""
        return not self._series

    def series(self) -> dict[str, tuple[ClusterSample, ...]]:
        """The samples of each cluster that has some, oldest first."""
        return {name: tuple(s) for name, s in sorted(self._series.items()) if s}

    def filled(self) -> frozenset[str]:
        """The clusters that have samples."""
        return frozenset(name for name, samples in self._series.items() if samples)

    def streams(self) -> dict[str, str]:
        """The keys to read, each with its cluster."""
        names = [name for name in self._series if name not in self._not_streams]
        return {keys.samples(name, Tier.FULL): name for name in names}

    def position(self, name: str, now: float) -> bytes | str:
        """The id after which a stream is read on; from the start of the window if nothing is known."""
        if name in self._read_to:
            return self._read_to[name]
        samples = self._series[name]
        if samples:
            return f"{int(samples[-1].at * 1000)}-0"
        return f"{int((now - KEPT_S[Tier.FULL]) * 1000)}-0"

    def pass_by(self, name: str, entry_ids: Iterable[bytes], now: float) -> None:
        """These entries were looked at. One ahead does not move the position: later reports have
        smaller ids."""
        most = (now + AHEAD_S) * 1000
        for entry_id in entry_ids:
            if int(entry_id.split(b"-")[0]) <= most:
                self._read_to[name] = entry_id

    def drop_ahead(self, now: float) -> None:
        """Forget what is dated ahead of the store's clock: it was taken before that was set back,
        and no report that comes now would follow it."""
        most = now + AHEAD_S
        for name, samples in self._series.items():
            if samples and samples[-1].at > most:
                while samples and samples[-1].at > most:
                    samples.pop()
                self._read_to.pop(name, None)

    def leave_out(self, name: str) -> None:
        """Its key holds no stream, which must not hide all others."""
        self._not_streams.add(name)

    def add(self, sample: ClusterSample) -> bool:
        """Add a sample; False if there is this period already, or a later one."""
        samples = self._series.setdefault(sample.cluster.name, deque())
        if samples and sample.at <= samples[-1].at:
            return False
        samples.append(sample)
        while samples[0].at < sample.at - KEPT_S[Tier.FULL]:
            samples.popleft()
        return True

    def follow(
        self,
        clusters: Sequence[str],
        history: Mapping[str, Sequence[ClusterSample]],
        now: float,
    ) -> None:
        """These clusters are there now, with what was read of those that are new; one that has
        been missing for long is forgotten."""
        for name in clusters:
            self._series.setdefault(name, deque())
            self._missing_since.pop(name, None)
            for sample in history.get(name, ()):
                self.add(sample)
        for name in set(self._series) - set(clusters):
            if now - self._missing_since.setdefault(name, now) > FORGET_AFTER_S:
                del self._series[name], self._missing_since[name]
                self._read_to.pop(name, None)
        self._not_streams.clear()  # by now they may be
