"""A search of settings on a recorded run, in a process of its own, that can be stopped and resumed.

    <runs>/.tuning/<run>/request.json    what is searched
    <runs>/.tuning/<run>/status.json     how far it is, to be read by any web worker
    <runs>/.tuning/<run>/*.journal       every trial so far; the same request goes on from there
    <runs>/.tuning/<run>/result.json     what was found

`python -m weir.metrics.runs.tuning FOLDER RUNS` does the work, behind everything else in priority.
"""

import hashlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import NotFound, Refused, WeirError
from weir.controllers.scaling.registry import scaler_type
from weir.controllers.simulator.tuning import Trial, Tuning, read_tuning, write_tuning
from weir.metrics.files import replace_file
from weir.metrics.runs.library import run_folder
from weir.metrics.runs.process import begin, is_running

TUNING = ".tuning"
_MODULE = "weir.metrics.runs.tuning"
_STOPPED = "Start it again, and it goes on from its last trial."
_STOPPED_FIRST = "It was stopped before its first trial."
_ENDED = "Its process ended before it was done; start it again, and it goes on."
TRIALS_MOST = 2000


class TuneRequest(Struct, frozen=True, kw_only=True):
    """What to search."""

    run: str
    scaler: str
    cluster: str = ""  # empty: the busiest
    trials: int = 60
    target_latency_s: float = 5.0
    seed: int = 0


class TuneStatus(Struct, kw_only=True):
    """How far a search is."""

    request: TuneRequest
    state: Literal["running", "done", "stopped", "failed"] = "running"
    cluster: str = ""  # the one in question
    done: int = 0
    message: str = ""
    pid: int = 0
    trials: list[Trial] = []


class Tunings:
    """The searches on the runs of one folder; one at a time for each run."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def start(self, request: TuneRequest) -> None:
        """Begin, or go on with the same search."""
        run_folder(self.root, request.run)
        scaler_type(request.scaler)
        if not 1 <= request.trials <= TRIALS_MOST:
            raise Refused(f"The number of trials is between 1 and {TRIALS_MOST:,}.")
        known = self.status(request.run)
        if known is not None and known.state == "running":
            raise Refused("A search on this run is under way; stop it first.")
        folder = self.root / TUNING / request.run
        folder.mkdir(parents=True, exist_ok=True)
        for old in ("result.json", "stop"):
            (folder / old).unlink(missing_ok=True)
        (folder / "request.json").write_bytes(msgspec.json.encode(request))
        pid = begin(_MODULE, folder, self.root, log=folder / "log.txt")
        _keep(folder, TuneStatus(request=request, pid=pid))

    def status(self, run: str) -> TuneStatus | None:
        """How far the newest search on a run is; None if there was none."""
        folder = self.root / TUNING / run_folder(self.root, run).name
        try:
            found = msgspec.json.decode((folder / "status.json").read_bytes(), type=TuneStatus)
        except FileNotFoundError:
            return None
        if found.state == "running" and not is_running(found.pid, _MODULE, folder):
            found.state = "stopped"
            found.message = _stopped(found) if (folder / "stop").exists() else _ENDED
        return found

    def result(self, run: str) -> Tuning:
        """What was found."""
        try:
            return read_tuning((self.root / TUNING / run / "result.json").read_bytes())
        except FileNotFoundError:
            raise NotFound("This search has not come to its end.") from None

    def stop(self, run: str) -> None:
        """Stop a search; its trials are kept."""
        found = self.status(run)
        if found is not None and found.state == "running":
            # It may not yet be able to say so itself.
            (self.root / TUNING / run / "stop").touch()
            os.kill(found.pid, signal.SIGTERM)


def work(folder: Path, root: Path) -> None:
    """Search, and say how far it is; the status says in the end what became of it."""
    from weir.controllers.simulator import calibrate
    from weir.controllers.simulator.search import open_study
    from weir.controllers.simulator.tune import tune
    from weir.metrics.runs.replay import RecordedRun

    request = msgspec.json.decode((folder / "request.json").read_bytes(), type=TuneRequest)
    status = TuneStatus(request=request, pid=os.getpid())
    kept_at = 0.0

    def on_trials(done: int, found: Sequence[Trial]) -> None:
        nonlocal kept_at
        status.done, status.trials = done, list(found)
        if time.monotonic() - kept_at > 0.5:
            kept_at = time.monotonic()
            _keep(folder, status)

    try:
        run = RecordedRun(run_folder(root, request.run))
        samples, _ = run.last_samples()
        world = calibrate(samples, request.cluster or None).world
        status.cluster = world.focus
        name = _name(request, world.focus, samples[-1].at)
        found = tune(
            world,
            request.scaler,
            request.trials,
            study=open_study(_storage(folder / f"{name}.journal"), name, request.seed),
            evaluator=_here,
            target_latency_s=request.target_latency_s,
            seed=request.seed,
            on_trials=on_trials,
        )
        replace_file(folder / "result.json", write_tuning(found))
        status.state, status.message = "done", found.verdict
    except KeyboardInterrupt:
        status.state = "stopped"
        status.message = _stopped(status)
    except WeirError as error:
        status.state, status.message = "failed", str(error)
    except Exception as error:  # the traceback is in the log beside it
        status.state = "failed"
        status.message = f"The search failed ({type(error).__name__})."
        _keep(folder, status)
        raise
    _keep(folder, status)


def _stopped(status: TuneStatus) -> str:
    return _STOPPED if status.done else _STOPPED_FIRST


def _here(world: Any) -> Any:
    from weir.controllers.simulator.search import evaluate

    return lambda jobs: [evaluate(world, job) for job in jobs]


def _storage(path: Path) -> Any:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


def _name(request: TuneRequest, cluster: str, last_at: float) -> str:
    """The same for the same question, so that trials of another one are never mixed in."""
    told = msgspec.json.encode(
        (cluster, request.scaler, request.target_latency_s, request.seed, last_at)
    )
    return f"{request.scaler}-{hashlib.sha256(told).hexdigest()[:12]}"


def _keep(folder: Path, status: TuneStatus) -> None:
    replace_file(folder / "status.json", msgspec.json.encode(status))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    os.nice(10)
    signal.signal(signal.SIGTERM, _interrupt)
    work(Path(sys.argv[1]), Path(sys.argv[2]))
