"""Runs one experiment: part by part, kept on disk, stopped and resumed.

    python -m weir.pipeline.experiments.process NAME RUNS quick|full LOCK

LOCK is the number of an open file that holds the lab's lock (`metrics.lab.lab`).
"""

import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from weir.controllers.model.errors import WeirError
from weir.metrics.lab.catalogue import experiment
from weir.metrics.lab.experiment import Experiment
from weir.metrics.lab.lab import ExperimentStatus, Kept, Lab
from weir.metrics.lab.outcome import ExperimentResult
from weir.pipeline.experiments.base import Bench, Step, Work

TELL_EVERY_S = 0.5


def work_of(found: Experiment) -> Work:
    """The work that an experiment names; only now is it loaded."""
    module, _, name = found.work.partition(":")
    work = getattr(import_module(f"weir.pipeline.experiments.{module}"), name)
    assert isinstance(work, Work), found.work
    return work


def perform(
    lab: Lab, name: str, quick: bool, tell: Callable[[ExperimentStatus], None] = lambda status: None
) -> ExperimentResult:
    """Do it, or the rest of it; the lab's lock is held by the caller.

    Whatever ends it is written into the status, then raised.
    """
    described = experiment(name)
    progress = _Progress(
        lab, ExperimentStatus(name=name, quick=quick, at=time.time(), pid=os.getpid()), tell
    )
    progress.say(force=True)
    try:
        result = _worked(lab, described, work_of(described), quick, progress)
    except KeyboardInterrupt:
        progress.end("stopped", "Stopped; start it again, and it goes on with what is missing.")
        raise
    except WeirError as error:
        progress.end("failed", str(error))
        raise
    except Exception as error:  # the traceback is in the log
        progress.end("failed", f"It failed ({type(error).__name__}: {error})"[:500])
        raise
    lab.keep_result(result)
    progress.end("done", result.outcome.reason)
    return result


def _worked(
    lab: Lab, described: Experiment, work: Work, quick: bool, progress: "_Progress"
) -> ExperimentResult:
    parts = work.parts(quick)
    kept = dict(lab.parts(described.name, quick))
    progress.begin(parts, kept, described.size(quick).about_s)
    folder = lab.folder(described.name) / "scratch"
    folder.mkdir(exist_ok=True)
    bench = Bench(quick, folder, lab.runs, progress.within)
    with bench.open:
        for part in parts:
            if part.key in kept:
                continue
            progress.doing(part)
            began = time.monotonic()
            value = msgspec.to_builtins(part.run(bench))
            done = Kept(took_s=time.monotonic() - began, value=value)
            lab.keep_part(described.name, quick, part.key, done)
            kept[part.key] = done
            progress.done(part, done)
    outcome = work.conclude(quick, {p.key: kept[p.key].value for p in parts})
    return ExperimentResult(
        name=described.name, quick=quick, at=time.time(),
        took_s=sum(kept[p.key].took_s for p in parts), machine=machine(), outcome=outcome,
    )  # fmt: skip


class _Progress:
    """How far it is, written at most twice a second."""

    def __init__(
        self, lab: Lab, status: ExperimentStatus, tell: Callable[[ExperimentStatus], None]
    ) -> None:
        self.lab, self.status, self._tell = lab, status, tell
        self._told_at = 0.0
        self._weight = {"all": 1.0, "done": 0.0, "part": 0.0}
        self._took_s, self._about_s = 0.0, 0.0
        self._began = time.monotonic()

    def begin(self, parts: Any, kept: dict[str, Kept], about_s: float) -> None:
        """The parts are known, and which of them are done."""
        had = [p for p in parts if p.key in kept]
        self._weight["all"] = sum(p.weight for p in parts) or 1.0
        self._weight["done"] = sum(p.weight for p in had)
        self._took_s, self._about_s = sum(kept[p.key].took_s for p in had), about_s
        self.status = replace(self.status, of=len(parts), done=len(had))

    def doing(self, part: Step) -> None:
        """A part begins."""
        self._weight["part"], self._began = part.weight, time.monotonic()
        self.status = replace(self.status, doing=part.says)
        self.within(part.says, 0.0, force=True)

    def within(self, said: str, share: float, force: bool = False) -> None:
        """How much of the part is done."""
        self.status = replace(self.status, doing=said)
        done = (self._weight["done"] + self._weight["part"] * share) / self._weight["all"]
        spent = self._took_s + time.monotonic() - self._began
        per = spent / done if self._weight["done"] > 0 or share >= 0.3 else self._about_s
        left_s = max(0.0, per - spent)
        self.status = replace(self.status, share=min(1.0, done), left_s=left_s)
        self.say(force)

    def done(self, part: Step, kept: Kept) -> None:
        """A part ends."""
        self._weight["done"] += part.weight
        self._weight["part"] = 0.0
        self._took_s, self._began = self._took_s + kept.took_s, time.monotonic()
        self.status = replace(self.status, done=self.status.done + 1)
        self.within(part.says, 0.0, force=True)

    def end(self, state: Any, message: str) -> None:
        """It is over."""
        share = 1.0 if state == "done" else self.status.share
        self.status = replace(
            self.status, state=state, message=message, share=share, left_s=None, doing=""
        )
        self.say(force=True)

    def say(self, force: bool = False) -> None:
        """Write it down."""
        if force or time.monotonic() - self._told_at > TELL_EVERY_S:
            self._told_at = time.monotonic()
            self.lab.keep_status(self.status)
            self._tell(self.status)


def machine() -> str:
    """What it ran on, in a few words."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}"


def stop_on_signals() -> None:
    """Let a stop be an exception, so that what is open is closed and the status is kept."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def main(name: str, runs: str, size: str, lock: str) -> int:
    """What the page begins."""
    os.set_inheritable(
        int(lock), False
    )  # not for Spark or Redis, which may outlive this for a while
    os.nice(5)
    stop_on_signals()
    try:
        perform(Lab(Path(runs)), name, size == "quick")
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
