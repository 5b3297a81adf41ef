"""Start, stop and restart an operator of one cluster, as the agent is told to.

A command changes what is wanted in the store, where every host looks, and then waits until the
runner here has got there.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from msgspec.structs import replace

from weir.controllers.engine.ports import Placement, Placements
from weir.controllers.model.command import RestartOperator, StartOperator, StopOperator
from weir.controllers.model.errors import NotFound, Refused
from weir.controllers.model.sample import OperatorStatus
from weir.metrics.agent.commands import Report
from weir.pipeline.hosts.runner import Runner

TIMEOUT_S = 60.0


class OperatorCommands:
    """Each method carries out one kind of command and says in a sentence how it went."""

    def __init__(
        self,
        cluster: str,
        store: Placements,
        lock: AbstractContextManager[Any],  # held by whoever changes a runner
        runners: Callable[[], Mapping[str, Runner]],
        see: Callable[[dict[str, Placement]], None],  # told what is wanted from now on
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._lock = lock
        self._runners = runners
        self._see = see

    def start(self, action: StartOperator, report: Report) -> str:
        """Let it run; one that has failed is tried again at once."""
        runner = self.want(action.operator, "running")
        with self._lock:
            if runner.status is OperatorStatus.FAILED:
                runner.restart()
        return self._await(runner, OperatorStatus.RUNNING, "is running", report)

    def stop(self, action: StopOperator, report: Report) -> str:
        """Let it stop where it is, at a batch boundary."""
        runner = self.want(action.operator, "stopped")
        return self._await(
            runner, OperatorStatus.STOPPED, "has stopped at a batch boundary", report
        )

    def restart(self, action: RestartOperator, report: Report) -> str:
        """Stop it at a batch boundary and start it again."""
        runner = self.want(action.operator, "running")
        report(0.1, "stopping at a batch boundary")
        with self._lock:
            runner.restart()
        return self._await(runner, OperatorStatus.RUNNING, "is running again", report)

    def want(self, name: str, wanted: str) -> Runner:
        """Ask for it where everybody looks; a move that begins meanwhile stays as it is."""
        while True:
            placed = self._store.placements()
            self._see(placed)
            runner = self._runner(name, placed)
            after = replace(placed[name], wanted=wanted)
            if self._store.place_if(after, seen=placed[name]):
                self._see({**placed, name: after})
                return runner

    def _runner(self, name: str, placed: Mapping[str, Placement]) -> Runner:
        runner = self._runners().get(name)
        if runner is None:
            raise NotFound(f"there is no operator '{name}' in cluster {self._cluster}")
        if name not in placed or placed[name].cluster != self._cluster:
            raise Refused(f"operator '{name}' is not placed in cluster {self._cluster}")
        return runner

    def _await(self, runner: Runner, status: OperatorStatus, done: str, report: Report) -> str:
        began = time.monotonic()
        while time.monotonic() - began < TIMEOUT_S:
            if runner.status is status:
                return f"{runner.operator.name} {done} after {time.monotonic() - began:.1f} s"
            report(0.5, runner.message or str(runner.status))
            time.sleep(0.2)
        raise Refused(
            f"{runner.operator.name} is {runner.status} after {TIMEOUT_S:.0f} s: "
            f"{runner.message or 'no reason'}"
        )
