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


WHAT_IF = "what-if"  # which run the page is about
WI_CLUSTER = "what-if-cluster"
WI_TARGET = "what-if-target"
WI_POLICIES = "what-if-policies"
WI_SCALER = "what-if-scaler"
WI_FORM = "what-if-form"
WI_GO = "what-if-go"
WI_RESULT = "what-if-result"

TUNE = "tune"  # which run the page is about
TUNE_CLUSTER = "tune-cluster"
TUNE_SCALER = "tune-scaler"
TUNE_TRIALS = "tune-trials"
TUNE_TARGET = "tune-target"
TUNE_GO = "tune-go"
TUNE_STOP = "tune-stop"
TUNE_RESULT = "tune-result"
TUNE_TICK = "tune-tick"
TUNE_ERROR = "tune-error"


def field(of: str, key: str) -> dict[str, str]:
    """One setting of a policy."""
    return {"type": "wi-field", "of": of, "key": key}


def switch(of: str, key: str) -> dict[str, str]:
    """One setting that is on or off."""
    return {"type": "wi-switch", "of": of, "key": key}


def use(number: object) -> dict[str, object]:
    """Take the settings of a point of the front over."""
    return {"type": "tune-use", "number": number}
