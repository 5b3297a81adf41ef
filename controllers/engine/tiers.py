"""Rolling samples up: a minute from seconds, a quarter from minutes, an hour from quarters."""

from msgspec.structs import replace

from weir.controllers.engine.ports import KEPT_S, Samples, Tier
from weir.controllers.engine.window import SampleWindow
from weir.controllers.model.samples import merge_samples

_FINER = {Tier.MINUTE: Tier.FULL, Tier.QUARTER: Tier.MINUTE, Tier.HOUR: Tier.QUARTER}


def ends_due(last_at: float | None, now: float, tier: Tier) -> list[float]:
    """Ends of the periods of a tier that are over and not yet kept, oldest first.

    >>> ends_due(120.0, 305.0, Tier.MINUTE)
    [180.0, 240.0, 300.0]
    """
    step = int(tier)
    last_end = now // step * step
    oldest = now - KEPT_S[_FINER[tier]]  # nothing older is left to merge
    first = max(last_at or 0.0, oldest // step * step) + step
    count = max(0, int((last_end - first) // step) + 1)
    return [first + i * step for i in range(count)]


def roll_up(
    store: Samples,
    now: float,
    grace_s: float = 5.0,
    ends: dict[tuple[str, Tier], float | None] | None = None,
    recent: SampleWindow | None = None,
) -> int:
    """Bring every cluster's coarser tiers up to date; returns the number of samples added.

    A period is closed `grace_s` late, because its last sample takes a moment to arrive.
    Doing it again changes nothing: a tier never takes the same period twice. `ends` is what
    the caller keeps from one time to the next: the end of the last period of each tier, None for
    one that has nothing yet, so that nothing is read before there is something new. What is in
    `recent` is not read at all.
    """
    added, ends = 0, {} if ends is None else ends
    for cluster in store.clusters():
        grew = True  # whether the finer tier may have what was not there the last time
        for tier, finer in _FINER.items():
            last_at = ends.get((cluster, tier))
            if last_at is None and (grew or (cluster, tier) not in ends):
                last_at = ends[cluster, tier] = _last(store, cluster, tier, now)
            grew = False
            if last_at is None:
                continue
            for end in ends_due(last_at, now - grace_s, tier):
                since = end - int(tier) + 1e-3
                if recent and finer is Tier.FULL and since >= recent.since:
                    parts = recent.between(cluster, since, end)
                else:
                    parts = store.samples(cluster, since, end, finer)
                if parts:
                    grew = True
                    added += store.append(replace(merge_samples(parts), at=end), tier)
                    ends[cluster, tier] = end
    return added


def _last(store: Samples, cluster: str, tier: Tier, now: float) -> float | None:
    """End of the last period that a tier has; of the one before the first if it has none."""
    # What was added last is nearly always the period before: no need to read them all.
    newest = store.samples(cluster, now - 3 * int(tier), now, tier)
    kept = newest or store.samples(cluster, now - KEPT_S[tier], now, tier)
    return kept[-1].at if kept else _before_first(store, cluster, _FINER[tier], tier, now)


def _before_first(
    store: Samples, cluster: str, finer: Tier, tier: Tier, now: float
) -> float | None:
    """End of the period before the first that there is something of; None without anything."""
    found = store.samples(cluster, now - KEPT_S[finer], now, finer)
    return -(-found[0].at // int(tier)) * int(tier) - int(tier) if found else None
