"""Every id of the pages, in one place."""

URL = "url"
PAGE = "page"  # the content below the header
PAGE_DATA = "page-data"  # charts with their first points; comes with the page
REFRESH = "refresh"  # a new value has the page drawn again
FEED = "feed"  # the newest delta
CURSOR = "cursor"  # what the browser has drawn: page, times, regions
POLL = "poll"  # a new value asks for a delta by HTTP

HEALTH = "health"
COMMANDS = "commands"
EXECUTORS = "executors"
REBALANCES = "rebalances"
BALANCE_NOTE = "balance-note"
REGIONS = (HEALTH, COMMANDS, EXECUTORS, REBALANCES, BALANCE_NOTE)
"""Panels that are sent whole when they change."""

DIALOG = "dialog"
DIALOG_TEXT = "dialog-text"
DIALOG_ERROR = "dialog-error"
DIALOG_BODY = "dialog-body"
DIALOG_NUMBER = "dialog-number"
DIALOG_NUMBER_BOX = "dialog-number-box"
DIALOG_CONFIRM = "dialog-confirm"
DIALOG_CANCEL = "dialog-cancel"
PENDING = "pending"  # the command that the open dialog asks about
PREVIEW = "preview"  # the dialog that shows a plan before it is carried out
PREVIEW_BODY = "preview-body"
PREVIEW_ERROR = "preview-error"
PREVIEW_APPLY = "preview-apply"
PREVIEW_CANCEL = "preview-cancel"
PREVIEWED = "previewed"  # the plan that the open dialog shows, as it will be carried out
HAND_OPERATOR = "hand-operator"
HAND_TARGET = "hand-target"
HAND_TEXT = "hand-text"
HAND_PREVIEW = "hand-preview"
FOLLOW_PLANNER = "follow-planner"
FOLLOW_AUTO = "follow-auto"
FOLLOW_TEXT = "follow-text"
FOLLOW_SET = "follow-set"
TOAST = "toast"
WINDOW = "window"
THEME = "theme"


def ask(verb: str, cluster: str, operator: str = "") -> dict[str, str]:
    """A button that opens the dialog."""
    return {"type": "ask", "verb": verb, "cluster": cluster, "operator": operator}


def workload(part: str, name: str) -> dict[str, str]:
    """A control of one load generator."""
    return {"type": f"workload-{part}", "name": name}


def preview(planner: str) -> dict[str, str]:
    """A button that shows what a planner's plan would bring."""
    return {"type": "preview", "planner": planner}
