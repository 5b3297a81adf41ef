"""`weir follow PATH`: an event log that is still being written becomes a run that grows."""

import sys
from datetime import datetime
from pathlib import Path

import msgspec
from rich.console import Console

from weir.controllers.model.errors import InvalidInput, WeirError
from weir.controllers.model.sample import ClusterSample
from weir.metrics.eventlog.follow import Follower
from weir.metrics.eventlog.run import PERIOD_S
from weir.metrics.runs.follow import FollowedRun

BAD_INPUT = 2
SHORTEST_S, LONGEST_S = 0.1, 3600.0  # of a period


def run(
    path: str,
    as_json: bool = False,
    period_s: float = PERIOD_S,
    poll_s: float = 0.5,
    runs_dir: str | None = None,
) -> int:
    """Print one line per period until the application ends or Ctrl-C, then the summary.

    With `as_json` each period is a ClusterSample as one JSON object, and the last line
    the summary that `import --json` would print. With `runs_dir` a run grows there too.
    """
    console = Console(stderr=True)

    def say(text: str) -> None:
        console.print(f"follow: {text}", markup=False, highlight=False, soft_wrap=True)

    try:
        if not SHORTEST_S <= period_s <= LONGEST_S:
            raise InvalidInput(
                f"--period must be {SHORTEST_S:g} to {LONGEST_S:g} seconds, not {period_s:g}"
            )
        follower = Follower(path, period_s=period_s, poll_s=poll_s)
        kept = None if runs_dir is None else FollowedRun(Path(runs_dir), follower)
        with console.status(f"following {path}; Ctrl-C ends it"):
            try:
                for sample in follower.samples():
                    _print(msgspec.json.encode(sample).decode() if as_json else line(sample))
                    if kept is not None:
                        kept.add(sample)
            except KeyboardInterrupt:
                pass  # the usual way to end
        folder = None if kept is None else kept.end()
    except WeirError as error:
        say(str(error))
        return BAD_INPUT
    if kept is not None and kept.note:
        say(kept.note)
    summary = follower.summary
    if as_json:
        _print(msgspec.json.encode(summary).decode())
    else:
        state = "has ended" if summary.complete else "has not ended yet"
        where = "" if folder is None else f" -> {folder}"
        _print(
            f"{summary.name or summary.app_id} {state}: {summary.lines} lines, "
            f"{summary.tasks_ended} tasks, {summary.input_rows} rows{where}"
        )
    return 0


def line(sample: ClusterSample) -> str:
    """One period in one line.

    >>> from weir.controllers.model.sample import Cluster
    >>> line(ClusterSample(at=0.0, period_s=10, cluster=Cluster(name="a", executors=2)))[20:]
    'executors 2  busy cores 0.00  load 0.00  operators 0  rows/s in 0.0 done 0.0'
    """
    at = datetime.fromtimestamp(sample.at).isoformat(sep=" ", timespec="seconds")
    came = sum(o.arrival_rows_per_s for o in sample.operators)
    done = sum(o.processed_rows_per_s for o in sample.operators)
    return (
        f"{at} executors {sample.cluster.executors}  busy cores {sample.cluster.busy_cores:.2f}  "
        f"load {sample.load:.2f}  operators {len(sample.operators)}  "
        f"rows/s in {came:.1f} done {done:.1f}"
    )


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
