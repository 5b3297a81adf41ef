"""Ids of the page of a cluster."""

EXECUTORS = "executors"
SHARES = "shares"
