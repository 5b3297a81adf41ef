"""A host: the driver process of one cluster, running the operators placed there.

Where an operator should run is kept in the store. A host starts those of its module
that are placed with it, so a move is a change of placement: the old host lets go at a
batch boundary, the new one takes the lease and resumes from the same checkpoint. It
reports which operators its module declares, so that no other is moved there.
"""

import importlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Placement, Store
from weir.controllers.model.command import Action, RestartOperator, StartOperator, StopOperator
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.settings import build
from weir.controllers.model.snapshot import OperatorStatus
from weir.metrics.agent.agent import Agent
from weir.metrics.agent.commands import Handler, Report
from weir.metrics.agent.executors import Executors
from weir.metrics.agent.track import OperatorFacts
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.edges.source import EdgeSource
from weir.pipeline.hosts.operator import Operator, check, is_local
from weir.pipeline.hosts.runner import RENEW_S, Runner
from weir.pipeline.hosts.session import LOCAL_CHECKPOINTS, create_session

log = logging.getLogger(__name__)

STEP_S = 0.1


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


def load_operators(module: str, values: Mapping[str, str] | None = None) -> list[Operator]:
    """The operators of a module: its OPERATORS, or `operators(settings)` with its Settings."""
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise InvalidInput(f"the module '{module}' cannot be imported: {error}") from None
    make = getattr(found, "operators", None)
    if make is not None:
        return list(make(build(found.Settings, values or {})))
    operators = getattr(found, "OPERATORS", None)
    if operators is None:
        raise InvalidInput(f"the module '{module}' has neither OPERATORS nor operators()")
    if values:
        raise InvalidInput(f"the module '{module}' has no settings")
    return list(operators)


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
        self.spark: SparkSession = create_session(
            settings.master,
            settings.name,
            executors=settings.executors,
            max_executors=settings.max_executors,
            cores=settings.cores,
            local_dir=settings.local_dir,
            conf=LOCAL_CHECKPOINTS if all(map(_is_local, good.values())) else None,
        )
        self.spark.dataSource.register(EdgeSource)
        self.executors = Executors(
            self.spark, settings.min_executors, settings.max_executors, settings.executors
        )
        handlers: dict[type[Action], Handler] = {
            StartOperator: self._start_operator,
            StopOperator: self._stop_operator,
            RestartOperator: self._restart_operator,
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
        self._runners = {
            name: Runner(
                operator,
                self.spark,
                self.store,
                self.agent.holder,
                settings.redis_url,
                settings.checkpoints,
            )
            for name, operator in good.items()
        }

    def run(self) -> None:
        """Keep the operators as they are wanted until told to stop."""
        self.agent.start()
        self._place()
        threading.Thread(target=self._keep_leases, name="weir-leases", daemon=True).start()
        try:
            while not self._stop_event.wait(STEP_S):
                self._read_placement()
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
                runner.step(self._wanted(name))
        except Exception as error:  # one operator's trouble is no other's
            self.store.note_fault(f"operator {name}", error)
            self._stop_event.wait(STEP_S)

    def stop(self) -> None:
        """Make `run` end: operators stop at a batch boundary, leases are given back."""
        self._stop_event.set()

    def _keep_leases(self) -> None:
        """Renew them for as long as a query may write, whatever the one that steps waits for."""
        while not self._halted_event.wait(RENEW_S):
            for name, runner in self._runners.items():
                try:
                    runner.renew()
                except Exception as error:
                    self.store.note_fault(f"lease of operator {name}", error)

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
            if name not in self._operators:
                log.error("operator '%s' is to run here, but is not declared", name)
                continue
            while not self._stop_event.is_set():
                try:
                    here = Placement(operator=name, cluster=self.settings.name)
                    self.store.place_if(here, seen=None)
                    break
                except (RedisError, OSError):
                    time.sleep(0.5)

    def _read_placement(self) -> None:
        try:
            self._placed = self.store.placements()
        except (RedisError, OSError):
            log.debug("the store is away; going on as before")
        except Exception as error:
            self.store.note_fault("the look at placements", error)

    def _wanted(self, name: str) -> bool:
        placed = self._placed.get(name)
        return bool(placed and placed.cluster == self.settings.name and placed.wanted == "running")

    def _here(self, name: str) -> bool:
        placed = self._placed.get(name)
        return bool(placed and placed.cluster == self.settings.name)

    def _facts(self) -> list[OperatorFacts]:
        running = [
            runner.facts()
            for name, runner in self._runners.items()
            if self._here(name) or runner.status is OperatorStatus.RUNNING
        ]
        broken = [
            OperatorFacts(
                name=error.field or "unnamed", status=OperatorStatus.FAILED, message=str(error)
            )
            for error in self._bad
            if error.field not in self._operators
        ]
        return running + broken

    # -- commands

    def _runner(self, name: str) -> Runner:
        if name not in self._runners:
            raise NotFound(f"there is no operator '{name}' in cluster {self.settings.name}")
        if not self._here(name):
            raise Refused(f"operator '{name}' is not placed in cluster {self.settings.name}")
        return self._runners[name]

    def _want(self, name: str, wanted: str) -> Runner:
        """Ask for it where everybody looks; a move that begins meanwhile stays as it is."""
        while True:
            placed = self._placed = self.store.placements()
            runner = self._runner(name)
            after = replace(placed[name], wanted=wanted)
            if self.store.place_if(after, seen=placed[name]):
                self._placed = {**placed, name: after}
                return runner

    def _start_operator(self, action: StartOperator, report: Report) -> str:
        runner = self._want(action.operator, "running")
        with self._lock:
            runner.restart() if runner.status is OperatorStatus.FAILED else None
        return self._await(runner, OperatorStatus.RUNNING, "is running", report)

    def _stop_operator(self, action: StopOperator, report: Report) -> str:
        runner = self._want(action.operator, "stopped")
        return self._await(
            runner, OperatorStatus.STOPPED, "has stopped at a batch boundary", report
        )

    def _restart_operator(self, action: RestartOperator, report: Report) -> str:
        runner = self._want(action.operator, "running")
        report(0.1, "stopping at a batch boundary")
        with self._lock:
            runner.restart()
        return self._await(runner, OperatorStatus.RUNNING, "is running again", report)

    def _await(self, runner: Runner, status: OperatorStatus, done: str, report: Report) -> str:
        began = time.monotonic()
        while time.monotonic() - began < 60.0:
            if runner.status is status:
                return f"{runner.operator.name} {done} after {time.monotonic() - began:.1f} s"
            report(0.5, runner.message or str(runner.status))
            time.sleep(0.2)
        raise Refused(
            f"{runner.operator.name} is {runner.status} after 60 s: {runner.message or 'no reason'}"
        )
