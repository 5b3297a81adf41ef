"""Carrying out commands: each once, refused when it came too late or from an old engine."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from redis.exceptions import RedisError

from weir.controllers.engine.ports import Store
from weir.controllers.model.command import Action, Command, CommandResult, CommandStatus, describe
from weir.controllers.model.errors import WeirError
from weir.controllers.model.placement import LEADER, cluster_lease

log = logging.getLogger(__name__)

Report = Callable[[float, str], None]
Handler = Callable[[Any, Report], str]


def why_refused(command: Command, now: float, newest_fence: int) -> CommandStatus | None:
    """The status of a command that must not be carried out, else None."""
    if now > command.expires_at:
        return CommandStatus.EXPIRED
    if command.fence is not None and command.fence < newest_fence:
        return CommandStatus.REFUSED
    return None


class CommandRunner(threading.Thread):
    """Takes a cluster's commands from the store, one at a time, oldest first."""

    def __init__(
        self,
        store: Store,
        cluster: str,
        holder: str,
        handlers: Mapping[type[Action], Handler],
        poll_s: float = 0.4,
    ) -> None:
        super().__init__(name="weir-commands", daemon=True)
        self._store = store
        self._cluster = cluster
        self._holder = holder
        self._handlers = handlers
        self._poll_s = poll_s
        self._stop_event = threading.Event()
        self._newest_fence = 0
        self._carried_out: dict[str, float] = {}  # id -> when it expires; never twice until then

    def run(self) -> None:
        while not self._stop_event.wait(self._poll_s):
            try:
                self.poll()
            except (RedisError, OSError) as error:
                log.debug("the store is away: %s", error)
            except Exception as error:
                self._store.note_fault("the look for commands", error)

    def poll(self) -> None:
        """Carry out what is open."""
        # Whoever holds the cluster's name is its one agent. So what an agent before
        # us had begun is ours to finish: every action can be done again.
        lease = self._store.lease(cluster_lease(self._cluster))
        if lease is not None and lease.holder == self._holder:
            for command in self._store.open_commands(self._cluster):
                self._try(command)

    def _try(self, command: Command) -> None:
        """Carry out one; if even refusing it fails, the others still get their turn."""
        try:
            self._carry_out(command)
        except (RedisError, OSError):
            raise
        except Exception as error:
            self._store.note_fault(f"command {command.id}", error)

    def _carry_out(self, command: Command) -> None:
        if command.id in self._carried_out:
            # The store knows better unless somebody has put it back there.
            self._report(command, CommandStatus.REFUSED, "not carried out: it was done before")
            return
        leader = self._store.lease(LEADER)
        self._newest_fence = max(self._newest_fence, leader.token if leader else 0)
        refused = why_refused(command, time.time(), self._newest_fence)
        if refused:
            why = "it came too late" if refused is CommandStatus.EXPIRED else "a newer engine leads"
            if refused is CommandStatus.REFUSED and leader and command.fence == leader.token:
                why = (
                    "a newer engine than the one that leads was here before; if Redis was replaced "
                    f"or emptied, restart the agent of {self._cluster}"
                )
            self._report(command, refused, f"not carried out: {why}")
            return
        handler = self._handlers.get(type(command.action))
        if handler is None:
            self._report(command, CommandStatus.REFUSED, "this cluster's agent cannot do that")
            return
        if not self._store.claim(command.id, self._holder, time.time(), take_over=True):
            return
        log.info("command %s: %s", command.id, describe(command.action))
        self._report(command, CommandStatus.RUNNING, "", 0.0)
        try:
            message = handler(
                command.action,
                lambda share, text: self._report(command, CommandStatus.RUNNING, text, share),
            )
            self._end(command, CommandStatus.DONE, message)
        except WeirError as error:
            self._end(command, CommandStatus.FAILED, str(error))
        except (RedisError, OSError):
            raise
        except Exception as error:
            log.exception("command %s failed", command.id)
            self._end(command, CommandStatus.FAILED, f"{type(error).__name__}; see the log")

    def _end(self, command: Command, status: CommandStatus, message: str) -> None:
        self._report(command, status, message, 1.0 if status is CommandStatus.DONE else None)
        now = time.time()
        left = {i: until for i, until in self._carried_out.items() if until >= now}
        self._carried_out = {**left, command.id: command.expires_at}

    def _report(
        self, command: Command, status: CommandStatus, message: str, progress: float | None = None
    ) -> None:
        self._store.report(
            CommandResult(
                id=command.id, status=status, at=time.time(), message=message, progress=progress
            )
        )

    def close(self) -> None:
        """Stop taking commands."""
        self._stop_event.set()
