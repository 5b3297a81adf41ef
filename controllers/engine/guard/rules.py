"""What people set about control: the engine, each cluster's guards, and its criteria for auto."""

from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Struct

from weir.controllers.engine.guard.hours import parse_hours
from weir.controllers.model.settings import setting

ENGINE = "engine"
RECORD = "record"  # the recorder's group


class EngineSettings(Struct, frozen=True, kw_only=True):
    """What holds for all clusters; the group is named `engine`."""

    paused: Annotated[bool, setting("No action without a person")] = False
    total_executors: Annotated[
        int, setting("Most executors over all clusters; 0: no limit", ge=0)
    ] = 0
    four_eyes: Annotated[bool, setting("Who asks for an action by hand may not approve it")] = False
    comment_required: Annotated[bool, setting("A decision wants a comment")] = False
    ttl_s: Annotated[
        float,
        setting(
            "A recommendation that nobody decides on ends after",
            label="Time to decide",
            unit="s",
            ge=10,
        ),
    ] = 300.0
    settle_s: Annotated[
        float, setting("After an action, wait so long before judging it", unit="s", ge=1)
    ] = 60.0
    least_effectiveness: Annotated[
        float,
        setting(
            "Share of the promised effect for an action to count as effective", ge=0, unit="share"
        ),
    ] = 0.5
    drift_load: Annotated[
        float,
        setting(
            "A plan no longer holds when a load moved by more than this since it was made",
            unit="load per core",
            ge=0.01,
        ),
    ] = 0.3
    cured_below: Annotated[
        float,
        setting(
            "A rebalance that brings every load below this makes a scale-out needless",
            unit="load per core",
            ge=0.05,
        ),
    ] = 0.8
    reconsider_s: Annotated[
        float, setting("What was rejected is not proposed again for", unit="s", ge=0)
    ] = 900.0
    withdraw_s: Annotated[
        float,
        setting(
            "A proposal that its scaler or planner no longer asks for is taken back after",
            unit="s",
            ge=0,
        ),
    ] = 30.0
    webhook_url: Annotated[str, setting("Tell this address of what happens, as JSON")] = ""

    def __post_init__(self) -> None:
        if self.webhook_url and not self.webhook_url.startswith(("http://", "https://")):
            raise ValueError("webhook_url must begin with http:// or https://")
        if self.webhook_url and not _reachable(self.webhook_url):
            raise ValueError("webhook_url must name a host, and its port must be a number to 65535")


class GuardSettings(Struct, frozen=True, kw_only=True):
    """What holds the engine back in one cluster; the group is named by `guard_group`."""

    least_periods: Annotated[
        int, setting("Fresh periods needed before anything is proposed", ge=1, unit="periods")
    ] = 3
    warm_up_s: Annotated[
        float,
        setting("Nothing is proposed so long after an operator's first batch", unit="s", ge=0),
    ] = 30.0
    largest_step: Annotated[
        int, setting("Most executors added or removed at once; 0: no limit", ge=0)
    ] = 4
    stabilisation_s: Annotated[
        float, setting("Wait after any action on the cluster", unit="s", ge=0)
    ] = 30.0
    scale_in_delay_s: Annotated[
        float,
        setting("Scale in only to the largest number asked for in this time", unit="s", ge=0),
    ] = 60.0
    actions_per_hour: Annotated[
        int, setting("Most actions by the engine itself in an hour; 0: no limit", ge=0)
    ] = 20
    most_flips: Annotated[
        int, setting("Changes between scaling out and in before it counts as flapping", ge=1)
    ] = 4
    flap_window_s: Annotated[float, setting("Time in which they count", unit="s", ge=1)] = 1800.0
    excluded_hours: Annotated[
        str, setting("Hours without actions by the engine itself, e.g. 22-6", unit="UTC")
    ] = ""
    move_bytes_per_hour: Annotated[
        float, setting("Most state moved in an hour; 0: no limit", unit="bytes", ge=0)
    ] = 4e9

    def __post_init__(self) -> None:
        parse_hours(self.excluded_hours)


class Criteria(Struct, frozen=True, kw_only=True):
    """What the engine may do by itself in mode "auto within criteria"."""

    scale_out: Annotated[bool, setting("Scale out")] = True
    scale_in: Annotated[bool, setting("Scale in")] = True
    rebalance: Annotated[bool, setting("Move operators")] = True
    reslice: Annotated[bool, setting("Hand key groups from slice to slice")] = True
    shares: Annotated[bool, setting("Share the cores out anew among operators")] = True
    largest_step: Annotated[int, setting("Most executors added or removed at once", ge=1)] = 2
    most_move_bytes: Annotated[float, setting("Most state moved at once", unit="bytes", ge=0)] = 1e9
    hours: Annotated[str, setting("Only in these hours, e.g. 8-18; empty: always", unit="UTC")] = ""
    least_judged: Annotated[int, setting("Only methods with so many judged actions here", ge=0)] = 0
    least_effective_share: Annotated[
        float, setting("... of which this share was effective", ge=0, le=1, unit="share")
    ] = 0.5

    def __post_init__(self) -> None:
        parse_hours(self.hours)


def _reachable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:  # of the port or a bracket
        return False


def guard_group(cluster: str) -> str:
    """Name of the settings of a cluster's guards."""
    return f"guards:{cluster}"


def criteria_group(cluster: str) -> str:
    """Name of the settings that say what the engine may do by itself in a cluster."""
    return f"criteria:{cluster}"


class RecordSettings(Struct, frozen=True, kw_only=True):
    """How live runs are recorded and for how long they are kept."""

    flush_s: Annotated[float, setting("Seconds between writes to disk", unit="s", ge=1)] = 30.0
    keep_days: Annotated[int, setting("Days that a live run is kept", unit="days", ge=1)] = 30
    keep_gb: Annotated[
        float,
        setting("Room for live runs; the oldest go first", label="Room on disk", unit="GB", ge=0.1),
    ] = 20.0
