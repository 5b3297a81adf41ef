"""How each scaler would have fared: its answers, judged by what was needed a while later.

Once in `HORIZON_S` every scaler's number of executors is noted. When the time is over, the
work that arrives then says how many were needed, and each number is judged: right if it
was enough and at most one too many. What a smaller number that was enough would have
saved is counted in executor-seconds; what a larger one would have cost counts against it.
"""

from collections.abc import Mapping
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

HORIZON_S = 60.0
ENOUGH = 0.8
"""Share of the cores that may be busy when a number counts as enough."""


class Pending(Struct, frozen=True, kw_only=True):
    """Numbers that were asked for and are not judged yet."""

    at: float
    targets: dict[str, int]
    followed: int  # what the cluster was brought to instead


class Score(Struct, frozen=True, kw_only=True):
    """One scaler's record on one cluster."""

    scaler: str
    judged: int = 0
    differed: int = 0  # from what was done
    right: int = 0
    saved_executor_s: float = 0.0  # against what was done; negative: it would have cost more

    @property
    def right_share(self) -> float | None:
        """The share of judged numbers that were right; None without any."""
        return self.right / self.judged if self.judged else None


def executors_needed(work_cores: float, cores_per_executor: int) -> int:
    """Executors that would have been enough for the work.

    >>> executors_needed(1.7, 1), executors_needed(0.0, 2)
    (3, 1)
    """
    return max(1, ceil(work_cores / (ENOUGH * cores_per_executor) - 1e-9))


def judge_targets(
    scores: tuple[Score, ...], pending: Pending, need: int, now: float
) -> tuple[Score, ...]:
    """The record with one more judgement for everybody who had answered.

    >>> pending = Pending(at=0.0, targets={"drs": 2, "dodo": 5}, followed=4)
    >>> for score in judge_targets((), pending, need=2, now=60.0):
    ...     print(score.scaler, score.right, score.differed, score.saved_executor_s)
    dodo 0 1 -60.0
    drs 1 1 120.0
    """
    known = {s.scaler: s for s in scores}
    for name, target in sorted(pending.targets.items()):
        was = known.get(name, Score(scaler=name))
        saved = (pending.followed - target) * (now - pending.at)
        known[name] = replace(
            was,
            judged=was.judged + 1,
            differed=was.differed + (target != pending.followed),
            right=was.right + (need <= target <= need + 1),
            # fewer than were needed is no saving
            saved_executor_s=was.saved_executor_s + (saved if target >= need or saved < 0 else 0.0),
        )
    return tuple(known[name] for name in sorted(known))


def advance_scores(
    scores: tuple[Score, ...],
    pending: Pending | None,
    targets: Mapping[str, int],
    *,
    executors: int,
    work_cores: float | None,
    cores_per_executor: int,
    now: float,
) -> tuple[tuple[Score, ...], Pending | None]:
    """Note numbers, or judge those whose time is over."""
    if pending is None:
        return scores, Pending(at=now, targets=dict(targets), followed=executors)
    if now - pending.at < HORIZON_S or work_cores is None:
        return scores, pending
    done = judge_targets(
        scores,
        replace(pending, followed=executors),
        executors_needed(work_cores, cores_per_executor),
        now,
    )
    return done, Pending(at=now, targets=dict(targets), followed=executors)
