"""Ids of the audit page."""

THEN = "replay-audit"  # the trail in a replay
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
