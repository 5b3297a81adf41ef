"""Carries out what is ordered of hosts: starts, ends, and forgets those that ended."""

import logging
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Part, Store
from weir.controllers.engine.stored import cluster_settings
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.hosting import HostLauncher, HostOrder, HostState
from weir.pipeline.local.process import end, spawn

log = logging.getLogger(__name__)

LAUNCHER = "launcher"


class Launching:
    """Looks at the orders and lets a `HostLauncher` follow them; `step` is called often."""

    def __init__(
        self, store: Store, launcher: HostLauncher, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._launcher = launcher
        self._clock = clock

    def step(self) -> list[str]:
        """Do what is ordered now; what was done, in sentences."""
        now = self._clock()
        part = Part(id=LAUNCHER, kind=LAUNCHER, name=LAUNCHER, at=now, pid=os.getpid())
        self._store.beat(part)
        done, most = [], cluster_settings(self._store).most
        for name, order in self._store.host_orders().items():
            names = self._launcher.names()
            if order.wanted is HostState.RUNNING and name not in names:
                if len(names) >= most:  # somebody else wrote the order, or the limit
                    continue
                self._launcher.start(order)
                done.append(f"cluster {name} is starting, as {order.by} asked")
            elif order.wanted is HostState.ENDED and self._launcher.end(name):
                self._note_end(order, now)
                done.append(f"cluster {name} has ended")
        return done

    def _note_end(self, order: HostOrder, now: float) -> None:
        said = AuditEntry(
            at=now, by=LAUNCHER, action="cluster.forgotten", subject=order.cluster,
            why="it was emptied and has ended",
        )  # fmt: skip
        if order.cluster in self._store.clusters():
            self._store.forget(order.cluster, said)
        self._store.change_host_order(order, None, said)


class TemplateLauncher:
    """Starts hosts by a command, e.g. `spark-submit --deploy-mode client weir_host.py {name}`.

    The template is split into words first and filled in after that, so that a name can never
    become a word of its own; no shell is asked.
    """

    def __init__(self, template: str, folder: Path) -> None:
        self._words = shlex.split(template)
        if not any("{name}" in word for word in self._words):
            raise InvalidInput("the command must have {name} somewhere", field="command")
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def argv(self, order: HostOrder) -> Sequence[str]:
        """The command of one host.

        >>> order = HostOrder(cluster="c", wanted=HostState.RUNNING, at=0.0, by="ada", executors=2)
        >>> TemplateLauncher("submit host.py {name} --executors {executors}", Path()).argv(order)
        ['submit', 'host.py', 'c', '--executors', '2']
        """
        values = {
            "{name}": order.cluster, "{executors}": str(order.executors),
            "{max_executors}": str(order.max_executors), "{cores}": str(order.cores),
        }  # fmt: skip
        words = []
        for word in self._words:
            for mark, value in values.items():
                word = word.replace(mark, value)
            words.append(word)
        return words

    def start(self, order: HostOrder) -> None:
        """Run the command."""
        log_file = self._folder / f"host-{order.cluster}.log"
        self._processes[order.cluster] = spawn(self.argv(order), log_file)

    def end(self, cluster: str) -> bool:
        """Ask it to stop, and wait; also true of one that never ran here."""
        process = self._processes.pop(cluster, None)
        if process is not None:
            end(process)
        return True

    def names(self) -> set[str]:
        """The hosts that run."""
        return {name for name, p in self._processes.items() if p.poll() is None}
