"""Ids of the settings page."""

THEN = "replay-settings"  # the settings in a replay
