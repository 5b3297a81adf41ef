"""How the rate of a load generator changes over time.

constant    the rate itself
ramp        from the rate to another within a time, then that
step        the rate for a time, then the other
burst       the rate, and once per cycle the other for a while
daily       a day as a wave: the rate at night, the other at noon
trace       the shape of a recorded load: its mean is the rate
"""

from math import cos, pi
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from weir.controllers.model.settings import setting

Kind = Literal["constant", "ramp", "step", "burst", "daily", "trace"]
KINDS: tuple[str, ...] = get_args(Kind)
MOST_POINTS = 1000
"""Of a trace; a longer one is kept as the means of this many parts."""

Rate = Annotated[float, Meta(ge=0, le=1e9)]


class Profile(Struct, frozen=True, kw_only=True):
    """One of them."""

    kind: Annotated[Kind, setting("How the rate changes over time")] = "constant"
    to_rows_per_s: Annotated[
        float, setting("The other rate", label="To", unit="rows/s", ge=0, le=1e9)
    ] = 0.0
    over_s: Annotated[
        float, setting("Time of a ramp, until a step, of a cycle or a day", unit="s", ge=1, le=1e7)
    ] = 60.0
    lasts_s: Annotated[float, setting("How long a burst lasts", unit="s", ge=0, le=1e7)] = 10.0
    speed_up: Annotated[
        float, setting("How many times as fast a trace runs", label="Speed-up", ge=1e-3, le=1e6)
    ] = 1.0
    point_s: Annotated[float, Meta(gt=0)] = 1.0  # of a trace: between two points
    points: Annotated[tuple[Rate, ...], Meta(max_length=MOST_POINTS)] = ()  # in means of the trace


def profile_rate(rows_per_s: float, profile: Profile, since_s: float) -> float:
    """Rows per second at a time after the profile began.

    >>> ramp = Profile(kind="ramp", to_rows_per_s=60, over_s=5)
    >>> profile_rate(50, ramp, 3), profile_rate(50, ramp, 99)
    (56.0, 60.0)
    >>> burst = Profile(kind="burst", to_rows_per_s=90, over_s=60, lasts_s=10)
    >>> [profile_rate(50, burst, s) for s in (0, 49, 51, 61, 115)]
    [50.0, 50.0, 90.0, 50.0, 90.0]
    """
    return max(0.0, float(_at(rows_per_s, profile, max(0.0, since_s))))


def _at(rate: float, profile: Profile, since_s: float) -> float:
    to, over_s = profile.to_rows_per_s, profile.over_s
    match profile.kind:
        case "ramp":
            return rate + (to - rate) * min(1.0, since_s / over_s)
        case "step":
            return rate if since_s < over_s else to
        case "burst":
            return to if since_s % over_s >= over_s - profile.lasts_s else rate
        case "daily":
            return rate + (to - rate) * (1 - cos(2 * pi * since_s / over_s)) / 2
        case "trace" if profile.points:
            at = int(since_s * profile.speed_up / profile.point_s)
            return rate * profile.points[at % len(profile.points)]
    return rate


def most_rows_per_s(rows_per_s: float, profile: Profile) -> float:
    """The highest rate that it reaches.

    >>> most_rows_per_s(50, Profile(kind="trace", points=(0.5, 1.5)))
    75.0
    """
    if profile.kind == "trace":
        return rows_per_s * max(profile.points, default=1.0)
    return rows_per_s if profile.kind == "constant" else max(rows_per_s, profile.to_rows_per_s)


def profile_words(profile: Profile) -> str:
    """What it does, for people; empty where the rate is constant.

    >>> profile_words(Profile(kind="step", to_rows_per_s=600, over_s=30))
    'a step to 600 rows/s after 30 s'
    """
    to, over = f"{profile.to_rows_per_s:,.10g} rows/s", f"{profile.over_s:g} s"
    match profile.kind:
        case "ramp":
            return f"a ramp to {to} within {over}"
        case "step":
            return f"a step to {to} after {over}"
        case "burst":
            return f"bursts of {to} for {profile.lasts_s:g} s every {over}"
        case "daily":
            return f"days of {over} with {to} at noon"
        case "trace":
            day_s = len(profile.points) * profile.point_s / profile.speed_up
            return f"a trace at {profile.speed_up:g} times its speed, again every {day_s:,.0f} s"
    return ""
