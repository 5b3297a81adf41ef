"""The store in memory, for tests and experiments that need no Redis."""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import KEPT_S, Lease, Part, Tier, Workload
from weir.controllers.engine.skipped import Skipped
from weir.controllers.model.brief import Brief, brief_of
from weir.controllers.model.command import Command, CommandResult, CommandStatus
from weir.controllers.model.errors import NotFound
from weir.controllers.model.failover import Death
from weir.controllers.model.hosting import HostOrder
from weir.controllers.model.sample import ClusterSample
from weir.metrics.store.memory_placements import MemoryPlacements

log = logging.getLogger(__name__)


class MemoryStore(MemoryPlacements):
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._samples: dict[tuple[str, Tier], list[ClusterSample]] = defaultdict(list)
        self._newest: dict[str, ClusterSample] = {}
        self._parts: dict[str, Part] = {}
        self._commands: dict[str, tuple[Command, CommandResult, str]] = {}
        self._deaths: list[Death] = []
        self._host_orders: dict[str, HostOrder] = {}
        self._leases: dict[str, tuple[Lease, float]] = {}
        self._tokens: dict[str, int] = defaultdict(int)
        self._workloads: dict[str, Workload] = {}

    # -- samples

    def append(self, sample: ClusterSample, tier: Tier = Tier.FULL) -> bool:
        """Add a sample; False if the tier already has this period or a later one."""
        name = sample.cluster.name
        series = self._samples[name, tier]
        if series and int(series[-1].at * 1000) >= int(sample.at * 1000):
            return False
        series.append(sample)
        oldest = sample.at - KEPT_S[tier]
        while series[0].at < oldest:
            series.pop(0)
        if tier is Tier.FULL:
            self._newest[name] = sample
        return True

    def samples(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[ClusterSample]:
        """Samples whose period ended in [since, until], oldest first."""
        return [s for s in self._samples[cluster, tier] if since <= s.at <= until]

    def briefs(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[Brief]:
        """The figures of the same samples that charts draw."""
        return [brief_of(s) for s in self.samples(cluster, since, until, tier)]

    def latest(self) -> list[ClusterSample]:
        """The newest sample of every cluster, by name."""
        return [self._newest[name] for name in sorted(self._newest)]

    def clusters(self) -> list[str]:
        """Names of the clusters that have ever reported and were not forgotten."""
        return sorted(self._newest)

    def forget(self, cluster: str, audit: AuditEntry) -> None:
        """Remove a cluster with all its samples, settings and what was learned of it."""
        self.append_audit(audit)
        self._newest.pop(cluster, None)
        self._modes.pop(cluster, None)
        self._scale_outlooks.pop(cluster, None)
        self._memories.pop(cluster, None)
        for tier in Tier:
            self._samples.pop((cluster, tier), None)
        for group in [*self._settings]:
            if group.partition(":")[2].partition(":")[0] == cluster:
                del self._settings[group]
                self._settings_changed.pop(group, None)
        for kind in ("host", "agent"):
            self._parts.pop(f"{kind}:{cluster}", None)

    # -- signs of life

    def beat(self, part: Part) -> None:
        """Record a sign of life."""
        self._parts[part.id] = part

    def parts(self) -> list[Part]:
        """Every part with its last sign of life, by id."""
        return [self._parts[name] for name in sorted(self._parts)]

    def host_orders(self) -> dict[str, HostOrder]:
        """What is wanted of each host, by cluster."""
        return dict(self._host_orders)

    def change_host_order(
        self,
        before: HostOrder | None,
        after: HostOrder | None,
        audit: AuditEntry,
        leader: Lease | None = None,
    ) -> bool:
        """Want something else of a host and say so; False if somebody else was first."""
        known = after or before
        if known is None or self._host_orders.get(known.cluster) != before:
            return False
        if leader is not None and self.lease(leader.name) != leader:
            return False
        self.append_audit(audit)
        if after is None:
            del self._host_orders[known.cluster]
        else:
            self._host_orders[known.cluster] = after
        return True

    def save_deaths(self, deaths: Sequence[Death]) -> None:
        """Keep which clusters are dead, in place of those kept before."""
        self._deaths = sorted(deaths, key=lambda death: death.cluster)

    def deaths(self) -> list[Death]:
        """The clusters that are dead, as the engine noted, by name."""
        return list(self._deaths)

    def remove_part(self, part_id: str) -> None:
        """Forget a part that was taken away on purpose."""
        self._parts.pop(part_id, None)

    # -- commands

    def submit(self, command: Command, audit: AuditEntry | None = None) -> None:
        """Make a command visible to its agent, with its entry in the trail; the same id twice
        is one command."""
        if command.id not in self._commands:
            if audit is not None:
                self.append_audit(audit)
            pending = CommandResult(
                id=command.id, status=CommandStatus.PENDING, at=command.issued_at
            )
            self._commands[command.id] = (command, pending, "")

    def open_commands(self, cluster: str) -> list[Command]:
        """Commands for a cluster that are not final, oldest first."""
        found = [
            command
            for command, result, _ in self._commands.values()
            if command.cluster == cluster and not result.status.final
        ]
        return sorted(found, key=lambda c: c.issued_at)

    def claim(self, command_id: str, holder: str, at: float, take_over: bool = False) -> bool:
        """Claim a command; True for one holder, or for one that knows the last one is dead."""
        if command_id not in self._commands:
            return False
        command, result, held_by = self._commands[command_id]
        ours = result.status is CommandStatus.RUNNING and (take_over or held_by == holder)
        if result.status is not CommandStatus.PENDING and not ours:
            return False
        running = CommandResult(id=command_id, status=CommandStatus.RUNNING, at=at)
        self._commands[command_id] = (command, running, holder)
        return True

    def report(self, result: CommandResult) -> None:
        """Record progress or the end of a command; a final result stays."""
        if result.id not in self._commands:
            raise NotFound(f"there is no command {result.id}")
        command, known, holder = self._commands[result.id]
        if not known.status.final:
            self._commands[result.id] = (command, result, holder)

    def command(self, command_id: str) -> tuple[Command, CommandResult] | None:
        """A command and what has become of it."""
        found = self._commands.get(command_id)
        return None if found is None else found[:2]

    def recent_commands(self, limit: int = 50) -> list[tuple[Command, CommandResult]]:
        """The newest commands, newest first."""
        return [entry[:2] for entry in reversed(self._commands.values())][:limit]

    # -- leases

    def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None:
        """The lease if it is free or already ours, else None."""
        held = self.lease(name)
        if held is None:
            self._tokens[name] += 1
            held = Lease(name=name, holder=holder, token=self._tokens[name])
        elif held.holder != holder:
            return None
        self._leases[name] = (held, self._clock() + ttl_s)
        return held

    def renew(self, lease: Lease, ttl_s: float) -> bool:
        """Keep a lease, also one that ran out while nobody else had it; False if it is no longer
        ours."""
        if self._tokens[lease.name] != lease.token:
            return False
        self._leases[lease.name] = (lease, self._clock() + ttl_s)
        return True

    def release(self, lease: Lease) -> None:
        """Give a lease back; nothing happens if it is no longer ours."""
        held = self.lease(lease.name)
        if held is not None and held.token == lease.token:
            del self._leases[lease.name]
            self._tokens[lease.name] += 1  # spent: a renewal under way must not bring it back

    def lease(self, name: str) -> Lease | None:
        """Who holds a lease now."""
        found = self._leases.get(name)
        if found is None or found[1] <= self._clock():
            return None
        return found[0]

    def leases(self, names: Iterable[str]) -> dict[str, Lease]:
        """Those of these that somebody holds now."""
        return {name: held for name in names if (held := self.lease(name)) is not None}

    # -- what went wrong

    def note_fault(self, where: str, error: Exception) -> None:
        """Log what nobody expected."""
        log.error("%s failed", where, exc_info=error)

    def skipped(self) -> Sequence[Skipped]:
        """Nothing: values in memory are always well-formed."""
        return ()

    # -- workload

    def set_workload(self, workload: Workload) -> None:
        """Tell a generator what to produce."""
        self._workloads[workload.name] = workload

    def change_workload(self, before: Workload, after: Workload, audit: AuditEntry) -> bool:
        """Ask a generator for something else and say so; False if it is asked for another now."""
        if self._workloads.get(before.name) != before:
            return False
        self.append_audit(audit)
        self._workloads[after.name] = after
        return True

    def workloads(self) -> Sequence[Workload]:
        """What every generator is asked for."""
        return [self._workloads[name] for name in sorted(self._workloads)]
