"""Where operators should run, and who may run something now."""

from msgspec import Struct


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


def operator_lease(operator: str) -> str:
    """The lease that an operator runs under."""
    return f"operator:{operator}"


def cluster_lease(cluster: str) -> str:
    """The lease of the one agent that reports and acts for a cluster."""
    return f"cluster:{cluster}"
