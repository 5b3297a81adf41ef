"""A log that is still being written, followed without touching it.

Chunks come as the file grows, through the same decoders as finished logs (Spark
compresses rolling logs by default since 4.0), so a half-written line or block
simply waits for its rest. A rolling log goes on in its next part as soon as that
exists. Following ends with the application, or when `stop` says so.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import ClusterSample
from weir.metrics.eventlog.codecs import Damaged, decode
from weir.metrics.eventlog.importer import NotAnEventLog
from weir.metrics.eventlog.locate import group_names, locate, order
from weir.metrics.eventlog.parser import Parser, UnreadableLine
from weir.metrics.eventlog.reader import CHUNK_BYTES, lines
from weir.metrics.eventlog.run import PERIOD_S, SampleBuilder
from weir.metrics.eventlog.summary import OPENING, LogSummary, Tally

_TRIED_LINES = 1000


class Follower:
    """Gives the samples of a growing log as their periods end.

    `summary` is what has been read so far. A period is over once the log speaks of
    a time one period later: Spark buffers lines, so the log lags seconds behind.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        period_s: float = PERIOD_S,
        poll_s: float = 0.5,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._path = Path(path)
        self._poll_s = poll_s
        self._stop = stop
        self._parser = Parser()
        self._tally = Tally()
        self._builder = SampleBuilder(period_s, lateness_s=period_s)
        logs = locate(self._path)  # says at once what is wrong with the path
        if len(logs) != 1:
            raise InvalidInput(f"{self._path} holds {len(logs)} logs; name the one to follow")
        self.log = logs[0]
        if self.log.parts[0].member is not None:
            raise InvalidInput(f"{self._path} is a zip, which does not grow; import it instead")

    @property
    def summary(self) -> LogSummary:
        """What has been read so far."""
        summary = self._tally.summary
        summary.lines, summary.broken_lines = self._parser.lines, self._parser.broken
        return summary

    @property
    def faults(self) -> list[UnreadableLine]:
        """The first broken lines."""
        return self._parser.faults

    def samples(self) -> Iterator[ClusterSample]:
        """Samples in the order of time; waits for more until the log or `stop` ends it."""
        for path in self._parts():
            try:
                for line in lines(decode(self._tail(path)), unfinished=False):
                    event = self._parser.parse(line, path.name) if line.strip() else None
                    if event is not None:
                        if type(event) in OPENING and self._tally.begins_another(event):
                            break
                        self._tally.add(event)
                        self._builder.add(event)
                        yield from self._builder.ripe()
                    if self._tally.summary.complete:
                        break
                    if not self._parser.events and self._parser.lines >= _TRIED_LINES:
                        break
            except Damaged:
                pass  # the next part may be whole
            if self._tally.summary.complete:
                break
        if not self._parser.events:
            raise NotAnEventLog(f"{self._path.name} is not a Spark event log: no event in it")
        yield from self._builder.rest()

    def _parts(self) -> Iterator[Path]:
        """The files of the log, each when it is there."""
        if not self._path.is_dir():
            yield self._path
            return
        last: Path | None = None
        inode = 0
        while True:
            following = self._following(last, inode)
            if following is None and (self._stop() or not self._path.is_dir()):
                return
            if following is None:
                time.sleep(self._poll_s)
                continue
            last, inode = following, following.stat().st_ino
            yield following

    def _following(self, last: Path | None, inode: int) -> Path | None:
        """The part after `last`; Databricks starts a new part under the same name."""
        try:
            names = group_names(sorted(os.listdir(self._path)))[0]
            for path in (self._path / name for name in names):
                if last is None or int(order(path.name)[0]) > int(order(last.name)[0]):
                    return path
                if not order(path.name)[0] and order(path.name) > order(last.name):
                    return path
                if path == last and path.stat().st_ino != inode:
                    return path
        except (FileNotFoundError, IndexError):
            pass
        return None

    def _tail(self, path: Path) -> Iterator[bytes]:
        """What is in the file and what is added to it."""
        with path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            while True:
                # Asked before reading: what was added before the file was done is still read.
                done = self._stop() or self._is_superseded(path, inode)
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
                if done:
                    return
                time.sleep(self._poll_s)

    def _is_superseded(self, path: Path, inode: int) -> bool:
        """Nothing will be added: it was renamed, removed, or another part has begun."""
        try:
            if path.stat().st_ino != inode:
                return True
        except FileNotFoundError:
            return True
        return self._path.is_dir() and self._following(path, inode) is not None
