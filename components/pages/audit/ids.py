"""Ids of the audit page."""

THEN = "replay-audit"  # the trail in a replay
