"""Running and stopping the papers' experiments. The lab does the work; who asked is in the trail."""

from typing import Protocol

from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.errors import Refused
from weir.controllers.service.request import Request, require_comment


class ExperimentRunner(Protocol):
    """What runs experiments, one at a time."""

    def require(self, name: str) -> None: ...
    def require_idle(self) -> None: ...
    def start(self, name: str, quick: bool) -> None: ...
    def stop(self, name: str) -> bool: ...
    def running(self) -> str: ...


def run_experiment(
    store: Store, request: Request, lab: ExperimentRunner, name: str, quick: bool
) -> None:
    """Begin an experiment, or go on with one that was stopped."""
    lab.require(name)
    lab.require_idle()
    require_comment(request, engine_settings(store))
    detail = "quick" if quick else "full"
    store.append_audit(request.entry("experiment.started", name, detail=detail))
    lab.start(name, quick)


def stop_experiment(store: Store, request: Request, lab: ExperimentRunner, name: str) -> None:
    """Stop an experiment; what is done of it is kept."""
    lab.require(name)
    if lab.running() != name:
        raise Refused(f"{name} is not under way.")
    require_comment(request, engine_settings(store))
    store.append_audit(request.entry("experiment.stopped", name))
    lab.stop(name)
