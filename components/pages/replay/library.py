"""The recorded runs that this worker has in memory: the last few that somebody looked at."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from weir.components.pages.replay.helper import Helper
from weir.components.web.security.workers import Workers
from weir.controllers.model.brief import Brief
from weir.controllers.model.errors import NotFound
from weir.metrics.runs.library import RunInfo, list_runs, run_folder
from weir.metrics.runs.past import Past
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.timeline import RunTimeline, timeline

P = ParamSpec("P")
T = TypeVar("T")
RUNS_MOST = 4
BYTES_MOST = 900_000_000
ANSWER_S = 90.0
"""So long a page waits for the helper process."""


class Library:
    """Loads a run once, and again when it has grown; forgets those not used for longest."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.helper = Helper(root)  # for planners and scalers
        self.simulator = Helper(root)  # for what takes longer still
        self.reading = Workers("replay", 4, each=8, most=64)
        self.simulating = Workers("simulation", 1, each=1, most=8)
        self._loaded: OrderedDict[str, tuple[int, RecordedRun, RunTimeline]] = OrderedDict()
        self._infos: dict[str, tuple[int, RunInfo]] = {}
        self._past = Past(root)
        self._lock = threading.Lock()

    def runs(self) -> list[RunInfo]:
        """Every run there is, newest first; only what has changed is read again."""
        return list_runs(self.root, self._infos)

    def past(self, cluster: str, since: float, until: float) -> list[Brief]:
        """What live runs recorded of a cluster, in steps that suit the range."""
        return self._past.samples(self.runs(), cluster, since, until)

    def close(self) -> None:
        """End the processes beside this one."""
        self.helper.close()
        self.simulator.close()
        self.reading.close()
        self.simulating.close()

    def run(self, run_id: str) -> RecordedRun:
        """A run; a sentence if there is none or it is too large."""
        return self._entry(run_id)[1]

    def ask(
        self,
        helper: Helper,
        timeout_s: float,
        function: Callable[Concatenate[str, P], T],
        run_id: str,
        *args: P.args,
        **more: P.kwargs,
    ) -> T:
        """What a helper says of a run; for one that is not there no process is begun."""
        run_folder(self.root, run_id)
        return helper.ask(timeout_s, function, run_id, *args, **more)

    def timeline(self, run_id: str) -> RunTimeline:
        """A run at a glance."""
        return self._entry(run_id)[2]

    def _entry(self, run_id: str) -> tuple[int, RecordedRun, RunTimeline]:
        folder = run_folder(self.root, run_id)
        try:
            version = (folder / "meta.json").stat().st_mtime_ns
        except FileNotFoundError:
            raise NotFound(f"There is no run {run_id} any more.") from None
        with self._lock:  # two tabs that open the same run load it once
            known = self._loaded.get(run_id)
            if known is None or known[0] != version:
                run = RecordedRun(folder)
                known = (version, run, timeline(run))
                self._loaded[run_id] = known
            self._loaded.move_to_end(run_id)
            while len(self._loaded) > 1 and (
                len(self._loaded) > RUNS_MOST
                or sum(run.size_bytes for _, run, _ in self._loaded.values()) > BYTES_MOST
            ):
                self._loaded.popitem(last=False)
        return known
