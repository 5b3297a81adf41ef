"""What the engine and the pages need from outside: one store, in Redis or in memory."""

__all__ = ["KEPT_S", "Lease", "Part", "Placement", "Rebalance", "Store", "Tier", "Workload"]

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Protocol

from msgspec import Struct

from controllers.engine.moves import Rebalance
from controllers.engine.outlook import Outlook
from controllers.model.command import Command, CommandResult
from controllers.model.placement import Lease, Placement
from controllers.model.snapshot import ClusterSample, Mode, Snapshot


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
    kind: str  # redis, engine, host, web, generator, agent
    name: str
    at: float
    status: str = "up"  # starting, up, stopped
    pid: int = 0
    detail: str = ""


class Workload(Struct, frozen=True, kw_only=True):
    """What a load generator is asked for and what it does."""

    name: str
    rows_per_s: float  # asked for
    ramp_rows_per_s2: float = 0.0  # added to the rate each second, up to `most_rows_per_s`
    most_rows_per_s: float = 0.0
    paused: bool = False


class Store(Protocol):
    """Samples, signs of life, commands, placement and leases.

    Every implementation passes the same contract (tests/contract). All times are
    seconds since the epoch and arguments: a store has no clock of its own, except
    for the expiry of leases.
    """

    # -- samples
    def append(self, sample: ClusterSample, tier: Tier = Tier.FULL) -> bool: ...
    def samples(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[ClusterSample]: ...
    def latest(self) -> list[ClusterSample]: ...
    def clusters(self) -> list[str]: ...
    def forget(self, cluster: str) -> None: ...
    def save_snapshot(self, snapshot: Snapshot) -> None: ...
    def snapshot(self) -> Snapshot | None: ...

    # -- signs of life
    def beat(self, part: Part) -> None: ...
    def parts(self) -> list[Part]: ...
    def remove_part(self, part_id: str) -> None: ...

    # -- commands
    def submit(self, command: Command) -> None: ...
    def open_commands(self, cluster: str) -> list[Command]: ...
    def claim(self, command_id: str, holder: str, at: float, take_over: bool = False) -> bool: ...
    def report(self, result: CommandResult) -> None: ...
    def command(self, command_id: str) -> tuple[Command, CommandResult] | None: ...
    def recent_commands(self, limit: int = 50) -> list[tuple[Command, CommandResult]]: ...

    # -- placement
    def place(self, placement: Placement) -> None: ...
    def placements(self) -> dict[str, Placement]: ...
    def save_rebalance(
        self, rebalance: Rebalance, changes: Sequence[Placement] = (), leader: Lease | None = None
    ) -> bool: ...
    def rebalances(self) -> list[Rebalance]: ...
    def save_outlook(self, outlook: Outlook) -> None: ...
    def outlook(self) -> Outlook | None: ...
    def set_last_commit(self, operator: str, at: float) -> None: ...
    def last_commit(self, operator: str) -> float | None: ...

    # -- modes
    def set_mode(self, cluster: str, mode: Mode) -> None: ...
    def modes(self) -> dict[str, Mode]: ...

    # -- settings, by the name of their group; values as a person gave them
    def save_settings(self, group: str, values: Mapping[str, Any]) -> None: ...
    def settings(self, group: str) -> dict[str, Any]: ...

    # -- leases
    def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None: ...
    def renew(self, lease: Lease, ttl_s: float) -> bool: ...
    def release(self, lease: Lease) -> None: ...
    def lease(self, name: str) -> Lease | None: ...

    # -- workload
    def set_workload(self, workload: Workload) -> None: ...
    def workloads(self) -> Sequence[Workload]: ...
