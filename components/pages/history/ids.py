"""Ids of the History pages."""

from weir.components.ui.ids import IdPart

SEARCH = "runs-search"
KIND = "runs-kind"
TABLE = "runs-table"
QUERY = "runs-query"  # what the list shows
CHOSEN = "runs-chosen"  # the runs that are ticked
COMPARE = "runs-compare"
IMPORTED = "runs-imported"  # a new value after an import has the list read again


def sort(key: IdPart) -> dict[str, IdPart]:
    """A heading that sorts."""
    return {"type": "runs-sort", "key": key}


def turn(to: object) -> dict[str, object]:
    """To another page of the list."""
    return {"type": "runs-page", "to": to}


def delete(run: IdPart) -> dict[str, IdPart]:
    """The button that asks whether a run should be deleted."""
    return {"type": "runs-delete", "run": run}


def tick(run: IdPart) -> dict[str, IdPart]:
    """The box that chooses a run for a comparison."""
    return {"type": "runs-tick", "run": run}
