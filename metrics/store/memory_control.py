"""The part of the store in memory that control needs: decisions, their trail, settings, memory."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.audit import AuditEntry, seal_entry
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.retention import old_rebalances, old_recommendations
from weir.controllers.model.placement import Lease
from weir.controllers.model.sample import Mode


class MemoryControl(ABC):
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self) -> None:
        self._recommendations: dict[str, Recommendation] = {}
        self._rebalances: dict[str, Rebalance] = {}
        self._reslicings: dict[str, Reslicing] = {}
        self._audit: list[AuditEntry] = []
        self._memories: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._scale_outlooks: dict[str, ScaleOutlook] = {}
        self._modes: dict[str, Mode] = {}
        self._settings: dict[str, dict[str, Any]] = {}
        self._settings_changed: dict[str, tuple[str, float]] = {}

    @abstractmethod
    def lease(self, name: str) -> Lease | None:
        """Who holds a lease now."""

    # -- recommendations

    def save_recommendation(
        self,
        recommendation: Recommendation,
        leader: Lease | None = None,
        audit: AuditEntry | None = None,
    ) -> bool:
        """Keep the next version, with what the trail says of it; False if it is not the next."""
        if leader is not None and self.lease(leader.name) != leader:
            return False
        known = self._recommendations.get(recommendation.id)
        if recommendation.version != (known.version + 1 if known else 0):
            return False
        self._recommendations[recommendation.id] = recommendation
        if audit is not None:
            self.append_audit(audit)
        return True

    def recommendation(self, recommendation_id: str) -> Recommendation | None:
        """One recommendation as it stands."""
        return self._recommendations.get(recommendation_id)

    def recommendations(self, limit: int = 100) -> list[Recommendation]:
        """The newest ones and all that are open, newest first."""
        newest = self._newest_first()
        return [r for i, r in enumerate(newest) if i < limit or not r.status.final]

    def record(self, limit: int = 100) -> list[Recommendation]:
        """The newest ones that count and all that are open, newest first."""
        newest = self._newest_first()
        counting = {r.id for r in [r for r in newest if r.status.counts][:limit]}
        return [r for r in newest if r.id in counting or not r.status.final]

    def _newest_first(self) -> list[Recommendation]:
        return sorted(self._recommendations.values(), key=lambda r: (r.at, r.id), reverse=True)

    def trim(self, now: float) -> None:
        """Forget rebalances, re-slices and recommendations that ended long ago."""
        for name in old_rebalances(self._rebalances.values(), now):
            del self._rebalances[name]
        for name in old_rebalances(self._reslicings.values(), now):
            del self._reslicings[name]
        ended = [r for r in self._recommendations.values() if r.status.final]
        counting = {r.id for r in ended if r.status.counts}
        for name in old_recommendations({r.id: r.at for r in ended}, counting, now):
            del self._recommendations[name]

    # -- audit

    def append_audit(self, entry: AuditEntry) -> AuditEntry:
        """Add to the trail; the entry comes back with its number and seal."""
        last = self._audit[-1] if self._audit else None
        kept = seal_entry(entry, last.number + 1 if last else 1, last.seal if last else "")
        self._audit.append(kept)
        return kept

    def audit(self, limit: int = 100, before_number: int | None = None) -> list[AuditEntry]:
        """The newest entries, newest first; those before a number to look further back."""
        found = [e for e in self._audit if before_number is None or e.number < before_number]
        return found[::-1][:limit]

    def audit_since(self, number: int) -> list[AuditEntry]:
        """Every entry from a number on, oldest first."""
        return [e for e in self._audit if e.number >= number]

    # -- what scalers remember and say

    def memories(self, cluster: str) -> dict[str, bytes]:
        """What each scaler of a cluster remembers, as JSON."""
        return dict(self._memories[cluster])

    def all_memories(self, clusters: Sequence[str]) -> dict[str, dict[str, bytes]]:
        """The same of several clusters."""
        return {cluster: self.memories(cluster) for cluster in clusters}

    def save_memories(
        self, cluster: str, memories: Mapping[str, bytes], leader: Lease | None = None
    ) -> bool:
        """Keep memories of a cluster's scalers; False for an old leader."""
        if leader is not None and self.lease(leader.name) != leader:
            return False
        self._memories[cluster].update(memories)
        return True

    def change_memory(
        self, cluster: str, scaler: str, memory: bytes | None, audit: AuditEntry
    ) -> None:
        """Replace a memory, or remove it so that the scaler starts over; with its audit entry."""
        self.append_audit(audit)
        kept = self._memories[cluster]
        if memory is None:
            kept.pop(scaler, None)
        else:
            kept[scaler] = memory

    def save_scale_outlook(self, outlook: ScaleOutlook) -> None:
        """Keep the engine's newest view of a cluster's size."""
        self._scale_outlooks[outlook.cluster] = outlook

    def scale_outlooks(self) -> dict[str, ScaleOutlook]:
        """The engine's newest view of each cluster's size."""
        return {name: self._scale_outlooks[name] for name in sorted(self._scale_outlooks)}

    def scale_waits(self) -> dict[str, str]:
        """Why nothing is asked for in each cluster now; empty where something is."""
        return {name: view.wait for name, view in self.scale_outlooks().items()}

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
        if leader is not None and self.lease(leader.name) != leader:
            return False
        if self._modes.get(cluster) is not before:
            return False
        self._modes[cluster] = mode
        self.append_audit(audit)
        return True

    def modes(self) -> dict[str, Mode]:
        """The clusters whose mode was set."""
        return dict(self._modes)

    def save_settings(
        self, group: str, values: Mapping[str, Any], by: str = "", at: float = 0.0
    ) -> None:
        """Keep a group of settings, and who changed it when."""
        self._settings[group] = dict(values)
        self._settings_changed[group] = (by, at)

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
        """Change what is kept of a group, as it was and is, with what the trail says of it."""
        while True:
            before = self.settings(group)
            after = dict(change(dict(before)))
            if self.settings(group) == before:
                break
        if after != before:
            self.append_audit(said(before, after))
            for name, values in {group: after, **also}.items():
                self.save_settings(name, values, by, at)
        return before, after

    def settings(self, group: str) -> dict[str, Any]:
        """The settings of a group that were changed from their defaults."""
        return dict(self._settings.get(group, {}))

    def all_settings(self) -> dict[str, dict[str, Any]]:
        """Every group that was changed."""
        return {group: dict(values) for group, values in self._settings.items()}

    def settings_changed(self, group: str) -> tuple[str, float] | None:
        """Who changed a group last, and when."""
        return self._settings_changed.get(group)
