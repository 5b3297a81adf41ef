"""Records what the store holds, into runs: one per live session and day.

It only reads samples, actions and settings, so the live path pays nothing for it. The store
keeps the last quarter of an hour whatever happens to the recorder: one that restarts continues
after the last sample on disk. A session lasts as long as that sample is still in the store; an
empty store, or a quarter of an hour of silence, begins a new one.
"""

import fcntl
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from redis.exceptions import RedisError

from weir.controllers.engine.guard.rules import RECORD, RecordSettings
from weir.controllers.engine.ports import KEPT_S, Part, Rules, Store, Tier
from weir.controllers.model.age import ClockWatch
from weir.controllers.model.errors import InvalidInput, Refused, WeirError
from weir.controllers.model.settings import build
from weir.metrics.runs.actions import Key, actions_of, is_open
from weir.metrics.runs.library import (
    delete_run,
    expired_runs,
    list_runs,
    recording,
)
from weir.metrics.runs.settings import settings_of
from weir.metrics.runs.writer import CHUNK_SAMPLES, LiveRun, day_of
from weir.metrics.store.away import AwayLog

log = logging.getLogger(__name__)

POLL_S = 2.0
SILENCE_S = float(KEPT_S[Tier.FULL])
SETTLE_S = 120.0
"""How long after midnight the day before stays open for late reports."""
RETAIN_EVERY_S = 600.0


