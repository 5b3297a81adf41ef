"""Rolling samples up: a minute from seconds, a quarter from minutes, an hour from quarters."""

from msgspec.structs import replace

from controllers.engine.ports import KEPT_S, Store, Tier
from controllers.model.samples import merged

_FINER = {Tier.MINUTE: Tier.FULL, Tier.QUARTER: Tier.MINUTE, Tier.HOUR: Tier.QUARTER}


def ends_due(last_at: float | None, now: float, tier: Tier) -> list[float]:
    """Ends of the periods of a tier that are over and not yet kept, oldest first.

    >>> ends_due(120.0, 305.0, Tier.MINUTE)
    [180.0, 240.0, 300.0]
    """
    step = int(tier)
    last_end = now // step * step
    oldest = now - KEPT_S[_FINER[tier]]  # before that there is nothing to merge any more
    first = max(last_at or 0.0, oldest // step * step) + step
    count = max(0, int((last_end - first) // step) + 1)
    return [first + i * step for i in range(count)]


def roll_up(store: Store, now: float, grace_s: float = 5.0) -> int:
    """Bring every cluster's coarser tiers up to date; the number of samples added.

    A period is closed `grace_s` late, because its last sample takes a moment to arrive.
    Doing it again changes nothing: a tier never takes the same period twice.
    """
    added = 0
    for cluster in store.clusters():
        for tier, finer in _FINER.items():
            kept = store.samples(cluster, now - KEPT_S[tier], now, tier)
            last_at = kept[-1].at if kept else None
            for end in ends_due(last_at, now - grace_s, tier):
                parts = store.samples(cluster, end - int(tier) + 1e-3, end, finer)
                if parts and store.append(replace(merged(parts), at=end), tier):
                    added += 1
    return added
