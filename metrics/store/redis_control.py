"""The part of the store in Redis that control needs: decisions, their trail, settings, memory."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha1
from typing import Any

import msgspec
import redis

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.audit import AuditEntry, sealed
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.retention import old_rebalances, old_recommendations
from weir.controllers.model.errors import Unavailable
from weir.controllers.model.placement import Lease
from weir.controllers.model.snapshot import Mode
from weir.metrics.store import keys, scripts
from weir.metrics.store.decoded import Decoded

_encode = msgspec.json.encode
_recommendation = msgspec.json.Decoder(Recommendation)
_rebalance = msgspec.json.Decoder(Rebalance)
_entry = msgspec.json.Decoder(AuditEntry)
_outlook = msgspec.json.Decoder(ScaleOutlook)
_wait = msgspec.json.Decoder(msgspec.defstruct("Wait", [("wait", str, "")]))  # and no more of it


def _sha1(data: bytes) -> str:
    return sha1(data, usedforsecurity=False).hexdigest()


_NOTHING = _sha1(b"")


SEALS = 200
"""So often an entry is sealed anew because others write to the trail at the same time."""
CROWDED = "too many write to the audit trail at once; try again"


class RedisControl:
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self._recommend = client.register_script(scripts.RECOMMEND)
        self._change_mode = client.register_script(scripts.CHANGE_MODE)
        self._keep_memories = client.register_script(scripts.KEEP_MEMORIES)
        self._newest = Decoded(_recommendation.decode)
        self._record = Decoded(_recommendation.decode)
        self._read_memories: dict[str, dict[str, str]] = {}  # cluster -> scaler -> SHA-1

    # -- recommendations

    def save_recommendation(
        self,
        recommendation: Recommendation,
        leader: Lease | None = None,
        audit: AuditEntry | None = None,
    ) -> bool:
        """Keep the next version, with what the trail says of it; False if it is not the next."""
        return self._told(
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
        data = self.client.hget(keys.RECOMMENDATIONS, recommendation_id)
        return _recommendation.decode(data) if data else None

    def recommendations(self, limit: int = 100) -> list[Recommendation]:
        """The newest ones and all that are open, newest first."""
        return self._and_open(keys.RECOMMENDATIONS_AT, limit, self._newest)

    def record(self, limit: int = 100) -> list[Recommendation]:
        """The newest ones that count and all that are open, newest first."""
        return self._and_open(keys.RECOMMENDATIONS_DONE, limit, self._record)

    def _and_open(
        self, index: str, limit: int, decoded: Decoded[Recommendation]
    ) -> list[Recommendation]:
        pipe = self.client.pipeline(transaction=False)
        pipe.zrevrange(index, 0, limit - 1)
        pipe.smembers(keys.RECOMMENDATIONS_OPEN)
        newest, open_ = pipe.execute()
        ids = list({*newest, *open_})
        found = decoded(self.client.hmget(keys.RECOMMENDATIONS, ids) if ids else ())
        return sorted(found, key=lambda r: (r.at, r.id), reverse=True)

    def trim(self, now: float) -> None:
        """Forget rebalances and recommendations that ended long ago."""
        rebalances = [_rebalance.decode(data) for data in self.client.hvals(keys.REBALANCES)]
        gone = old_rebalances(rebalances, now)
        if gone:
            self.client.hdel(keys.REBALANCES, *gone)
        pipe = self.client.pipeline()
        pipe.zrange(keys.RECOMMENDATIONS_AT, 0, -1, withscores=True)
        pipe.zrange(keys.RECOMMENDATIONS_DONE, 0, -1)
        pipe.smembers(keys.RECOMMENDATIONS_OPEN)
        dated, done, open_ = pipe.execute()
        old = old_recommendations({i: at for i, at in dated if i not in open_}, set(done), now)
        if old:
            pipe = self.client.pipeline()
            pipe.hdel(keys.RECOMMENDATIONS, *old)
            pipe.hdel(keys.RECOMMENDATIONS_VERSION, *old)
            pipe.zrem(keys.RECOMMENDATIONS_AT, *old)
            pipe.zrem(keys.RECOMMENDATIONS_DONE, *old)
            pipe.execute()

    # -- audit

    def append_audit(self, entry: AuditEntry) -> AuditEntry:
        """Add to the trail; the entry comes back with its number and seal."""
        for _ in range(SEALS):
            kept = self._next_entry(entry)
            try:
                self.client.xadd(
                    keys.AUDIT,
                    {"e": _encode(kept)},
                    id=f"{kept.number}-0",
                    maxlen=keys.AUDIT_KEPT,
                    approximate=True,
                )
            except redis.exceptions.ResponseError as error:
                if "equal or smaller" not in str(error):
                    raise
                continue  # somebody else was first: seal again behind their entry
            return kept
        raise Unavailable(CROWDED)

    def audit(self, limit: int = 100, before_number: int | None = None) -> list[AuditEntry]:
        """The newest entries, newest first; those before a number to look further back."""
        newest = "+" if before_number is None else f"({before_number}-0"
        rows = self.client.xrevrange(keys.AUDIT, max=newest, count=limit)
        return [_entry.decode(fields[b"e"]) for _, fields in rows]

    def audit_since(self, number: int) -> list[AuditEntry]:
        """Every entry from a number on, oldest first."""
        rows = self.client.xrange(keys.AUDIT, min=f"{number}-0")
        return [_entry.decode(fields[b"e"]) for _, fields in rows]

    def _told(
        self,
        script: Any,
        over: Sequence[str],
        args: Sequence[object],
        audit: AuditEntry | None,
    ) -> bool:
        """Run a script that also writes to the trail, sealed anew while others are first."""
        for _ in range(SEALS):
            entry = self._next_entry(audit) if audit else None
            said = [entry.number, _encode(entry)] if entry else ["", ""]
            done = script(keys=[*over, keys.AUDIT], args=[*args, *said, keys.AUDIT_KEPT])
            if done >= 0:
                return bool(done)
        raise Unavailable(CROWDED)

    def _next_entry(self, entry: AuditEntry) -> AuditEntry:
        try:
            info = self.client.xinfo_stream(keys.AUDIT)
        except redis.exceptions.ResponseError:  # nothing was ever written
            return sealed(entry, 1, "")
        # The stream knows its last number even if somebody took the last entries out;
        # the gap then shows in the chain.
        number = int(info["last-generated-id"].split(b"-")[0]) + 1
        last = info["last-entry"]
        return sealed(entry, number, _entry.decode(last[1][b"e"]).seal if last else "")

    # -- what scalers remember and say

    def memories(self, cluster: str) -> dict[str, bytes]:
        """What each scaler of a cluster remembers, as JSON."""
        found = self.client.hgetall(keys.memory(cluster))
        memories = {name.decode(): data for name, data in found.items()}
        self._read_memories[cluster] = {name: _sha1(data) for name, data in memories.items()}
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
            self.client.hset(keys.memory(cluster), mapping=dict(memories))
            return True
        args: list[object] = [leader.token]
        read = self._read_memories.pop(cluster, None)
        for name, data in memories.items():
            args += [name, "" if read is None else read.get(name, _NOTHING), data]
        return bool(
            self._keep_memories(keys=[keys.lease(leader.name), keys.memory(cluster)], args=args)
        )

    def forget_memory(self, cluster: str, scaler: str) -> None:
        """Let a scaler begin anew."""
        self.client.hdel(keys.memory(cluster), scaler)

    def save_scale_outlook(self, outlook: ScaleOutlook) -> None:
        """Keep the engine's newest view of a cluster's size."""
        self.client.hset(keys.SCALE_OUTLOOKS, outlook.cluster, _encode(outlook))

    def scale_outlooks(self) -> dict[str, ScaleOutlook]:
        """The engine's newest view of each cluster's size."""
        found = self.client.hgetall(keys.SCALE_OUTLOOKS)
        return {name.decode(): _outlook.decode(found[name]) for name in sorted(found)}

    def scale_waits(self) -> dict[str, str]:
        """Why nothing is asked for in each cluster now; empty where something is."""
        found = self.client.hgetall(keys.SCALE_OUTLOOKS)
        return {name.decode(): _wait.decode(found[name]).wait for name in sorted(found)}

    # -- modes and settings

    def set_mode(self, cluster: str, mode: Mode) -> None:
        """Say how much a cluster lets the engine do."""
        self.client.hset(keys.MODES, cluster, mode.value)

    def change_mode(
        self, cluster: str, before: Mode, mode: Mode, leader: Lease, audit: AuditEntry
    ) -> bool:
        """Give it another mode and say so; False for an old leader, or if it has another now."""
        return self._told(
            self._change_mode,
            [keys.lease(leader.name), keys.MODES],
            [leader.token, cluster, before.value, mode.value],
            audit,
        )

    def modes(self) -> dict[str, Mode]:
        """The clusters whose mode was set."""
        found = self.client.hgetall(keys.MODES)
        return {name.decode(): Mode(value.decode()) for name, value in found.items()}

    def save_settings(
        self, group: str, values: Mapping[str, Any], by: str = "", at: float = 0.0
    ) -> None:
        """Keep a group of settings, and who changed it when."""
        pipe = self.client.pipeline()
        pipe.hset(keys.SETTINGS, group, _encode(dict(values)))
        pipe.hset(keys.SETTINGS_CHANGED, group, _encode((by, at)))
        pipe.execute()

    def change_settings(
        self, group: str, change: Callable[[dict[str, Any]], Mapping[str, Any]], by: str, at: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Change what is kept of a group, as it was and is; `change` may be asked again."""

        def step(pipe: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            data = pipe.hget(keys.SETTINGS, group)
            before = dict(msgspec.json.decode(data)) if data else {}
            after = dict(change(dict(before)))
            pipe.multi()
            if after != before:
                pipe.hset(keys.SETTINGS, group, _encode(after))
                pipe.hset(keys.SETTINGS_CHANGED, group, _encode((by, at)))
            return before, after

        # Tried again whenever somebody else writes between the look and the change.
        done: tuple[dict[str, Any], dict[str, Any]] = self.client.transaction(
            step, keys.SETTINGS, value_from_callable=True
        )
        return done

    def settings(self, group: str) -> dict[str, Any]:
        """The settings of a group that were changed from their defaults."""
        data = self.client.hget(keys.SETTINGS, group)
        return dict(msgspec.json.decode(data)) if data else {}

    def all_settings(self) -> dict[str, dict[str, Any]]:
        """Every group that was changed."""
        found = self.client.hgetall(keys.SETTINGS)
        return {name.decode(): dict(msgspec.json.decode(data)) for name, data in found.items()}

    def settings_changed(self, group: str) -> tuple[str, float] | None:
        """Who changed a group last, and when."""
        data = self.client.hget(keys.SETTINGS_CHANGED, group)
        return msgspec.json.decode(data, type=tuple[str, float]) if data else None
