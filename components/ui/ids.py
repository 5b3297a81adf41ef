"""Ids that several pages share; a page's own stand in its folder."""

from dash.dependencies import Wildcard

IdPart = str | Wildcard
"""What one part of an id holds; a wildcard in the ids that a callback asks for."""

URL = "url"
PAGE = "page"  # the content below the header
PAGE_DATA = "page-data"  # charts with their first points; comes with the page
REFRESH = "refresh"  # a new value has the page drawn again
FEED = "feed"  # the newest delta
CURSOR = "cursor"  # what the browser has drawn: page, times, regions
POLL = "poll"  # a new value asks for a delta by HTTP

HEALTH = "health"
COMMANDS = "commands"
PAUSE = "pause-all"  # in the header: the button, and who paused

# What was pressed in one of them, as `assets/live/regions.js` tells it.
PRESSED_DECIDE = "pressed-decide"
PRESSED_PAUSE = "pressed-pause"
PRESSED_MOVE = "pressed-move"  # on the map: an operator and the cluster that it should run in

DIALOG = "dialog"
DIALOG_BODY = "dialog-body"
DIALOG_COMMENT = "dialog-comment"
DIALOG_COMMENT_BOX = "dialog-comment-box"
DIALOG_ERROR = "dialog-error"
DIALOG_OTHER = "dialog-other"
DIALOG_CANCEL = "dialog-cancel"
DIALOG_CONFIRM = "dialog-confirm"
DIALOG_PENDING = "dialog-pending"  # who asked, and about what
TOAST = "toast"
WINDOW = "window"
THEME = "theme"
COPY_LINK = "copy-link"
COPIED = "copied"  # says so to screen readers


def ask(verb: IdPart, cluster: IdPart, operator: IdPart = "") -> dict[str, IdPart]:
    """A button that opens the dialog."""
    return {"type": "ask", "verb": verb, "cluster": cluster, "operator": operator}


def field(key: IdPart, of: IdPart) -> dict[str, IdPart]:
    """A control in the body of the dialog; `of` keeps those of two questions apart."""
    return {"type": "field", "key": key, "of": of}


def field_text(key: IdPart, of: IdPart) -> dict[str, IdPart]:
    """What the choice in a control of the dialog means."""
    return {"type": "field-text", "key": key, "of": of}


def switch(key: IdPart, of: IdPart) -> dict[str, IdPart]:
    """The same of one that is on or off."""
    return {"type": "field-switch", "key": key, "of": of}


def mode(cluster: IdPart) -> dict[str, IdPart]:
    """The button that shows and changes a cluster's mode."""
    return {"type": "mode", "cluster": cluster}


def pause(verb: IdPart) -> dict[str, IdPart]:
    """Pause all, or resume."""
    return {"type": "pause", "verb": verb}
