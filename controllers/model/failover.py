"""When a cluster counts as dead, and what is known of one that is.

A cluster is dead when it gives no sign of life and its leases have run out. Both are kept by
threads of its driver that talk to Redis only, so a driver whose queries are slow is not dead.
"""

from typing import Annotated

from msgspec import Struct

from weir.controllers.model.age import Time
from weir.controllers.model.settings import setting

FAILOVER = "failover"  # the name of this group of settings
RENEWALS = 4
"""How often a lease is renewed within its time: three may be lost."""


class FailoverSettings(Struct, frozen=True, kw_only=True):
    """How soon a cluster counts as dead, and what is then done."""

    rescue_by_itself: Annotated[
        bool,
        setting(
            "Start the operators of a dead cluster elsewhere without asking, unless all is "
            "paused or a mode is advice only"
        ),
    ] = True
    lease_s: Annotated[
        float,
        setting(
            "A cluster without a sign of life is dead after; shorter: sooner rescued, longer: "
            "a driver that stalls on a busy machine is not taken for dead",
            unit="s",
            ge=1,
            le=60,
        ),
    ] = 3.0
    alone_s: Annotated[
        float,
        setting(
            "A host that cannot reach Redis stops its queries after; longer than the lease, so "
            "that a short gap stops nothing; sinks without Weir's fence want it shorter",
            unit="s",
            ge=1,
            le=120,
        ),
    ] = 6.0
    most_rescues: Annotated[
        int,
        setting(
            "Most rescues of one operator by the engine itself within the rescue window: one that "
            "kills its driver must not kill all of them; 0: no limit",
            ge=0,
        ),
    ] = 3
    rescue_window_s: Annotated[float, setting("Time in which they count", unit="s", ge=1)] = 600.0
    most_load: Annotated[
        float,
        setting(
            "Rescued operators fill a cluster, with all the executors that it may have, up to "
            "this; what finds no room waits",
            unit="load per core",
            ge=0.1,
        ),
    ] = 1.2

    @property
    def renew_s(self) -> float:
        """Time between two renewals of a lease."""
        return self.lease_s / RENEWALS


class Death(Struct, frozen=True, kw_only=True):
    """A cluster that died, until it is back."""

    cluster: str
    at: Time  # of its last sign of life
    noticed_at: Time
    lost: tuple[str, ...] = ()  # operators that were to run there
    waits: str = ""  # why they are not rescued now; empty while they are, or if none is left
