"""Every experiment, by paper: texts only, so that a page can list what it does not run."""

from weir.controllers.model.errors import NotFound
from weir.metrics.lab.catalogue import albic, dodo, drs, qspark, smr
from weir.metrics.lab.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    *dodo.EXPERIMENTS,
    *albic.EXPERIMENTS,
    *drs.EXPERIMENTS,
    *qspark.EXPERIMENTS,
    *smr.EXPERIMENTS,
)
_BY_NAME = {e.name: e for e in EXPERIMENTS}


def experiment(name: str) -> Experiment:
    """The experiment of that name; a sentence if there is none."""
    if name not in _BY_NAME:
        raise NotFound(
            f"There is no experiment '{name[:80]}'; `weir experiment list` shows them all."
        )
    return _BY_NAME[name]
