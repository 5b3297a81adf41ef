"""The run of an event log while that grows; in the list of runs from its first sample on.

It has the id that an import of the log would give it, so the import takes its place. Who
deletes or replaces it meanwhile has the last word: nothing more is written then.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weir.controllers.model.errors import Unavailable
from weir.controllers.model.sample import ClusterSample
from weir.metrics.eventlog.follow import Follower
from weir.metrics.eventlog.importer import meta_of, name_of
from weir.metrics.eventlog.tables import clear, read_extent
from weir.metrics.runs.writer import LiveRun, day_of

FLUSH_S = 5.0


class FollowedRun:
    """Takes the samples of a follower; `note` says why it takes no more."""

    def __init__(self, root: Path, follower: Follower) -> None:
        with _writing(root):
            root.mkdir(parents=True, exist_ok=True)
        self.note = ""
        self._root = root
        self._follower = follower
        self._run: LiveRun | None = None
        self._inode = 0
        self._flushed_at = 0.0

    def add(self, sample: ClusterSample) -> None:
        """Take the next sample."""
        with _writing(self._root):
            run = self._run = self._run or self._begin(sample.at)
            if self.note:
                return
            if day_of(sample.at) != run.day:
                self._flush()
                run.go_on(day_of(sample.at))
            run.add(sample)
            if run.full or time.monotonic() - self._flushed_at > FLUSH_S:
                self._flush()

    def end(self) -> Path | None:
        """Write what is left; where the run is, if there is one."""
        with _writing(self._root):
            self._flush(followed=False)
        return None if self.note or self._run is None else self._run.folder

    def _begin(self, first_at: float) -> LiveRun:
        folder = self._root / name_of(self._follower.log, self._follower.summary, first_at)
        complete, _ = read_extent(folder)
        if complete:
            self.note = f"{folder.name} was made of the whole log and stays as it is"
        else:
            clear(folder)  # what was left of it when it was followed last
            folder.mkdir()
            self._inode = folder.stat().st_ino
        return LiveRun(folder, day_of(first_at))

    def _flush(self, followed: bool = True) -> None:
        if self.note or self._run is None:
            return
        folder, summary = self._run.folder, self._follower.summary
        meta = meta_of(self._follower.log, summary, self._follower.faults)
        self._run.describe(**meta, followed=followed)
        try:
            if folder.stat().st_ino != self._inode:
                raise FileNotFoundError
            self._run.flush(complete=summary.complete)
        except FileNotFoundError:
            self.note = f"{folder.name} was deleted or replaced; it is not written on"
        self._flushed_at = time.monotonic()


@contextmanager
def _writing(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"no run can be written to {root}: {error.strerror or error}") from None
