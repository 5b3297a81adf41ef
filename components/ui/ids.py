"""Every id of the pages, in one place."""

URL = "url"
PAGE = "page"  # the content below the header
PAGE_DATA = "page-data"  # charts with their first points; comes with the page
REFRESH = "refresh"  # a new value has the page drawn again
FEED = "feed"  # the newest delta
CURSOR = "cursor"  # what the browser has drawn: page, times, regions
POLL = "poll"  # a new value asks for a delta by HTTP
REPLAY = "replay"  # the bar that drives a replay
REPLAY_ADVICE = "replay-advice"  # what would have been recommended at its moment

HEALTH = "health"
COMMANDS = "commands"
EXECUTORS = "executors"
REBALANCES = "rebalances"
BALANCE_NOTE = "balance-note"
SCALE_NOTE = "scale-note"
LEARNER = "learner"  # what the Q-learning scaler says of itself
INBOX = "inbox"
RECOMMENDATION = "recommendation"
PAUSE = "pause-all"  # in the header: the button, and who paused
REGIONS = (
    HEALTH, COMMANDS, EXECUTORS, REBALANCES, BALANCE_NOTE, SCALE_NOTE, LEARNER, INBOX,
    RECOMMENDATION, PAUSE,
)  # fmt: skip
"""Panels that are sent whole when they change."""

# What was pressed in one of them, as `assets/live/regions.js` tells it.
PRESSED_DECIDE = "pressed-decide"
PRESSED_PAUSE = "pressed-pause"

DIALOG = "dialog"
DIALOG_BODY = "dialog-body"
DIALOG_COMMENT = "dialog-comment"
DIALOG_COMMENT_BOX = "dialog-comment-box"
DIALOG_ERROR = "dialog-error"
DIALOG_OTHER = "dialog-other"
DIALOG_CANCEL = "dialog-cancel"
DIALOG_CONFIRM = "dialog-confirm"
DIALOG_PENDING = "dialog-pending"  # who asked, and about what
HAND_OPERATOR = "hand-operator"
HAND_TARGET = "hand-target"
HAND_TEXT = "hand-text"
HAND_PREVIEW = "hand-preview"
FOLLOW_PLANNER = "follow-planner"
FOLLOW_AUTO = "follow-auto"
FOLLOW_TEXT = "follow-text"
FOLLOW_SET = "follow-set"
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
AUDIT_FORM = "audit-form"
AUDIT_WHO = "audit-who"
AUDIT_ACTION = "audit-action"
AUDIT_SUBJECT = "audit-subject"
AUDIT_SEARCH = "audit-search"
AUDIT_FROM = "audit-from"
AUDIT_TO = "audit-to"
AUDIT_TIMES = "audit-times"  # both as seconds since 1970: only the browser knows its zone
AUDIT_LIST = "audit-list"
AUDIT_OPENED = "audit-opened"
AUDIT_PAGES = "audit-pages"  # numbers below which the pages so far began
AUDIT_NEWEST = "audit-newest"
AUDIT_NEWER = "audit-newer"
AUDIT_OLDER = "audit-older"
AUDIT_CLEAR = "audit-clear"
AUDIT_CSV = "audit-csv"
AUDIT_JSON = "audit-json"
AUDIT_CHAIN = "audit-chain"
AUDIT_CHECK = "audit-check"
SETTINGS_SCOPE = "settings-scope"  # the cluster whose settings are shown; empty: the general ones
SETTINGS_BODY = "settings-body"
SETTINGS_SHOWN = "settings-shown"  # the values that the forms were drawn with
SETTINGS_SEARCH = "settings-search"
SETTINGS_HITS = "settings-hits"
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


def follow(scaler: str) -> dict[str, str]:
    """A button that has the engine follow a scaler."""
    return {"type": "follow", "scaler": scaler}


def scaler_settings(scaler: str) -> dict[str, str]:
    """A button that opens the settings of a scaler."""
    return {"type": "scaler-settings", "scaler": scaler}


def field(key: str, of: str) -> dict[str, str]:
    """A control in the body of the dialog; `of` keeps those of two questions apart."""
    return {"type": "field", "key": key, "of": of}


def field_text(key: str, of: str) -> dict[str, str]:
    """What the choice in a control of the dialog means."""
    return {"type": "field-text", "key": key, "of": of}


def switch(key: str, of: str) -> dict[str, str]:
    """The same of one that is on or off."""
    return {"type": "field-switch", "key": key, "of": of}


def decide(verb: str, recommendation: str, plan_hash: str) -> dict[str, str]:
    """A button on a recommendation; it carries the hash of the plan that it stands beside."""
    return {"type": "decide", "verb": verb, "recommendation": recommendation, "hash": plan_hash}


def mode(cluster: str) -> dict[str, str]:
    """The button that shows and changes a cluster's mode."""
    return {"type": "mode", "cluster": cluster}


def pause(verb: str) -> dict[str, str]:
    """Pause all, or resume."""
    return {"type": "pause", "verb": verb}


def setting(key: str, group: str) -> dict[str, str]:
    """The control of one setting on the settings page."""
    return {"type": "setting", "key": key, "group": group}


def setting_switch(key: str, group: str) -> dict[str, str]:
    """The same, of one that is on or off."""
    return {"type": "setting-switch", "key": key, "group": group}


def setting_default(key: str, group: str) -> dict[str, str]:
    """The button that brings one setting back to its default."""
    return {"type": "setting-default", "key": key, "group": group}


def settings_save(group: str) -> dict[str, str]:
    """The button that keeps a group of settings."""
    return {"type": "settings-save", "group": group}


def settings_part(part: str, group: str) -> dict[str, str]:
    """A text of one group: its error, or who changed it last."""
    return {"type": f"settings-{part}", "group": group}


USERS_LIST = "users-list"
USERS_SHOWN = "users-shown"  # a new value has the tables read again
USERS_ONCE = "users-once"  # a link or token, shown once
TOKENS_LIST = "tokens-list"


def user_ask(verb: str, name: str) -> dict[str, str]:
    """A button on a user or token that opens the dialog."""
    return {"type": "user-ask", "verb": verb, "name": name}


def user_role(name: str) -> dict[str, str]:
    """The choice of a user's role."""
    return {"type": "user-role", "name": name}


def user_new(part: str, of: str) -> dict[str, str]:
    """A control of the form for a new user or token."""
    return {"type": f"user-new-{part}", "of": of}
