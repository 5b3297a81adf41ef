"""What an agent can be told to do, and what it answers.

    pending -> running -> done
       |          +-----> failed
       +-> expired, refused

A command is carried out once: it is claimed by its id, and every action is
"make it so" rather than "one more", so a resumed one changes nothing twice.
"""

from enum import StrEnum

from msgspec import Struct

from weir.controllers.model.age import Time
from weir.controllers.model.slicing import Slicing


class CommandStatus(StrEnum):
    """Where a command stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    REFUSED = "refused"

    @property
    def final(self) -> bool:
        """Nothing will change any more."""
        return self not in (CommandStatus.PENDING, CommandStatus.RUNNING)


class ScaleTo(Struct, frozen=True, kw_only=True, tag="scale_to"):
    """Bring the cluster to this number of executors."""

    executors: int


class StartOperator(Struct, frozen=True, kw_only=True, tag="start_operator"):
    """Run an operator that is stopped."""

    operator: str


class StopOperator(Struct, frozen=True, kw_only=True, tag="stop_operator"):
    """Stop an operator at a batch boundary and leave it stopped."""

    operator: str


class RestartOperator(Struct, frozen=True, kw_only=True, tag="restart_operator"):
    """Stop an operator at a batch boundary and start it again."""

    operator: str


class RewriteState(Struct, frozen=True, kw_only=True, tag="rewrite_state"):
    """Write the checkpoints of an operator's new slices from those of the old ones."""

    operator: str
    before: Slicing  # the slices that change are held
    after: Slicing


class DropState(Struct, frozen=True, kw_only=True, tag="drop_state"):
    """Remove checkpoints of slices that nobody needs any more."""

    operator: str
    born: dict[str, int]  # slice -> the generation that named its checkpoint


Action = ScaleTo | StartOperator | StopOperator | RestartOperator | RewriteState | DropState


class Command(Struct, frozen=True, kw_only=True):
    """One action for one cluster's agent."""

    id: str
    cluster: str
    action: Action
    issued_at: Time
    expires_at: Time
    by: str = ""
    fence: int | None = None  # token of the engine that issued it; None: a person


class CommandResult(Struct, frozen=True, kw_only=True):
    """What has become of a command."""

    id: str
    status: CommandStatus
    at: Time
    message: str = ""
    progress: float | None = None  # 0..1


def describe(action: Action) -> str:
    """The action in words.

    >>> describe(ScaleTo(executors=3))
    'scale to 3 executors'
    """
    match action:
        case ScaleTo(executors=n):
            return f"scale to {n} executor{'' if n == 1 else 's'}"
        case StartOperator(operator=name):
            return f"start {name}"
        case StopOperator(operator=name):
            return f"stop {name}"
        case RestartOperator(operator=name):
            return f"restart {name}"
        case RewriteState(operator=name, before=before, after=after):
            return f"rewrite the state of {', '.join(after.changed(before))} of {name}"
        case DropState(operator=name, born=born):
            return f"drop {len(born)} old checkpoints of {name}"
