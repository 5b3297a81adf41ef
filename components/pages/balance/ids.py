"""Ids of the balance page."""

from weir.components.ui.ids import IdPart

REBALANCES = "rebalances"
PLANS = "plans"
PRESSED_PREVIEW = "pressed-preview"  # in the table of plans, as the browser tells it
RINGS = "rings"
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


def hand_on(name: IdPart) -> dict[str, IdPart]:
    """A button that shows what it brings if a slice hands half to its neighbour."""
    return {"type": "hand-on", "slice": name}


def reslice_field(part: str, operator: IdPart) -> dict[str, IdPart]:
    """A control of the re-slice by hand."""
    return {"type": "reslice", "part": part, "operator": operator}


def reslice_preview(operator: IdPart) -> dict[str, IdPart]:
    """The button that shows what a re-slice by hand would bring."""
    return {"type": "reslice-preview", "operator": operator}
