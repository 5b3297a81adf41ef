"""Where operators should run, and who may run something now."""

from msgspec import Struct

LEADER = "engine"  # the lease of the engine that leads; its token fences what an older one says


class Lease(Struct, frozen=True, kw_only=True):
    """Who may run something now. A larger token is always the newer holder."""

    name: str
    holder: str
    token: int


class Placement(Struct, frozen=True, kw_only=True):
    """Where an operator should run, and whether it should run at all."""

    operator: str
    cluster: str
    wanted: str = "running"  # or "stopped"

    def why_departed(self, source: str) -> str:
        """Why a plan that begins with it running in `source` no longer holds; empty if it does.

        >>> Placement(operator="count", cluster="wide").why_departed("narrow")
        'count is in wide now, no longer in narrow'
        """
        if self.cluster != source:
            return f"{self.operator} is in {self.cluster} now, no longer in {source}"
        return f"{self.operator} is stopped now" if self.wanted != "running" else ""


def operator_lease(operator: str) -> str:
    """The lease that an operator runs under."""
    return f"operator:{operator}"


def cluster_lease(cluster: str) -> str:
    """The lease of the one agent that reports and acts for a cluster."""
    return f"cluster:{cluster}"
