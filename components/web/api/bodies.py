"""What programs send. Anything else is refused before a route sees it."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from weir.controllers.model.profile import Kind
from weir.controllers.model.sample import Mode
from weir.controllers.model.shares import MOST_WEIGHT, ShareSource

Comment = Annotated[str, Field(max_length=2000, description="Why; it goes into the audit trail")]
RequestId = Annotated[
    str | None,
    Field(
        pattern="^[A-Za-z0-9_-]{8,64}$",
        description="Chosen by the caller: of one caller, the same id twice is one action",
    ),
]


class Body(BaseModel):
    """Every field known, no number that is none."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, str_max_length=4000)


class ReasonBody(Body):
    """A decision with its reason."""

    comment: Comment = ""


class ScaleBody(ReasonBody):
    """How many executors a cluster should have."""

    executors: Annotated[int, Field(ge=0, le=100_000)]
    id: RequestId = None


class MoveBody(ReasonBody):
    """Where an operator should run."""

    cluster: Annotated[str, Field(min_length=1, max_length=200)]
    id: RequestId = None


class ResliceBody(ReasonBody):
    """A number of slices, or key groups that go to a slice; the next free name makes a new one."""

    slices: Annotated[int | None, Field(ge=1, le=256)] = None
    groups: Annotated[list[Annotated[int, Field(ge=0, le=4095)]], Field(max_length=4096)] = []
    to: Annotated[str, Field(max_length=200, description="The slice that takes them")] = ""
    cluster: Annotated[str, Field(max_length=200, description="Where a new slice runs")] = ""
    plan_hash: Annotated[str | None, Field(max_length=64, description="As it was predicted")] = None
    id: RequestId = None


class SharesBody(ReasonBody):
    """Weights by operator; those not named have 1. Left out, the weights stay."""

    weights: Annotated[
        dict[str, Annotated[int, Field(ge=1, le=MOST_WEIGHT)]] | None, Field(max_length=1000)
    ] = None
    source: Annotated[
        ShareSource, Field(description="hand: they hold; model: the engine may set others")
    ] = ShareSource.HAND


class ApproveBody(ReasonBody):
    """An approval holds for exactly the plan that was shown."""

    plan_hash: Annotated[str, Field(max_length=64, description="As the recommendation shows it")]


class RollbackBody(ReasonBody):
    """With the hash of the undoing's plan, nothing else is done."""

    plan_hash: Annotated[str | None, Field(max_length=64)] = None
    id: RequestId = None


class ProfileBody(Body):
    """How a rate changes over time."""

    kind: Kind
    to_rows_per_s: Annotated[float, Field(ge=0, le=1e9, description="The other rate")] = 0.0
    over_s: Annotated[
        float, Field(ge=1, le=1e7, description="Of a ramp, until a step, of a cycle or a day")
    ] = 60.0
    lasts_s: Annotated[float, Field(ge=0, le=1e7, description="Of a burst")] = 10.0
    speed_up: Annotated[float, Field(ge=1e-3, le=1e6, description="Of a trace")] = 1.0
    trace: Annotated[
        str,
        StringConstraints(max_length=2_000_000),
        Field(description="CSV with times and rates; the rate asked for is its mean"),
    ] = ""


class RateBody(ReasonBody):
    """What a load generator should send; what is left out stays."""

    rows_per_s: Annotated[float | None, Field(ge=0, le=1e9)] = None
    paused: bool | None = None
    skew: Annotated[
        float | None, Field(ge=0, le=10, description="Exponent of Zipf's law of the keys")
    ] = None
    profile: ProfileBody | None = None


class ModeBody(ReasonBody):
    """How much a cluster lets the engine do."""

    mode: Mode


class PauseBody(ReasonBody):
    """Whether every automatic action is stopped."""

    paused: bool


class SettingsBody(ReasonBody):
    """Settings to change; null brings one back to its default."""

    values: Annotated[dict[str, Any], Field(max_length=200)]


class TableBody(ReasonBody):
    """A Q-table, as the export has it."""

    table: Annotated[dict[str, Any], Field(max_length=20)]
