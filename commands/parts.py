"""The parts of a one-machine Weir: they come up with a table that tells how far each is, are started
again when they die, and go down in the opposite order."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from redis.exceptions import RedisError
from rich.console import Console
from rich.live import Live
from rich.table import Table

import weir
from weir.controllers.model.errors import Unavailable
from weir.pipeline.local.process import scratch
from weir.pipeline.local.supervisor import Child

TIMEOUT_S = 240.0


class Processes:
    """Processes by name; each logs and keeps its temporary files in one folder."""

    def __init__(self, folder: Path, console: Console, stopping: Event) -> None:
        self.children: list[Child] = []
        self._folder = folder
        self._console = console
        self._stopping = stopping
        self._seconds: dict[str, float | None] = {}  # until it could be used
        self._live: Live | None = None

    @contextmanager
    def shown(self) -> Generator[None]:
        """Meanwhile the table stands on the console."""
        with Live(self._table(), console=self._console, refresh_per_second=4) as live:
            self._live = live
            try:
                yield
            finally:
                self._live = None

    def start(
        self, name: str, argv: Sequence[str], ready: Callable[[], bool], env: dict[str, str]
    ) -> Child:
        """Start a part; `ready` tells when it can be used."""
        log_file = self._folder / "logs" / f"{name.replace(' ', '-')}.log"
        # Everything that would go to the system's temporary folder goes into ours.
        own = {**scratch(self._folder / "tmp"), "PYTHONPATH": str(weir.ROOT), **env}
        child = Child(name, argv, log_file, ready, own)
        self.children.append(child)
        self._seconds[name] = None
        child.start()
        return child

    def wait(self, children: Sequence[Child]) -> None:
        """Wait until all of these can be used, or until told to stop."""
        waiting = list(children)
        while waiting and not self._stopping.is_set():
            for child in list(waiting):
                took_s = time.monotonic() - child.started_at
                if _is_ready(child):
                    self._seconds[child.name] = took_s
                    waiting.remove(child)
                elif child.process is None or child.process.poll() is not None:
                    raise Unavailable(f"{child.name} did not start:\n{_tail(child.log_file)}")
                elif took_s > TIMEOUT_S:
                    raise Unavailable(f"{child.name} takes too long:\n{_tail(child.log_file)}")
            if self._live is not None:
                self._live.update(self._table())
            time.sleep(0.2)

    def watch(self) -> None:
        """Start again what has died, and say so."""
        for child in self.children:
            said = child.watch()
            if said:
                self._console.print(said)

    def end(self, name: str) -> None:
        """Stop one part and no longer watch it."""
        for child in [c for c in self.children if c.name == name]:
            self.children.remove(child)
            child.stop()

    def stop(self) -> None:
        """Stop every part, the last one started first."""
        for child in reversed(self.children):
            with self._console.status(f"stopping {child.name}"):
                child.stop()

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for child in self.children:
            took_s = self._seconds[child.name]
            ready = took_s is not None
            mark = "[green]ready[/green]" if ready else "[yellow]starting[/yellow]"
            seconds = took_s if took_s is not None else time.monotonic() - child.started_at
            table.add_row(child.name, mark, f"{seconds:5.1f} s")
        return table


def _is_ready(child: Child) -> bool:
    try:
        return child.ready()
    except (OSError, RedisError):
        return False


def _tail(log_file: Path, lines: int = 15) -> str:
    try:
        return "\n".join(log_file.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"
