"""The part of the store in Redis that holds reports; it refuses those dated ahead or impossible."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import redis

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.model.age import AHEAD_S
from weir.controllers.model.brief import Brief, brief_of
from weir.controllers.model.errors import UNREADABLE
from weir.controllers.model.flaws import flaw
from weir.controllers.model.limits import MOST_CLUSTERS, within_limits
from weir.controllers.model.sample import ClusterSample
from weir.metrics.store import keys, scripts
from weir.metrics.store.decoded import Decoded
from weir.metrics.store.entries import Flawed
from weir.metrics.store.redis_audit import AuditedChange
from weir.metrics.store.redis_control import RedisControl

REPORT = "report"
AHEAD = "it is dated ahead of the store's clock"
Row = tuple[bytes, Mapping[bytes, bytes]]
"""An entry of a stream."""

_encode = msgspec.json.encode
_sample_of = msgspec.json.Decoder(ClusterSample)
_briefs_of = msgspec.json.Decoder(Brief)
BRIEF_BYTES = 160
"""One takes rarely more; what is kept of them is twice as long as a tier reaches."""


def decode_sample(data: bytes) -> ClusterSample:
    """A report that can be true, up to the size that is read."""
    sample = _sample_of.decode(data)
    if wrong := flaw(sample):
        raise Flawed(wrong)
    return within_limits(sample)


class RedisSamples(RedisControl):
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self._append = client.register_script(scripts.APPEND)
        self._latest = Decoded(self.entries, REPORT, decode_sample)

    # -- samples

    def append(self, sample: ClusterSample, tier: Tier = Tier.FULL) -> bool:
        """Add a sample; False if the tier already has this period or a later one, and for what
        cannot be true or is dated ahead of the store's clock."""
        name = sample.cluster.name
        if wrong := flaw(sample):
            self.entries.skip(REPORT, name, wrong)
            return False
        key, data = keys.samples(name, tier), _encode(within_limits(sample))
        at_ms, kept_s = int(sample.at * 1000), int(KEPT_S[tier])
        done = self.entries.ask(
            REPORT,
            key,
            lambda: self._append(
                keys=[key, keys.CLUSTERS, keys.briefs(name, tier)],
                args=[
                    at_ms,
                    data,
                    max(0, at_ms - kept_s * 1000),
                    kept_s + 60,
                    name if tier is Tier.FULL else "",
                    int(AHEAD_S * 1000),
                    b"" if tier is Tier.FULL else _encode(brief_of(sample)),
                    2 * BRIEF_BYTES * kept_s // max(int(tier), 1),
                ],
            ),
            0,
        )
        if done < 0:
            self.entries.skip(REPORT, name, AHEAD)
        return bool(done > 0)

    def samples(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[ClusterSample]:
        """Samples whose period ended in [since, until], oldest first."""
        key, most = keys.samples(cluster, tier), self.now() + AHEAD_S
        rows: list[Row] = self.entries.ask(
            REPORT,
            key,
            lambda: self.client.xrange(key, min=_ms(since), max=_ms(min(until, most))),
            [],
        )
        return self.samples_in(cluster, rows)

    def briefs(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[Brief]:
        """The figures of the same samples that charts draw: of a coarse tier all in one text, a
        hundred times as fast. What is older than that text is taken from the samples."""
        most = min(until, self.now() + AHEAD_S)
        found = [] if tier is Tier.FULL else self._briefs(keys.briefs(cluster, tier), cluster)
        older = found[0].at - 1e-3 if found else most
        before = self.samples(cluster, since, min(older, most), tier) if since < older else []
        return [*map(brief_of, before), *(b for b in found if since <= b.at <= most)]

    def _briefs(self, key: str, cluster: str) -> list[Brief]:
        """All that are kept, or none if one of them cannot be read."""
        text: bytes | None = self.entries.ask(REPORT, key, lambda: self.client.get(key), None)
        try:
            found = _briefs_of.decode_lines(text or b"")
        except UNREADABLE:
            self.entries.skip(REPORT, cluster, "its figures over long times cannot be read")
            return []
        return found

    def samples_in(self, cluster: str, rows: Iterable[Row]) -> list[ClusterSample]:
        """The samples of a cluster in entries of its stream that can be read."""
        found = ((b"%s %s" % (cluster.encode(), at), f.get(b"s", b"")) for at, f in rows)
        most, good = self.now() + AHEAD_S, []
        for sample in self.entries.values(REPORT, found, decode_sample):
            if sample.at > most:
                self.entries.skip(REPORT, cluster, AHEAD)
            elif sample.cluster.name != cluster:
                self.entries.skip(REPORT, cluster, "it is of another cluster")
            else:
                good.append(sample)
        return good

    def latest(self) -> list[ClusterSample]:
        """The newest sample of every cluster, by name; of `MOST_CLUSTERS` at most."""
        found = self._hash(REPORT, keys.CLUSTERS)
        most, good = self.now() + AHEAD_S, []
        for sample in self._latest((name, found[name]) for name in sorted(found)[:MOST_CLUSTERS]):
            if sample.at > most:
                self.entries.skip(REPORT, sample.cluster.name, AHEAD)
            else:
                good.append(sample)
        return good

    def clusters(self) -> list[str]:
        """Names of the clusters that have ever reported and were not forgotten."""
        key = keys.CLUSTERS
        found: list[bytes] = self.entries.ask(REPORT, key, lambda: self.client.hkeys(key), [])
        return self.entries.names(REPORT, found)

    def forget(self, cluster: str, audit: AuditEntry) -> None:
        """Remove a cluster with all its samples, settings and what was learned of it."""
        fields = [(h, cluster) for h in (keys.CLUSTERS, keys.MODES, keys.SCALE_OUTLOOKS)]
        found: Any = self.client.hkeys(keys.SETTINGS)
        groups = self.entries.names("settings", found)
        own = [g for g in groups if g.partition(":")[2].partition(":")[0] == cluster]
        fields += [(h, g) for g in own for h in (keys.SETTINGS, keys.SETTINGS_CHANGED)]
        fields += [(keys.PARTS, f"{kind}:{cluster}") for kind in ("host", "agent")]
        whole = [
            keys.memory(cluster),
            *(keys.samples(cluster, tier) for tier in Tier),
            *(keys.briefs(cluster, tier) for tier in Tier),
        ]
        changes = [AuditedChange(key, field) for key, field in fields]
        self._change([*changes, *(AuditedChange(key, "") for key in whole)], audit)


def _ms(at: float) -> int:
    return max(0, int(at * 1000))
