"""The lab on disk: what is under way, what was found, and how to begin and stop.

<runs>/.lab/lock                        held by whoever runs an experiment; one at a time
<runs>/.lab/<name>/status.json          how far it is, to be read by any web worker
<runs>/.lab/<name>/parts-<size>/*.json  parts that are done; a stopped one goes on from them
<runs>/.lab/<name>/result-<size>.json   what was found
<runs>/.lab/<name>/log.txt              what the process printed
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

import weir
from weir.controllers.model.errors import Refused
from weir.metrics.files import replace_file
from weir.metrics.lab.catalogue import experiment
from weir.metrics.lab.outcome import ExperimentResult

LAB = ".lab"
PROCESS = "weir.pipeline.experiments.process"


class ExperimentStatus(Struct, frozen=True, kw_only=True):
    """How far an experiment is."""

    name: str
    quick: bool
    at: float  # when it began
    state: Literal["running", "done", "stopped", "failed"] = "running"
    pid: int = 0
    done: int = 0  # parts
    of: int = 0
    doing: str = ""
    share: float = 0.0  # of the work, 0 to 1
    left_s: float | None = None
    message: str = ""


class Kept(Struct, frozen=True, kw_only=True):
    """A part that is done."""

    took_s: float
    value: Any


class Lab:
    """The experiments of one folder of runs."""

    def __init__(self, runs: str | os.PathLike[str]) -> None:
        self.runs = Path(runs)
        self.root = self.runs / LAB

    def start(self, name: str, quick: bool) -> None:
        """Begin in a process of its own, or go on where a stopped one of that size was."""
        experiment(name)
        lock = self.take_lock()
        try:
            folder = self.folder(name)
            with open(folder / "log.txt", "wb") as log:
                subprocess.Popen(
                    [sys.executable, "-m", PROCESS, name, str(self.runs.resolve()),
                     "quick" if quick else "full", str(lock)],
                    cwd=weir.ROOT, stdin=subprocess.DEVNULL, stdout=log,
                    stderr=log, start_new_session=True, pass_fds=(lock,),
                )  # fmt: skip
        finally:
            os.close(lock)  # the process has it now

    def stop(self, name: str) -> bool:
        """Stop it; its parts are kept. False if it was not under way."""
        found = self.status(name)
        if found is None or found.state != "running" or not found.pid:
            return False
        os.kill(found.pid, signal.SIGTERM)
        return True

    def require(self, name: str) -> None:
        """Refuse what is no experiment."""
        experiment(name)

    def require_idle(self) -> None:
        """Refuse to begin while another experiment is under way: they would share the cores."""
        os.close(self.take_lock())

    def running(self) -> str:
        """The name of the experiment that is under way; empty if there is none."""
        if not self._is_locked():
            return ""
        try:
            names = [f.name for f in self.root.iterdir() if f.is_dir()]
        except FileNotFoundError:
            return ""
        return next((n for n in names if (s := self._read(n)) and s.state == "running"), "")

    def status(self, name: str) -> ExperimentStatus | None:
        """How far the newest attempt is; None if there was none."""
        found = self._read(name)
        if found is not None and found.state == "running" and not self._is_locked():
            said = "It ended without a word; start it again, and it goes on."
            return msgspec.structs.replace(found, state="stopped", message=said)
        return found

    def result(self, name: str) -> ExperimentResult | None:
        """What was found: by the full size, or else by the quick one."""
        for size in ("full", "quick"):
            try:
                raw = (self.root / name / f"result-{size}.json").read_bytes()
                return msgspec.json.decode(raw, type=ExperimentResult)
            except (FileNotFoundError, msgspec.MsgspecError):
                continue
        return None

    # -- for the process that does the work

    def folder(self, name: str) -> Path:
        """Where an experiment's files are."""
        folder = self.root / experiment(name).name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def take_lock(self) -> int:
        """The right to run an experiment, as an open file; closing it gives it back."""
        self.root.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise Refused(
                f"{self.running() or 'An experiment'} is under way, and two would share the "
                "cores; stop it first, or wait."
            ) from None
        return lock

    def keep_status(self, status: ExperimentStatus) -> None:
        """Say how far it is."""
        replace_file(self.folder(status.name) / "status.json", msgspec.json.encode(status))

    def parts(self, name: str, quick: bool) -> Mapping[str, Kept]:
        """The parts that an attempt which was stopped has done."""
        found = self._parts(name, quick).glob("*.json")
        return {f.stem: msgspec.json.decode(f.read_bytes(), type=Kept) for f in found}

    def keep_part(self, name: str, quick: bool, key: str, part: Kept) -> None:
        """Keep a part that is done."""
        folder = self._parts(name, quick)
        folder.mkdir(exist_ok=True)
        replace_file(folder / f"{key}.json", msgspec.json.encode(part))

    def keep_result(self, result: ExperimentResult) -> None:
        """Keep what was found; the next attempt starts over."""
        size = "quick" if result.quick else "full"
        path = self.folder(result.name) / f"result-{size}.json"
        replace_file(path, msgspec.json.encode(result))
        shutil.rmtree(self._parts(result.name, result.quick), ignore_errors=True)

    def _parts(self, name: str, quick: bool) -> Path:
        return self.folder(name) / f"parts-{'quick' if quick else 'full'}"

    def _read(self, name: str) -> ExperimentStatus | None:
        try:
            raw = (self.root / name / "status.json").read_bytes()
            return msgspec.json.decode(raw, type=ExperimentStatus)
        except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
            return None

    def _is_locked(self) -> bool:
        try:
            lock = os.open(self.root / "lock", os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False
