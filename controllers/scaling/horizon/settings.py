"""What can be set: the target, how sure to be, how calm to stay."""

from typing import Annotated

from msgspec import Struct

from weir.controllers.model.settings import setting


class HorizonSettings(Struct, frozen=True, kw_only=True):
    """The target and the price of missing it. Everything else is learned."""

    target_latency_s: Annotated[
        float, setting("Latency to stay below", ge=0.1, le=86_400, unit="s")
    ] = 30.0
    probability: Annotated[
        float,
        setting(
            "Share of the time in which the target is to be kept", ge=0.5, le=0.9999, unit="share"
        ),
    ] = 0.995
    actions_per_day: Annotated[
        float,
        setting(
            "Changes per day to get by with; more only where Spark's allocation would make more",
            ge=1,
            le=10_000,
            unit="a day",
        ),
    ] = 24.0
    executor_start_s: Annotated[
        float,
        setting(
            "Time until a new executor works, until it has been measured", ge=0, le=3600, unit="s"
        ),
    ] = 15.0
