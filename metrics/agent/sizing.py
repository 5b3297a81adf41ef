"""The size of an application: what was asked for, what is there, and bringing them together."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from weir.controllers.model.errors import InvalidInput, Refused
from weir.metrics.agent.overdue import Overdue

Progress = Callable[[float, str], None]


class Sizing(ABC):
    """Asks for executors, waits for them, and looks after them; how, the subclass knows.

    What was asked stays asked until something else is: executors that do not come are asked
    for again, and those that are too many are told to go, if they have not been yet.
    """

    poll_s = 0.25

    def __init__(self, minimum: int, maximum: int, wanted: int) -> None:
        self.minimum = minimum
        self.maximum = maximum
        self.wanted = wanted
        self.granted: int | None = None
        self._overdue = Overdue()

    @abstractmethod
    def why_not(self) -> str:
        """Why this application cannot be scaled; empty if it can."""

    @abstractmethod
    def present(self) -> list[str]:
        """Ids of the executors that are there, oldest first."""

    @abstractmethod
    def _staying(self) -> list[str]:
        """Those of them that have not been told to go."""

    @abstractmethod
    def _request(self, target: int) -> None:
        """Ask the cluster manager for a total."""

    @abstractmethod
    def _decommission(self, ids: list[str]) -> None:
        """Tell these to go once their tasks are done."""

    @abstractmethod
    def _ask_granted(self) -> int | None:
        """How many the cluster manager has granted; None where that is unknown."""

    def scale_to(
        self, target: int, progress: Progress = lambda share, text: None, timeout_s: float = 90.0
    ) -> str:
        """Bring the application to `target` executors and wait until they are there."""
        if not self.minimum <= target <= self.maximum:
            raise InvalidInput(
                f"{target} executors are outside the limits {self.minimum} to {self.maximum}",
                field="executors",
            )
        reason = self.why_not()
        if reason:
            raise Refused(reason)
        began = time.monotonic()
        before = len(self.present())
        self.wanted = target
        self._overdue = Overdue()
        self._bring_to(target)
        granted_s = None
        while (took_s := time.monotonic() - began) < timeout_s:
            there = len(self.present())
            if granted_s is None and target > before:
                self.granted = self._ask_granted()
                granted_s = took_s if self.granted == target else None
            if there == target:
                grant = "" if granted_s is None else f", granted after {granted_s:.1f} s"
                return f"{before} to {target} executors{grant}, there after {took_s:.1f} s"
            done = abs(there - before) / max(abs(target - before), 1)
            told = "" if self.granted is None else f"{self.granted} granted, "
            progress(min(done, 0.99), f"{told}{there} of {target} executors are there")
            time.sleep(self.poll_s)
        return so_far(before, target, len(self.present()), timeout_s)

    def watch(self, there: int, now: float) -> str:
        """Look after what was asked for, once a period; says in words what is wrong."""
        if there == self.wanted or self.wanted <= 0 or self.why_not():
            self._overdue = Overdue()
            self.granted = None if self.granted is None else there
            return ""
        self.granted = self._ask_granted()
        if self._overdue.look(self.wanted, there, now):
            self._bring_to(self.wanted)
        return self._overdue.words(self.wanted, there, self.granted, now)

    def _bring_to(self, target: int) -> None:
        surplus = self._staying()[target:]
        if surplus:
            self._decommission(surplus)
        self._request(target)


def so_far(before: int, target: int, there: int, after_s: float) -> str:
    """How far it came in the time there was; raises if it came no nearer to the target.

    >>> so_far(before=1, target=4, there=3, after_s=90.0)
    '3 of 4 executors are there after 90 s; the rest is asked for until it comes'
    >>> so_far(before=5, target=2, there=3, after_s=90.0)
    '3 executors are there after 90 s instead of 2; the rest is still to go'
    """
    if there == target:
        return f"{before} to {target} executors, there after {after_s:.0f} s"
    if there < target:
        text = f"{there} of {target} executors are there after {after_s:.0f} s"
        rest = "the rest is asked for until it comes"
        none = "none has come: see the cluster manager for free cores"
    else:
        text = f"{there} executors are there after {after_s:.0f} s instead of {target}"
        rest = "the rest is still to go"
        none = "none has gone: tasks may be long, or spark.decommission.enabled is not set"
    if abs(target - there) < abs(target - before):
        return f"{text}; {rest}"
    raise Refused(f"{text}; {none}; {rest}")