class Recorder:
    """One recorder of one folder; `step` does what is due, `run` does so until stopped."""

    def __init__(
        self, store: Store, root: str | os.PathLike[str], chunk_samples: int = CHUNK_SAMPLES
    ) -> None:
        self._store = store
        self._root = Path(root)
        self._chunk_samples = chunk_samples
        self._settings = RecordSettings()
        self._runs: dict[str, LiveRun] = {}  # day -> its run
        self._positions: dict[str, float] = {}
        self._clock = ClockWatch()
        self._away = AwayLog(log, "recording waits")
        self._flushed_at = 0.0
        self._retained_at = 0.0
        self._began = False
        self._stop_event = threading.Event()

    # -- life

    def run(self) -> None:
        """Record until told to stop; a store that is away is waited for."""
        while not self._stop_event.is_set():
            try:
                with only_one(self._root):
                    self._record()
                    return
            except Refused as error:
                said = f"{error}; waiting until it ends"
                log.warning(said)
                self._trying(lambda said=said: self._beat(time.time(), said))  # type: ignore[misc]
            self._stop_event.wait(POLL_S)
        self._trying(lambda: self._store.remove_part(_part_id()))

    def _record(self) -> None:
        while not self._stop_event.wait(POLL_S):
            if self._trying(lambda: self.step(time.time())):
                self._away.note(None)
        self.close()

    def _trying(self, do: Callable[[], None]) -> bool:
        try:
            do()
            return True
        except (RedisError, OSError) as error:
            self._away.note(error)
        except WeirError as error:
            log.warning("recording: %s", error)
        except Exception as error:  # whatever it is, the next step may do better
            self._store.note_fault("a step of the recorder", error)
        return False

    def stop(self) -> None:
        """Make `run` end."""
        self._stop_event.set()

    def close(self) -> None:
        """Take what is new, write everything, and mark the runs as complete."""
        try:
            self._take()
            self._store.remove_part(_part_id())
        except (RedisError, OSError):
            log.info("Redis is away; what it still has is not recorded")
        for run in self._runs.values():
            run.flush(complete=True)

    # -- one step

    def step(self, now: float) -> None:
        """Take what is new; write, close and clean up when it is time."""
        self._trying(lambda: self._beat(now))  # also where nothing can be taken
        if self._clock.set_back(now):
            self._begin_anew(now)
        self._take()
        if now - self._flushed_at >= self._settings.flush_s:
            self.flush(now)
        if now - self._retained_at >= RETAIN_EVERY_S:
            self._retained_at = now
            self._retain(now)

    def _begin_anew(self, now: float) -> None:
        """The clock was set back: what was recorded is from a time to come, and nothing could
        follow it. A new run begins."""
        log.warning("the clock was set back; a new run begins")
        for run in self._runs.values():
            run.flush(complete=True)
        self._runs.clear()
        self._positions = {cluster: min(at, now) for cluster, at in self._positions.items()}
        self._flushed_at = self._retained_at = now

    def flush(self, now: float) -> None:
        """Write everything; days that are over are closed."""
        self._flushed_at = now
        self._settings = _settings(self._store)
        for day, run in list(self._runs.items()):
            over = day != day_of(now) and day != day_of(now - SETTLE_S)
            run.flush(complete=over)
            if over:
                del self._runs[day]

    def _take(self) -> None:
        if not self._began:
            self._resume()
            self._began = True
        fresh = []
        for cluster in self._store.clusters():
            since = self._positions.get(cluster, 0.0)
            fresh += [s for s in self._store.samples(cluster, since, float("inf")) if s.at > since]
        fresh.sort(key=lambda s: s.at)
        for sample in fresh:
            self._positions[sample.cluster.name] = sample.at  # one that breaks it is not met again
            self._run_of(sample.at).add(sample)
        if self._runs:
            self._note()

    def _note(self) -> None:
        """What was done goes to the run of its day; what is still open to the newest one too."""
        runs = sorted(self._runs.values(), key=lambda r: r.newest_at)
        newest = runs[-1]
        since, began = (run.began_at or 0.0 for run in (runs[0], newest))
        known, unfinished = set[Key](), set[Key]()
        for run in runs:
            known |= run.actions.keys()
            unfinished = unfinished - run.actions.keys() | run.unfinished
        for action in actions_of(self._store, known, unfinished, since):
            if action.at >= since:
                self._runs.get(day_of(action.at), newest).note([action])
            if action.at < began and is_open(action, began):
                newest.note([action])
        newest.note(settings_of(self._store, newest.actions, began, newest.newest_at))

    def _run_of(self, at: float) -> LiveRun:
        run = self._runs.get(day_of(at))
        if run is not None and at - run.newest_at > SILENCE_S:  # a new session
            run.flush(complete=True)
            run = None
        if run is None:
            run = LiveRun.create(self._root, at, chunk_samples=self._chunk_samples)
            self._runs[run.day] = run
        return run

    def _resume(self) -> None:
        """Go on where the last recorder of this folder stopped, if its session goes on."""
        newest = [r for r in list_runs(self._root) if r.id.startswith("live-")][:2]
        for info in reversed(newest):
            try:
                run = LiveRun.resume(self._root / info.id, chunk_samples=self._chunk_samples)
            except Exception:  # whatever is wrong with an old run, recording goes on in a new one
                log.exception("%s cannot be read and is left as it is", info.id)
                continue
            for cluster, at in run.last_at.items():
                self._positions[cluster] = max(at, self._positions.get(cluster, at))
            if any(self._store.samples(c, at, at) for c, at in run.last_at.items()):
                self._runs[run.day] = run

    # -- beside it

    def _beat(self, now: float, detail: str = "") -> None:
        runs = sorted(run.folder.name for run in self._runs.values())
        if not detail:
            detail = f"recording {runs[-1]}" if runs else "waiting for the first report"
        part = Part(
            id=_part_id(), kind="recorder", name="recorder", at=now, pid=os.getpid(), detail=detail
        )
        self._store.beat(part)

    def _retain(self, now: float) -> None:
        runs = list_runs(self._root)
        keep = [r.id for r in runs if recording(r, now)]
        keep += [run.folder.name for run in self._runs.values()]
        for run_id in expired_runs(runs, self._settings, now, keep):
            log.info("%s is past its time", run_id)
            delete_run(self._root, run_id, now)


class only_one:
    """Refuse a second recorder of a folder: each would write half of the truth."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._file: IO[str] | None = None

    def __enter__(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        self._file = (self._root / ".recorder").open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise Refused("another recorder is writing to this folder") from None

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _part_id() -> str:
    return f"recorder:{socket.gethostname()}"


def _settings(store: Rules) -> RecordSettings:
    try:
        return build(RecordSettings, store.settings(RECORD))
    except InvalidInput as error:
        log.warning("settings of the recorder: %s", error)
        return RecordSettings()
