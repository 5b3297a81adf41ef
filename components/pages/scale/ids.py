"""Ids of the scale page."""

from weir.components.ui.ids import IdPart

SCALE_NOTE = "scale-note"
SERVED = "served"  # which scaler would have been best
LEARNER = "learner"  # what the Q-learning scaler says of itself
SCALE_CLUSTER = "scale-cluster"  # which cluster the page is about
SCALE_NUMBER = "scale-number"
SCALE_COMMENT = "scale-comment"
SCALE_PREDICTION = "scale-prediction"
SCALE_APPLY = "scale-apply"
SCALE_ASKED = "scale-asked"  # the number that was predicted, and the id of what it will be
SCALE_LIMITS = "scale-limits"
TABLE_EXPORT = "table-export"
TABLE_DOWNLOAD = "table-download"
TABLE_IMPORT = "table-import"
TABLE_RESET = "table-reset"


def follow(scaler: IdPart) -> dict[str, IdPart]:
    """A button that has the engine follow a scaler."""
    return {"type": "follow", "scaler": scaler}


def scaler_settings(scaler: IdPart) -> dict[str, IdPart]:
    """A button that opens the settings of a scaler."""
    return {"type": "scaler-settings", "scaler": scaler}
