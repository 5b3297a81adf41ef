"""What the engine and the pages need from outside: one store, in Redis or in memory."""

__all__ = [
    "KEPT_S",
    "Lease",
    "Part",
    "Placement",
    "Rebalance",
    "Reslicing",
    "Skipped",
    "Slicing",
    "Store",
    "Tier",
    "Workload",
]

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.skipped import Skipped
from weir.controllers.model.age import Time
from weir.controllers.model.brief import Brief
from weir.controllers.model.command import Command, CommandResult
from weir.controllers.model.failover import Death
from weir.controllers.model.hosting import HostOrder
from weir.controllers.model.placement import Lease, Placement
from weir.controllers.model.profile import Profile, Rate
from weir.controllers.model.sample import ClusterSample, Mode
from weir.controllers.model.slicing import Slicing


class Tier(IntEnum):
    """Resolutions at which samples are kept; the value is the step in seconds."""

    FULL = 0
    MINUTE = 60
    QUARTER = 900
    HOUR = 3600


KEPT_S = {
    Tier.FULL: 15 * 60,
    Tier.MINUTE: 5 * 3600,
    Tier.QUARTER: 2 * 86400,
    Tier.HOUR: 90 * 86400,
}
"""How long each tier is kept."""


class Part(Struct, frozen=True, kw_only=True):
    """A process of Weir and its last sign of life."""

    id: str  # e.g. "host:wide"
    kind: str  # engine, host, agent, web, generator, recorder
    name: str
    at: Time
    status: str = "up"  # starting, up, stopped
    pid: int = 0
    detail: str = ""
    took_s: float | None = None  # of an engine that leads: its last look at all that was due
    skipped: tuple[Skipped, ...] = ()  # that it met lately
    title: str = ""  # of a generator: the application whose rows it makes
    about: str = ""  # and where that comes from, in a paragraph


Skew = Annotated[float, Meta(ge=0, le=10)]


class Workload(Struct, frozen=True, kw_only=True):
    """What a load generator is asked for and what it does."""

    name: str
    rows_per_s: Rate  # asked for
    profile: Profile = Profile()  # how that changes over time
    skew: Skew | None = None  # exponent of Zipf's law of the keys; None: the application's own
    paused: bool = False


