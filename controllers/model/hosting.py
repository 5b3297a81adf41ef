"""Clusters that come and go: what is ordered of whoever starts and ends hosts.

    running --> draining --> ended --> (gone)

An order is kept in the store. A launcher, a process on the machines where hosts run, carries it
out; nothing that answers web requests ever starts a process.
"""

import re
from enum import StrEnum
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from weir.controllers.model.age import Time
from weir.controllers.model.settings import setting

CLUSTERS = "clusters"  # the name of this group of settings


class HostState(StrEnum):
    """What is wanted of a host."""

    RUNNING = "running"
    DRAINING = "draining"  # planners empty it, then it is ended
    ENDED = "ended"


Count = Annotated[int, Meta(ge=1, le=100_000)]
HOST_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
"""It becomes a word of a command and part of a file's name on the launcher's machine."""


class HostOrder(Struct, frozen=True, kw_only=True):
    """What is wanted of the host of one cluster.

    >>> HostOrder(cluster="../x", wanted=HostState.RUNNING, at=1.0, by="eve")
    Traceback (most recent call last):
    ValueError: no host can be started under this name
    """

    cluster: str
    wanted: HostState
    at: Time
    by: str
    executors: Count = 1
    max_executors: Count = 4
    cores: Count = 1

    def __post_init__(self) -> None:
        if self.wanted is HostState.RUNNING and not re.fullmatch(HOST_NAME, self.cluster):
            raise ValueError("no host can be started under this name")


class ClusterSettings(Struct, frozen=True, kw_only=True):
    """Within which limits clusters come and go."""

    most: Annotated[int, setting("Most clusters that host operators", ge=1, le=1000)] = 4
    fewest: Annotated[int, setting("Fewest of them that are left", ge=1, le=1000)] = 1
    executors: Annotated[int, setting("Executors of a new cluster at its start", ge=1)] = 1
    max_executors: Annotated[int, setting("Most executors of a new cluster", ge=1)] = 4
    cores: Annotated[int, setting("Cores of its executors", ge=1)] = 1
    end_drained: Annotated[
        bool,
        setting("End every cluster that is to be emptied once it is, also if nobody asked to"),
    ] = False
    by_itself: Annotated[
        bool, setting("Let the engine add clusters, and end those that were added")
    ] = False
    high_load: Annotated[
        float,
        setting(
            "Add one when every cluster is at full size and at least this",
            unit="load per core",
            ge=0.05,
        ),
    ] = 0.9
    low_load: Annotated[
        float,
        setting(
            "End one when the others would be at most this without it", unit="load per core", ge=0
        ),
    ] = 0.4
    for_s: Annotated[float, setting("... as a mean over so long", unit="s", ge=10, le=120)] = 60.0
    rest_s: Annotated[float, setting("Least time between two such changes", unit="s", ge=0)] = 180.0

    def __post_init__(self) -> None:
        if self.low_load >= self.high_load:
            raise ValueError("low_load must be below high_load")


class HostLauncher(Protocol):
    """Starts and ends hosts: processes of this machine, or anything else that can run one."""

    def start(self, order: HostOrder) -> None: ...
    def end(self, cluster: str) -> bool: ...
    def names(self) -> set[str]: ...
