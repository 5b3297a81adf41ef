"""Ids of the tuning page."""

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


def use(number: object) -> dict[str, object]:
    """Take the settings of a point of the front over."""
    return {"type": "tune-use", "number": number}
