"""What every scaler is: facts in, decision and memory out.

    decide(snapshot, memory, now) -> (decision, memory)

A scaler is made for one cluster from its settings and a `Scope`; it holds no
state of its own. What it must know next time is its memory: a frozen Struct that
encodes to plain JSON, so that it survives restarts and can be looked at. Time is
an argument and seeds are settings: the same arguments give the same answer.

    >>> from weir.controllers.scaling.registry import create
    >>> from weir.controllers.model.sample import Cluster
    >>> from weir.controllers.model.snapshot import Snapshot
    >>> scaler = create("fixed", {"executors": 3}, Scope(cluster="a"))
    >>> cluster = Cluster(name="a", executors=1, max_executors=8)
    >>> snapshot = Snapshot(at=0.0, period_s=1.0, clusters=(cluster,))
    >>> decision, memory = scaler.decide(snapshot, scaler.fresh(), now=0.0)
    >>> decision.executors
    3
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar, cast

import msgspec
from msgspec import Struct

from weir.controllers.model.decision import Decision
from weir.controllers.model.errors import UNREADABLE, InvalidInput
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.answers import cannot_tell
from weir.controllers.scaling.facts import ClusterFacts, Scope, observe

__all__ = ["Memory", "NoScalerSettings", "Scaler", "Scope"]


class Memory(Struct, frozen=True, kw_only=True):
    """What a scaler keeps from one decision to the next; plain data only."""


class NoScalerSettings(Struct, frozen=True, kw_only=True):
    """For a scaler with nothing to set."""


S = TypeVar("S", bound=Struct)
M = TypeVar("M", bound=Memory)


class Scaler(ABC, Generic[S, M]):
    """One way to decide how many executors a cluster should have.

    Subclasses name themselves and their two Structs and write `judge`; being a
    subclass in this package is all it takes to be in the registry.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # for a person, in a list of scalers
    settings_type: ClassVar[type[Struct]] = NoScalerSettings
    memory_type: ClassVar[type[Memory]] = Memory

    def __init__(self, settings: S, scope: Scope) -> None:
        self.settings = settings
        self.scope = scope

    def decide(self, snapshot: Snapshot, memory: M, now: float) -> tuple[Decision, M]:
        """The answer for this moment, and the memory to hand in next time."""
        return self.decide_on(observe(snapshot, self.scope), memory, now)

    def decide_on(self, facts: ClusterFacts | None, memory: M, now: float) -> tuple[Decision, M]:
        """The same for callers that have observed the scope already, e.g. to ask several scalers."""
        if facts is None:
            missing = cannot_tell(f"There is no figure of cluster {self.scope.cluster} yet.")
            return missing, memory
        return self.judge(facts, memory, now)

    @abstractmethod
    def judge(self, facts: ClusterFacts, memory: M, now: float) -> tuple[Decision, M]:
        """Decide on the cleaned figures of a cluster that is there."""

    def fresh(self) -> M:
        """The memory to begin with."""
        return cast(M, self.memory_type())

    def remember(self, plain: bytes | dict[str, Any] | None) -> M:
        """Memory from its JSON or plain (JSON-like) form; None gives a fresh one."""
        if plain is None:
            return self.fresh()
        try:
            if isinstance(plain, dict):
                return cast(M, msgspec.convert(plain, self.memory_type, str_keys=True))
            return cast(M, msgspec.json.decode(plain, type=self.memory_type))
        except UNREADABLE as error:
            raise InvalidInput(
                f"the memory of scaler '{self.name}' cannot be read: {error}", field="memory"
            ) from None
