"""A host: the driver process of one cluster, running the operators placed there.

Where an operator should run is kept in the store. A host starts those of its module
that are placed with it, so a move is a change of placement: the old host lets go at a
batch boundary, the new one takes the lease and resumes from the same checkpoint. It
reports which operators its module declares, so that no other is moved there.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Placement, Store
from weir.controllers.engine.stored import failover_settings
from weir.controllers.model.command import (
    Action,
    DropState,
    RestartOperator,
    RewriteState,
    StartOperator,
    StopOperator,
)
from weir.controllers.model.failover import FailoverSettings
from weir.controllers.model.sample import OperatorStatus
from weir.metrics.agent.agent import Agent
from weir.metrics.agent.commands import Handler
from weir.metrics.agent.executors import SparkExecutors
from weir.metrics.agent.track import OperatorFacts
from weir.metrics.store.redis_store import RedisStore
from weir.metrics.store.where import REDIS_URL
from weir.pipeline.edges.source import EdgeSource
from weir.pipeline.hosts.handover import Handover
from weir.pipeline.hosts.jvm import end_with_jvm
from weir.pipeline.hosts.operator import Operator, check, is_local
from weir.pipeline.hosts.operator_commands import OperatorCommands
from weir.pipeline.hosts.pools import Pools
from weir.pipeline.hosts.runner import Runner
from weir.pipeline.hosts.session import LOCAL_CHECKPOINTS, create_session, executors_reach
from weir.pipeline.hosts.slices import Slices
from weir.pipeline.hosts.warm import warm_up
from weir.pipeline.local.ports import LOOPBACK

log = logging.getLogger(__name__)

STEP_S = 0.1
SETTINGS_S = 5.0
WARM_AFTER_S = 10.0


@dataclass(frozen=True)
class HostSettings:
    """What a host needs to know to start."""

    name: str
    master: str
    redis_url: str
    place: tuple[str, ...] = ()  # operators to place here if they are placed nowhere yet
    executors: int = 1
    min_executors: int = 1
    max_executors: int = 4
    cores: int = 1
    period_s: float = 10.0
    checkpoints: Path = Path("checkpoints")
    local_dir: Path | None = None
    memory: str = "512m"  # of an executor
    address: str = LOOPBACK  # where executors reach the driver
    bind: str | None = None  # where it listens, if that is another
    conf: tuple[tuple[str, str], ...] = ()  # settings of Spark, which hold before Weir's own


def _is_local(operator: Operator) -> bool:
    return operator.checkpoint is None or is_local(operator.checkpoint)


class Host:
    """Runs operators until `stop`; `run` blocks."""

    def __init__(
        self,
        settings: HostSettings,
        operators: Sequence[Operator],
        store: Store | None = None,
    ) -> None:
        self.settings = settings
        self.store = store or RedisStore.at(settings.redis_url)
        good, bad = check(operators)
        for error in bad:
            log.error("%s", error)
        self._bad = bad
        self._operators = good
        self._lock = threading.RLock()
        self._stop_event = threading.Event()
        self._halted_event = threading.Event()
        self._placed: dict[str, Placement] = {}
        self._slices = Slices(self.store, good)
        # What Spark starts for the driver learns it from here: an option would be shown.
        os.environ[REDIS_URL] = settings.redis_url
        self.spark: SparkSession = create_session(
            settings.master,
            settings.name,
            executors=settings.executors,
            max_executors=settings.max_executors,
            cores=settings.cores,
            memory=settings.memory,
            address=settings.address,
            bind=settings.bind,
            local_dir=settings.local_dir,
            conf={
                **(LOCAL_CHECKPOINTS if all(map(_is_local, good.values())) else {}),
                **dict(settings.conf),
            },
        )
        self.spark.dataSource.register(EdgeSource)
        self.executors = SparkExecutors(
            self.spark, settings.min_executors, settings.max_executors, settings.executors
        )
        self.commands = OperatorCommands(
            settings.name, self.store, self._lock, lambda: self._runners, self._see
        )
        handlers: dict[type[Action], Handler] = {
            RewriteState: lambda action, report: self._handover.rewrite(action, report),
            DropState: lambda action, report: self._handover.drop(action, report),
            StartOperator: self.commands.start,
            StopOperator: self.commands.stop,
            RestartOperator: self.commands.restart,
        }
        self.agent = Agent(
            self.spark,
            settings.name,
            self.store,
            period_s=settings.period_s,
            executors=self.executors,
            facts=self._facts,
            handlers=handlers,
            hosted=True,
            declared=good,
        )
        self._handover = Handover(
            self.spark,
            self.store,
            self.agent.holder,
            settings.redis_url,
            settings.checkpoints,
            good,
        )
        self._pools = Pools(self.spark, self.store, settings.name, self._running, self._cores)
        # Replaced as a whole, never changed: three threads go through it.
        self._runners = {n: self._runner_of(o) for n, o in good.items() if o.unsliced}

    def _runner_of(self, operator: Operator) -> Runner:
        return Runner(
            operator,
            self.spark,
            self.store,
            self.agent.holder,
            self.settings.redis_url,
            self.settings.checkpoints,
            confirm=self._confirm,
        )

    def run(self) -> None:
        """Keep the operators in the wanted state until told to stop."""
        end_with_jvm(self._halted_event)
        self.agent.start()
        self._insist(self._slices.begin)
        self._place()
        if self.settings.address != LOOPBACK:  # a job waits for executors, which may take long
            threading.Thread(target=self._check_checkpoints, name="weir-reach", daemon=True).start()
        threading.Thread(target=self._keep_leases, name="weir-leases", daemon=True).start()
        self._pools.keep(self._halted_event)
        threading.Thread(target=self._warm_up, name="weir-warm-up", daemon=True).start()
        try:
            while not self._stop_event.wait(STEP_S):
                self._read_placement()
                self._follow_slices()
                for name, runner in self._runners.items():
                    self._step(name, runner)
            self._halt()
        finally:
            self._halted_event.set()
        self.agent.close()
        self.spark.stop()

    def _step(self, name: str, runner: Runner) -> None:
        try:
            with self._lock:
                runner.step(self._is_wanted(name))
        except Exception as error:  # one operator's trouble must not become another's
            self.store.note_fault(f"operator {name}", error)
            self._stop_event.wait(STEP_S)

    def _check_checkpoints(self) -> None:
        """State that executors write where no other machine sees it is lost with the first move:
        rather stop than find out then."""
        if not executors_reach(self.spark, self.settings.checkpoints):
            log.error(
                "executors do not reach the checkpoints' folder %s: put it on storage that every "
                "machine has at this path, and name it with --checkpoints; this host stops",
                self.settings.checkpoints,
            )
            self.stop()

    def stop(self) -> None:
        """Make `run` end: operators stop at a batch boundary, leases are given back."""
        self._stop_event.set()

    def _warm_up(self) -> None:
        """Once its own operators have begun: what it may have to take over must begin soon."""
        if self._stop_event.wait(WARM_AFTER_S):
            return
        try:
            took_s = warm_up(self.spark, self.settings.redis_url, self.settings.name)
            log.info("warm after %.1f s", took_s)
        except Exception as error:  # it only saves time
            log.info("not warmed up: %s", error)

    def _keep_leases(self) -> None:
        """Renew them for as long as a query may write, whatever the one that steps waits for."""
        failover, looked_at = self._failover(), time.monotonic()
        while not self._halted_event.wait(failover.renew_s):
            if time.monotonic() - looked_at > SETTINGS_S:
                failover, looked_at = self._failover(failover), time.monotonic()
            for name, runner in list(self._runners.items()):
                try:
                    runner.renew(failover)
                except Exception as error:
                    self.store.note_fault(f"lease of operator {name}", error)

    def _running(self) -> list[str]:
        return [n for n, r in self._runners.items() if r.status is OperatorStatus.RUNNING]

    def _cores(self) -> int:
        return len(self.executors.present()) * self.settings.cores

    def _failover(self, before: FailoverSettings | None = None) -> FailoverSettings:
        """How long leases are, as people set it."""
        try:
            return failover_settings(self.store)
        except (RedisError, OSError):
            return before or FailoverSettings()

    def _halt(self) -> None:
        """Stop every operator, each at its own batch boundary."""
        left = list(self._runners.values())
        while left := [runner for runner in left if not self._let_go(runner)]:
            time.sleep(STEP_S)

    def _let_go(self, runner: Runner) -> bool:
        try:
            with self._lock:
                return runner.stop("the host has stopped")
        except (RedisError, OSError):  # it has ended before the store was asked
            log.info("the store is away; leases end by themselves")
            return True

    def _place(self) -> None:
        """Place what nobody has placed yet; an operator placed elsewhere stays there."""
        for name in self.settings.place:
            found = self._slices.named(name)
            if not found:
                log.error("operator '%s' is to run here, but is not declared", name)
            for one in found:
                here = Placement(operator=one, cluster=self.settings.name)
                self._insist(partial(self.store.place_if, here, seen=None))

    def _insist(self, ask: Callable[[], object]) -> None:
        """Ask until the store answers."""
        while not self._stop_event.is_set():
            try:
                ask()
                return
            except (RedisError, OSError):
                time.sleep(0.5)

    def _follow_slices(self) -> None:
        """A runner for every slice there is; one whose slice has other groups now, or is no
        more, is replaced or dropped as soon as it has stopped."""
        runners = dict(self._runners)
        for name in self._slices.names():
            runner = runners.get(name)
            if runner is None or (runner.idle and not self._slices.current(runner.operator)):
                runners[name] = self._runner_of(self._slices.operator(name))
        for name, runner in self._runners.items():
            if runner.idle and runner.operator.share and not self._slices.exists(name):
                del runners[name]
        if runners.keys() != self._runners.keys() or any(
            runners[n] is not r for n, r in self._runners.items()
        ):
            self._runners = runners

    def _confirm(self, operator: Operator) -> bool:
        """Whether the operator is still current, as the store says now: under the lease nobody else
        changes it."""
        if operator.share is not None:
            self._slices.read()
        return self._slices.current(operator)

    def _see(self, placed: dict[str, Placement]) -> None:
        self._placed = placed

    def _read_placement(self) -> None:
        try:
            self._see(self.store.placements())
            self._slices.read()
        except (RedisError, OSError):
            log.debug("the store is away; going on as before")
        except Exception as error:
            self.store.note_fault("the look at placements", error)

    def _is_wanted(self, name: str) -> bool:
        placed = self._placed.get(name)
        if not self._slices.current(self._runners[name].operator):
            return False
        return bool(placed and placed.cluster == self.settings.name and placed.wanted == "running")

    def _here(self, name: str) -> bool:
        placed = self._placed.get(name)
        return bool(placed and placed.cluster == self.settings.name)

    def _facts(self) -> list[OperatorFacts]:
        running = [
            replace(runner.facts(), weight=w, first_cores=first)
            for name, runner in self._runners.items()
            for w, first in (self._pools.shares.get(name, (None, None)),)
            if (self._here(name) and (runner.operator.share is None or self._slices.exists(name)))
            or runner.status is OperatorStatus.RUNNING
        ]
        broken = [
            OperatorFacts(
                name=error.field or "unnamed", status=OperatorStatus.FAILED, message=str(error)
            )
            for error in self._bad
            if error.field not in self._operators
        ]
        return running + broken
