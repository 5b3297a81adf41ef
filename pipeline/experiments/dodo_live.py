"""DoDo's clusters on Spark: one wide, one narrow, and what its planner and scaler do on them.

A row costs its operators waiting, as if calling a remote service, so that slots count and not the
two cores below them all. The input is above what a bad placement carries: throughput is what comes
out of the operator that counts, while rows wait before it. Every way begins with empty queues.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from weir.controllers.balancing.base import Planner, planners
from weir.controllers.engine.apply.moves import MoveStep
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now, why_wait
from weir.controllers.model.decision import Move
from weir.controllers.model.sample import ClusterSample, Mode
from weir.metrics.lab.outcome import PlotSeries, ResultChart
from weir.pipeline.experiments.base import Bench
from weir.pipeline.experiments.live import (
    BY,
    LiveCluster,
    LivePlan,
    LiveSystem,
    busy_shares,
    over_time,
    rows_out,
)
from weir.pipeline.experiments.live_places import executors_of, rebalance_to

WIDE, NARROW = "wide", "narrow"
END = "topic_count"
EXTREME = {"extractor": WIDE, "topic_count": NARROW, "top_n": NARROW}
OPTIMAL = {"extractor": WIDE, "topic_count": WIDE, "top_n": NARROW}
COLLAPSED = {"extractor": NARROW, "topic_count": WIDE, "top_n": NARROW}
BUCKET_S = 5.0
STARTS_WITH = 40.0  # rows/s, until everything runs
CAUGHT_UP_S = 3.0  # rows that wait before what counts, in seconds of the input

UNGUARDED = ("dodo_no_capacity",)
BALANCED: Mapping[str, Any] = {
    "window_s": 12.0, "hold_s": 10.0, "least_periods": 4, "moves": 1, "pinned_operators": "top_n",
}  # fmt: skip
"""What has next to no load stays where it is: by chance it may correlate best, and go first."""

SOON: Mapping[str, Mapping[str, Any]] = {
    "engine": {"least_effectiveness": 0.0, "settle_s": 10.0, "reconsider_s": 0.0},
    **{
        f"guards:{name}": {
            "warm_up_s": 4.0, "stabilisation_s": 8.0, "actions_per_hour": 0, "scale_in_delay_s": 60.0,
        }
        for name in (WIDE, NARROW)
    },
}  # fmt: skip
"""An experiment has minutes where a cluster has hours."""


def plan(wide: LiveCluster, narrow: LiveCluster, extractor_s: float, count_s: float) -> LivePlan:
    """Top-N topics on two clusters."""
    return LivePlan(
        clusters=(wide, narrow), workload="top_n", rows_per_s=STARTS_WITH, settings=SOON,
        values=(
            f"extractor_cost_s={extractor_s}", f"topic_count_cost_s={count_s}",
            "top_n_cost_s=0.0001", "trigger_s=2", "top_n_trigger_s=4", "max_rows=1200",
        ),
    )  # fmt: skip


def emptied(live: LiveSystem, bench: Bench) -> LiveSystem:
    """Stop the input until next to nothing waits."""
    bench.tell("what waits is worked off", 0.0)
    live.rate(0.0)
    live.until(lambda: live.waiting_rows() < STARTS_WITH, 180, "what waits is worked off")
    return live


def followed(
    live: LiveSystem,
    bench: Bench,
    says: str,
    *,
    rows_per_s: float,
    planner: str,
    scaler: str = "no_op",
    least_s: float,
    last_s: float,
    until_moved: bool = False,
) -> dict[str, Any]:
    """Let the engine follow these for a while, and measure the end of it.

    It lasts `least_s`. With `until_moved` it goes on until what counts has moved, and until no more
    than the input of a moment waits before it, each at most as long again. Then comes `last_s`.
    """
    followed_by_engine = planner not in UNGUARDED
    live.store.save_settings(
        "balance", {**BALANCED, "planner": planner if followed_by_engine else "no_op"}
    )
    for name in (WIDE, NARROW):
        live.store.save_settings(f"scale:{name}", {"scaler": scaler})
    live.rate(rows_per_s)
    began = time.time()

    def goes_on(while_: Callable[[], bool], until: float) -> None:
        while time.time() < until and while_():
            if not followed_by_engine and time.time() > began + BALANCED["window_s"]:
                unguarded(live, planners()[planner]())
            bench.tell(says, min(0.95, (time.time() - began) / (least_s + last_s)))
            time.sleep(0.5)

    live.mode(Mode.AUTO if followed_by_engine else Mode.OBSERVE)
    goes_on(lambda: True, began + least_s)
    if until_moved:
        goes_on(lambda: all(m.operator != END for m in moved(live, began)), began + 2 * least_s)
        goes_on(lambda: live.waiting_rows(END) > CAUGHT_UP_S * rows_per_s, time.time() + least_s)
    goes_on(lambda: True, time.time() + last_s)
    live.mode(Mode.OBSERVE)
    return figures(live, began, time.time(), last_s)


def unguarded(live: LiveSystem, planner: Planner) -> None:
    """Carry out what a planner wants now, which the engine would refuse if it does no good."""
    now, settings = time.time(), BalanceSettings(**BALANCED)
    snapshot, rebalances = live.snapshot(), live.store.rebalances()
    problem = problem_now(snapshot, live.samples(now - settings.window_s, now), settings)
    if why_wait(snapshot, problem, rebalances, settings, now):
        return
    wanted = {m.operator: m.target for m in planner.plan(problem).moves}
    asked = rebalance_to(wanted, live.store.placements(), BY)
    if asked is not None:
        live.store.save_rebalance(asked)


def moved(live: LiveSystem, since: float) -> list[Move]:
    """What was moved since then, in order."""
    return [
        m.move
        for r in reversed(live.store.rebalances())
        if r.at >= since
        for m in r.moves
        if m.step is MoveStep.DONE
    ]


def figures(live: LiveSystem, began: float, ended: float, last_s: float) -> dict[str, Any]:
    """Of the whole time by buckets, and of its end."""
    whole, late = live.samples(began, ended), live.samples(ended - last_s, ended)
    moves = [f"{m.operator} to {m.target}" for m in moved(live, began)]
    one = {name: {name: found} for name, found in whole.items()}
    return {
        "throughput": committed_per_s(late), "busy": busy_shares(late), "moves": moves,
        "executors": executors_of(live), "waiting": live.waiting_rows(), "run": live.run_id(),
        "busy_all": weighed(late),
        "series": {
            "rows": over_time(whole, began, ended, BUCKET_S, rate),
            **{n: over_time(f, began, ended, BUCKET_S, share) for n, f in one.items()},
            **{f"{n} executors": over_time(f, began, ended, BUCKET_S, count) for n, f in one.items()},
        },
    }  # fmt: skip


def committed_per_s(samples: Mapping[str, Sequence[ClusterSample]]) -> float:
    """Rows of the counting operator from its first commit in that time to its last, per second.

    Whole batches are committed, so a count within fixed bounds would be off by up to one.
    """
    found = {
        (b.run_id, b.id): (b.committed_at, b.rows)
        for kept in samples.values() for s in kept for b in s.batches
        if b.operator == END
    }  # fmt: skip
    commits = sorted(found.values())
    if len(commits) < 2:
        return 0.0
    return sum(rows for _, rows in commits[1:]) / (commits[-1][0] - commits[0][0])


def rate(samples: Sequence[ClusterSample]) -> float:
    """Rows per second out of the counting operator."""
    return rows_out({"": samples}, [END]) / BUCKET_S


def share(samples: Sequence[ClusterSample]) -> float:
    """Busy cores, in percent."""
    return 100.0 * fmean(s.cluster.busy_share for s in samples)


def count(samples: Sequence[ClusterSample]) -> float:
    """Executors."""
    return fmean(s.cluster.executors for s in samples)


def weighed(samples: Mapping[str, Sequence[ClusterSample]]) -> float:
    """The busy share of all cores together."""
    every = [s for found in samples.values() for s in found]
    capacity = sum(s.cluster.capacity for s in every)
    return sum(s.cluster.busy_cores for s in every) / max(capacity, 1)


def chart(
    title: str, y_title: str, key: str, found: Mapping[str, Mapping[str, Any]]
) -> ResultChart:
    """One figure over time, a line per way."""
    count_ = max(len(f["series"][key]) for f in found.values())
    return ResultChart(
        title=title, x_title="seconds", y_title=y_title,
        x=tuple(BUCKET_S * (k + 1) for k in range(count_)),
        series=tuple(
            PlotSeries(name=name, y=(*f["series"][key], *[None] * (count_ - len(f["series"][key]))))
            for name, f in found.items()
        ),
    )  # fmt: skip


def runs(found: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The runs behind them, each once."""
    return tuple(dict.fromkeys(f["run"] for f in found.values() if f.get("run")))