class Samples(Protocol):
    """What clusters report, at several resolutions."""

    def append(self, sample: ClusterSample, tier: Tier = Tier.FULL) -> bool: ...
    def samples(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[ClusterSample]: ...
    def briefs(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[Brief]: ...
    def latest(self) -> list[ClusterSample]: ...
    def clusters(self) -> list[str]: ...
    def forget(self, cluster: str, audit: AuditEntry) -> None: ...


class Parts(Protocol):
    """Signs of life, and what went wrong."""

    def beat(self, part: Part) -> None: ...
    def parts(self) -> list[Part]: ...
    def remove_part(self, part_id: str) -> None: ...
    def save_deaths(self, deaths: Sequence[Death]) -> None: ...
    def deaths(self) -> list[Death]: ...
    def note_fault(self, where: str, error: Exception) -> None: ...
    def skipped(self) -> Sequence[Skipped]: ...


class Commands(Protocol):
    """What agents are told and what became of it."""

    def submit(self, command: Command, audit: AuditEntry | None = None) -> None: ...
    def open_commands(self, cluster: str) -> list[Command]: ...
    def claim(self, command_id: str, holder: str, at: float, take_over: bool = False) -> bool: ...
    def report(self, result: CommandResult) -> None: ...
    def command(self, command_id: str) -> tuple[Command, CommandResult] | None: ...
    def recent_commands(self, limit: int = 50) -> list[tuple[Command, CommandResult]]: ...


class Placements(Protocol):
    """Where operators should run.

    A change is a compare-and-set on what was seen before it, None for nothing.
    """

    def place(self, placement: Placement) -> None: ...
    def place_if(self, placement: Placement, seen: Placement | None) -> bool: ...
    def placements(self) -> dict[str, Placement]: ...
    def save_rebalance(
        self,
        rebalance: Rebalance,
        changes: Sequence[Placement] = (),
        leader: Lease | None = None,
        seen: Mapping[str, Placement] | None = None,
    ) -> bool: ...
    def rebalances(self) -> list[Rebalance]: ...
    def save_outlook(self, outlook: Outlook) -> None: ...
    def outlook(self) -> Outlook | None: ...
    def set_last_commit(self, operator: str, at: float) -> None: ...
    def last_commit(self, operator: str) -> float | None: ...


class Slicings(Protocol):
    """Which slice of an operator owns which key groups.

    A change is a compare-and-set on what was seen before it, None for nothing.
    """

    def slicings(self) -> dict[str, Slicing]: ...
    def slice_if(self, after: Slicing, seen: Slicing | None) -> bool: ...
    def save_reslicing(
        self,
        reslicing: Reslicing,
        leader: Lease | None = None,
        slicing: Slicing | None = None,
        seen: Slicing | None = None,
        place: Sequence[Placement] = (),
        unplace: Sequence[str] = (),
    ) -> bool: ...
    def reslicings(self) -> list[Reslicing]: ...


class Rules(Protocol):
    """Modes and settings, the latter by the name of their group, as a person gave them.

    A change is a compare-and-set and writes its audit entry with it, or neither.
    """

    def change_mode(
        self,
        cluster: str,
        before: Mode | None,
        mode: Mode,
        audit: AuditEntry,
        leader: Lease | None = None,
    ) -> bool: ...
    def modes(self) -> dict[str, Mode]: ...
    def change_settings(
        self,
        group: str,
        change: Callable[[dict[str, Any]], Mapping[str, Any]],
        said: Callable[[Mapping[str, Any], Mapping[str, Any]], AuditEntry],
        *,
        by: str,
        at: float,
        also: Mapping[str, Mapping[str, Any]] = {},
    ) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def settings(self, group: str) -> dict[str, Any]: ...
    def all_settings(self) -> dict[str, dict[str, Any]]: ...
    def settings_changed(self, group: str) -> tuple[str, float] | None: ...


class Recommendations(Protocol):
    """Recommendations and the audit trail.

    A save is a compare-and-set on the version, fenced by the leader's token if one is given,
    and writes its audit entry with it or not at all.
    """

    def save_recommendation(
        self,
        recommendation: Recommendation,
        leader: Lease | None = None,
        audit: AuditEntry | None = None,
    ) -> bool: ...
    def recommendation(self, recommendation_id: str) -> Recommendation | None: ...
    def recommendations(self, limit: int = 100) -> list[Recommendation]: ...
    def record(self, limit: int = 100) -> list[Recommendation]: ...
    def trim(self, now: float) -> None: ...
    def append_audit(self, entry: AuditEntry) -> AuditEntry: ...
    def audit(self, limit: int = 100, before_number: int | None = None) -> list[AuditEntry]: ...
    def audit_since(self, number: int) -> list[AuditEntry]: ...


class Memories(Protocol):
    """What scalers remember and say."""

    def memories(self, cluster: str) -> dict[str, bytes]: ...
    def all_memories(self, clusters: Sequence[str]) -> dict[str, dict[str, bytes]]: ...
    def save_memories(
        self, cluster: str, memories: Mapping[str, bytes], leader: Lease | None = None
    ) -> bool: ...
    def change_memory(
        self, cluster: str, scaler: str, memory: bytes | None, audit: AuditEntry
    ) -> None: ...
    def save_scale_outlook(self, outlook: ScaleOutlook) -> None: ...
    def scale_outlooks(self) -> dict[str, ScaleOutlook]: ...
    def scale_waits(self) -> dict[str, str]: ...


class Leases(Protocol):
    """Who may run something now."""

    def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None: ...
    def renew(self, lease: Lease, ttl_s: float) -> bool: ...
    def release(self, lease: Lease) -> None: ...
    def lease(self, name: str) -> Lease | None: ...
    def leases(self, names: Iterable[str]) -> dict[str, Lease]: ...


class Hosting(Protocol):
    """What is ordered of hosts; a change is a compare-and-set with its audit entry."""

    def host_orders(self) -> dict[str, HostOrder]: ...
    def change_host_order(
        self,
        before: HostOrder | None,
        after: HostOrder | None,
        audit: AuditEntry,
        leader: Lease | None = None,
    ) -> bool: ...


class Workloads(Protocol):
    """What load generators are asked for."""

    def set_workload(self, workload: Workload) -> None: ...
    def change_workload(self, before: Workload, after: Workload, audit: AuditEntry) -> bool: ...
    def workloads(self) -> Sequence[Workload]: ...


class Store(
    Samples, Parts, Commands, Placements, Slicings, Rules, Recommendations, Memories, Leases,
    Hosting, Workloads, Protocol,
):  # fmt: skip
    """All of it, in Redis or in memory.

    Every implementation passes the same contract (tests/contract). All times are seconds
    since the epoch and arguments: a store has no clock of its own, except for the expiry of
    leases.
    """
