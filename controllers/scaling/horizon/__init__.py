"""Fewest executors with which the target is kept: Weir's own scaler, and its default.

batches     how long a batch takes, and how hot a cluster may run for a target
trials      many ways to hold executors, each tried on the cluster's own load
outlook     what arrives, what waits, how fast executors come: measured and kept
scaler      the way that would have been best so far, applied to the cluster as it is
"""
