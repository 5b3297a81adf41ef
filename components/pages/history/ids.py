"""Ids of the History pages."""

SEARCH = "runs-search"
KIND = "runs-kind"
TABLE = "runs-table"
QUERY = "runs-query"  # what the list shows
CHOSEN = "runs-chosen"  # the runs that are ticked
COMPARE = "runs-compare"
IMPORTED = "runs-imported"  # a new value after an import has the list read again


def sort(key: str) -> dict[str, str]:
    """A heading that sorts."""
    return {"type": "runs-sort", "key": key}


def turn(to: object) -> dict[str, object]:
    """To another page of the list."""
    return {"type": "runs-page", "to": to}


def delete(run: str) -> dict[str, str]:
    """The button that asks whether a run should be deleted."""
    return {"type": "runs-delete", "run": run}


def tick(run: str) -> dict[str, str]:
    """The box that chooses a run for a comparison."""
    return {"type": "runs-tick", "run": run}
