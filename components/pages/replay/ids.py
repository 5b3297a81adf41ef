"""Ids of the replay."""

REPLAY = "replay"  # the bar that drives a replay
REPLAY_ADVICE = "replay-advice"  # what would have been recommended at its moment
