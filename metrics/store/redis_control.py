"""The part of the store in Redis that control needs: decisions, their trail, settings, memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import redis
from redis.typing import EncodableT

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.retention import old_rebalances, old_recommendations
from weir.controllers.model.age import Time
from weir.controllers.model.placement import Lease
from weir.controllers.model.sample import Mode
from weir.metrics.store import keys, scripts
from weir.metrics.store.decoded import Decoded
from weir.metrics.store.entries import name_of
from weir.metrics.store.redis_audit import AuditedChange, RedisAudit, seen_as, sha1_of

OUTLOOK, RECOMMENDATION = "scale outlook", "recommendation"

_encode = msgspec.json.encode
_recommendation = msgspec.json.Decoder(Recommendation)
_rebalance = msgspec.json.Decoder(Rebalance)
_reslicing = msgspec.json.Decoder(Reslicing)
_outlook = msgspec.json.Decoder(ScaleOutlook)
_values = msgspec.json.Decoder(dict[str, Any])
_changed = msgspec.json.Decoder(tuple[str, Time])


class _Wait(msgspec.Struct):
    """A scale outlook, and no more of it."""

    wait: str = ""


_wait = msgspec.json.Decoder(_Wait)
_NOTHING = sha1_of(b"")


class RedisControl(RedisAudit):
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self._recommend = client.register_script(scripts.RECOMMEND)
        self._keep_memories = client.register_script(scripts.KEEP_MEMORIES)
        self._newest = Decoded(self.entries, RECOMMENDATION, _recommendation.decode)
        self._record = Decoded(self.entries, RECOMMENDATION, _recommendation.decode)
        self._settings: dict[str, dict[str, Any]] = {}
        self._read_memories: dict[str, dict[str, str]] = {}  # cluster -> scaler -> SHA-1

    def _rebalances(self) -> list[Rebalance]:
        found = self._hash("rebalance", keys.REBALANCES)
        read = self.entries.table("rebalance", found, _rebalance.decode)
        return [rebalance for name, rebalance in read.items() if rebalance.id == name]

    def reslicings(self) -> list[Reslicing]:
        """Every re-slice, newest first."""
        found = self._hash("re-slice", keys.RESLICINGS)
        read = self.entries.table("re-slice", found, _reslicing.decode)
        good = [reslicing for name, reslicing in read.items() if reslicing.id == name]
        return sorted(good, key=lambda r: r.at, reverse=True)

    # -- recommendations

    def save_recommendation(
        self,
        recommendation: Recommendation,
        leader: Lease | None = None,
        audit: AuditEntry | None = None,
    ) -> bool:
        """Keep the next version, with what the trail says of it; False if it is not the next."""
        return self._run_audited(
            self._recommend,
            [
                keys.lease(leader.name if leader else ""),
                keys.RECOMMENDATIONS,
                keys.RECOMMENDATIONS_AT,
                keys.RECOMMENDATIONS_DONE,
                keys.RECOMMENDATIONS_OPEN,
                keys.RECOMMENDATIONS_VERSION,
            ],
            [
                leader.token if leader else "",
                recommendation.id,
                recommendation.version,
                _encode(recommendation),
                recommendation.at,
                int(not recommendation.status.final),
                int(recommendation.status.counts),
            ],
            audit,
        )

    def recommendation(self, recommendation_id: str) -> Recommendation | None:
        """One recommendation as it stands."""
        return self._field(
            RECOMMENDATION, keys.RECOMMENDATIONS, recommendation_id, _recommendation.decode
        )

    def recommendations(self, limit: int = 100) -> list[Recommendation]:
        """The newest ones and all that are open, newest first."""
        return self._and_open(keys.RECOMMENDATIONS_AT, limit, self._newest)

    def record(self, limit: int = 100) -> list[Recommendation]:
        """The newest ones that count and all that are open, newest first."""
        return self._and_open(keys.RECOMMENDATIONS_DONE, limit, self._record)

    def _and_open(
        self, index: str, limit: int, decoded: Decoded[Recommendation]
    ) -> list[Recommendation]:
        newest = self._ids(index, lambda: self.client.zrevrange(index, 0, limit - 1))
        ids = list({*newest, *self._open()})
        found: list[bytes | None] = self.entries.ask(
            RECOMMENDATION,
            keys.RECOMMENDATIONS,
            lambda: self.client.hmget(keys.RECOMMENDATIONS, ids) if ids else [],
            [],
        )
        good = decoded(zip(ids, found, strict=False))
        return sorted(good, key=lambda r: (r.at, r.id), reverse=True)

    def _open(self) -> set[bytes]:
        key = keys.RECOMMENDATIONS_OPEN
        return set(self._ids(key, lambda: self.client.smembers(key)))

    def _ids(self, key: str, question: Callable[[], Any]) -> Iterable[bytes]:
        found: Iterable[bytes] = self.entries.ask(RECOMMENDATION, key, question, ())
        return found

    def trim(self, now: float) -> None:
        """Forget rebalances and recommendations that ended long ago."""
        gone = old_rebalances(self._rebalances(), now)
        if gone:
            self.client.hdel(keys.REBALANCES, *gone)
        gone = old_rebalances(self.reslicings(), now)
        if gone:
            self.client.hdel(keys.RESLICINGS, *gone)
        at, done = keys.RECOMMENDATIONS_AT, keys.RECOMMENDATIONS_DONE
        dated: list[tuple[bytes, float]] = self.entries.ask(
            RECOMMENDATION, at, lambda: self.client.zrange(at, 0, -1, withscores=True), []
        )
        counting = set(self._ids(done, lambda: self.client.zrange(done, 0, -1)))
        open_ = self._open()
        old = old_recommendations({i: at for i, at in dated if i not in open_}, counting, now)
        if old:
            pipe = self.client.pipeline()
            pipe.hdel(keys.RECOMMENDATIONS, *old)
            pipe.hdel(keys.RECOMMENDATIONS_VERSION, *old)
            pipe.zrem(keys.RECOMMENDATIONS_AT, *old)
            pipe.zrem(keys.RECOMMENDATIONS_DONE, *old)
            pipe.execute()

    # -- what scalers remember and say

    def memories(self, cluster: str) -> dict[str, bytes]:
        """What each scaler of a cluster remembers, as JSON."""
        return self.all_memories([cluster])[cluster]

    def all_memories(self, clusters: Sequence[str]) -> dict[str, dict[str, bytes]]:
        """The same of several clusters, asked at once."""
        pipe = self.client.pipeline(transaction=False)
        for cluster in clusters:
            pipe.hgetall(keys.memory(cluster))
        memories = {}
        for cluster, answer in zip(clusters, pipe.execute(raise_on_error=False), strict=True):
            found: dict[bytes, bytes] = self.entries.ask(
                "memory", keys.memory(cluster), partial(_answer, answer), {}
            )
            memories[cluster] = self.entries.table("memory", found, bytes)
            self._read_memories[cluster] = {n: sha1_of(d) for n, d in memories[cluster].items()}
        return memories

    def save_memories(
        self, cluster: str, memories: Mapping[str, bytes], leader: Lease | None = None
    ) -> bool:
        """Keep memories of a cluster's scalers; False for an old leader.

        What a leader keeps follows from what it read here last. A memory that somebody
        else changed in between stays as it is.
        """
        if not memories:
            return True
        if leader is None:
            kept: dict[Any, bytes] = dict(memories)
            self.client.hset(keys.memory(cluster), mapping=kept)
            return True
        args: list[EncodableT] = [leader.token]
        read = self._read_memories.pop(cluster, None)
        for name, data in memories.items():
            args += [name, "" if read is None else read.get(name, _NOTHING), data]
        return bool(
            self._keep_memories(keys=[keys.lease(leader.name), keys.memory(cluster)], args=args)
        )

    def change_memory(
        self, cluster: str, scaler: str, memory: bytes | None, audit: AuditEntry
    ) -> None:
        """Replace a memory, or remove it so that the scaler starts over; with its audit entry."""
        self._change([AuditedChange(keys.memory(cluster), scaler, memory)], audit)

    def save_scale_outlook(self, outlook: ScaleOutlook) -> None:
        """Keep the engine's newest view of a cluster's size."""
        self.client.hset(keys.SCALE_OUTLOOKS, outlook.cluster, _encode(outlook))

    def scale_outlooks(self) -> dict[str, ScaleOutlook]:
        """The engine's newest view of each cluster's size."""
        found = self.entries.table(
            OUTLOOK, self._hash(OUTLOOK, keys.SCALE_OUTLOOKS), _outlook.decode
        )
        return {name: outlook for name, outlook in found.items() if outlook.cluster == name}

    def scale_waits(self) -> dict[str, str]:
        """Why nothing is asked for in each cluster now; empty where something is."""
        found = self.entries.table(OUTLOOK, self._hash(OUTLOOK, keys.SCALE_OUTLOOKS), _wait.decode)
        return {name: outlook.wait for name, outlook in found.items()}

    # -- modes and settings

    def change_mode(
        self,
        cluster: str,
        before: Mode | None,
        mode: Mode,
        audit: AuditEntry,
        leader: Lease | None = None,
    ) -> bool:
        """Give it another mode and say so; False for an old leader, or if it has another now."""
        if self.modes().get(cluster) is not before:
            return False
        data = self._raw(keys.MODES, cluster)
        change = AuditedChange(keys.MODES, cluster, mode.value.encode(), seen_as(data))
        return self._change([change], audit, leader)

    def modes(self) -> dict[str, Mode]:
        """The clusters whose mode was set; one that cannot be read lets the engine do nothing."""
        found = self._hash("mode", keys.MODES)
        names = self.entries.table("mode", {name: name for name in found}, name_of)
        good = self.entries.table("mode", found, lambda data: Mode(data.decode()))
        return {name: good.get(name, Mode.OBSERVE) for name in names}

    def save_settings(
        self, group: str, values: Mapping[str, Any], by: str = "", at: float = 0.0
    ) -> None:
        """Keep a group of settings, and who changed it when."""
        pipe = self.client.pipeline()
        pipe.hset(keys.SETTINGS, group, _encode(dict(values)))
        pipe.hset(keys.SETTINGS_CHANGED, group, _encode((by, at)))
        pipe.execute()

    def change_settings(
        self,
        group: str,
        change: Callable[[dict[str, Any]], Mapping[str, Any]],
        said: Callable[[Mapping[str, Any], Mapping[str, Any]], AuditEntry],
        *,
        by: str,
        at: float,
        also: Mapping[str, Mapping[str, Any]] = {},
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Change what is kept of a group, as it was and is, with what the trail says of it.

        `also` are further groups that are kept with it. `change` and `said` may be asked again,
        whenever somebody else writes between the look and the change.
        """
        while True:
            data = self._raw(keys.SETTINGS, group)
            before = self._settings_in(group, data) if data else {}
            after = dict(change(dict(before)))
            if after == before:
                return before, after
            changes = [AuditedChange(keys.SETTINGS, group, _encode(after), seen_as(data))]
            changes += [AuditedChange(keys.SETTINGS, g, _encode(dict(v))) for g, v in also.items()]
            changes += [
                AuditedChange(keys.SETTINGS_CHANGED, g, _encode((by, at))) for g in (group, *also)
            ]
            if self._change(changes, said(before, after)):
                return before, after

    def settings(self, group: str) -> dict[str, Any]:
        """The settings of a group that were changed from their defaults."""
        key = keys.SETTINGS
        data: bytes | None = self.entries.ask(
            "settings", key, lambda: self.client.hget(key, group), None
        )
        return self._settings_in(group, data) if data else {}

    def _settings_in(self, group: str, data: bytes) -> dict[str, Any]:
        """What they hold; as they were last known if they cannot be read."""
        found = self.entries.read("settings", group, data, _values.decode)
        if found is not None:
            self._settings[group] = found
        return dict(self._settings.get(group, {}))

    def all_settings(self) -> dict[str, dict[str, Any]]:
        """Every group that was changed."""
        found = self.entries.table("settings", self._hash("settings", keys.SETTINGS), bytes)
        return {group: self._settings_in(group, data) for group, data in found.items()}

    def settings_changed(self, group: str) -> tuple[str, float] | None:
        """Who changed a group last, and when."""
        return self._field("settings", keys.SETTINGS_CHANGED, group, _changed.decode)


def _answer(answer: Any) -> Any:
    """One of a pipeline's answers, which holds the errors too."""
    if isinstance(answer, Exception):
        raise answer
    return answer
