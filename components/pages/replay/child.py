"""What the helper process does for a replay: the functions that it is asked to run."""

from weir.components.pages.replay.advice import Advice, advice
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.scaling import Shadow, shadow_at
from weir.components.pages.replay.view import with_outlook, world_at
from weir.controllers.engine.propose.outlook import Outlook
from weir.metrics.runs.replay import RecordedRun

_library: list[Library] = []  # of this process, set once when it begins


def begin(root: str) -> None:
    """Called first in the new process."""
    _library.append(Library(root))


def run_of(run: str) -> RecordedRun:
    """A run, loaded in this process."""
    return _library[0].run(run)


def outlook_of(run: str, at: float) -> Outlook | None:
    """The balance at a moment, with what every planner would have done."""
    return with_outlook(world_at(_library[0].run(run), at, 0.0)).outlook


def shadows_of(run: str, clusters: list[str], at: float) -> dict[str, Shadow]:
    """What every scaler would have said of these clusters, and remembered."""
    return {name: shadow_at(_library[0].run(run), name, at) for name in clusters}


def advice_of(run: str, at: float, target_latency_s: float) -> Advice:
    """Everybody's answer at a moment, next to what was done."""
    return advice(_library[0].run(run), at, target_latency_s)
