"""Ids of the balance page."""

from weir.components.ui.ids import IdPart

REBALANCES = "rebalances"
BALANCE_NOTE = "balance-note"
HAND_OPERATOR = "hand-operator"
HAND_TARGET = "hand-target"
HAND_TEXT = "hand-text"
HAND_PREVIEW = "hand-preview"
FOLLOW_PLANNER = "follow-planner"
FOLLOW_AUTO = "follow-auto"
FOLLOW_TEXT = "follow-text"
FOLLOW_SET = "follow-set"


def preview(planner: IdPart) -> dict[str, IdPart]:
    """A button that shows what a planner's plan would bring."""
    return {"type": "preview", "planner": planner}
