"""One heavy operator on two equal clusters: load distance as one query, then as four slices.

The engine follows the same planners by itself in both halves of one run. As one query the
heavy operator is on one cluster or on the other, whatever a plan says; its slices are not,
and where whole slices are too large a piece their key groups are handed on.
"""

import argparse
import time

from benchmarks import report
from benchmarks.slices.site import Source, distance, halt, loads, run, site
from tests.support.fleet import Fleet
from tests.support.given import given_mode
from weir.controllers.engine.guard.rules import guard_group
from weir.controllers.model.sample import Mode

COST_S = 0.005
RATES = {"heavy": 280.0, "light": 40.0}
GOAL = 5.0
WINDOW_S = 15.0
KEYS = 5_000
WAIT_S = 5.0
"""Of the guards: after first batches, and after an action."""


def automatic(fleet: Fleet, planner: str, ring_planner: str) -> None:
    """Let the engine follow these by itself, soon."""
    store = fleet.store
    store.save_settings("engine", {"least_effectiveness": 0.0, "settle_s": 10.0})
    store.save_settings(
        "balance",
        {"planner": planner, "window_s": WINDOW_S, "hold_s": 10.0, "least_load": 0.2, "moves": 2},
    )
    store.save_settings("reslice", {"planner": ring_planner, "hold_s": 5.0})
    for cluster in fleet.hosts:
        store.save_settings(guard_group(cluster), {"warm_up_s": WAIT_S, "stabilisation_s": WAIT_S})
        given_mode(store, cluster, Mode.AUTO)


def moves_since(fleet: Fleet, since: float) -> list[str]:
    """What the engine has moved."""
    made = [r for r in fleet.store.rebalances() if r.at >= since]
    return [f"{m.move.operator} to {m.move.target}" for r in reversed(made) for m in r.moves]


def resliced_since(fleet: Fleet, since: float) -> list[str]:
    """The re-slices that were asked for since."""
    made = sorted((r for r in fleet.store.reslicings() if r.at >= since), key=lambda r: r.at)
    return [
        f"{sum(len(set(g) - set(r.was.get(n, ()))) for n, g in r.owners.items())} key groups "
        f"handed on ({r.step})"
        for r in made
    ]


def watched(
    fleet: Fleet, seconds: float, below: float = 0.0
) -> tuple[float, list[tuple[float, float]]]:
    """The load distance every second; ends early once it has been below for a window. When it
    came below, in seconds from the beginning, and the series."""
    began, series, since = time.monotonic(), [], None
    while (took := time.monotonic() - began) < seconds:
        time.sleep(1.0)
        by_cluster = loads(fleet, WINDOW_S)
        if len(by_cluster) < len(fleet.hosts):
            continue
        points = distance(by_cluster)
        series.append((took, points))
        since = (took if since is None else since) if points < below else None
        if since is not None and took - since >= WINDOW_S:
            break
    return (since if since is not None else float("nan")), series


def main(options: argparse.Namespace) -> None:
    """Whole, then sliced, and the section."""
    cost = f"whole:{COST_S} heavy:{COST_S} light:{COST_S}"
    host = ("--executors", 1, "--max-executors", 1, "--cores", 2, "--period", 1)
    rows = []
    with site(
        {"a": "", "b": ""}, *host, names="whole:0 heavy:4 light:0", costs=cost, trigger_s=1.0
    ) as fleet:
        light = Source(fleet.redis.url, "light", RATES["light"], _key).start()
        run(fleet, "light", "b")
        for name, words in (("whole", "one query"), ("heavy", "4 slices of 16 key groups")):
            source = Source(fleet.redis.url, name, RATES["heavy"], _key).start()
            run(fleet, name, "a")
            time.sleep(WINDOW_S)
            first = loads(fleet, WINDOW_S)
            automatic(fleet, "milp", "even_load")
            since = time.time()
            came_s, series = watched(fleet, options.seconds, GOAL)
            last = loads(fleet, WINDOW_S)
            view = fleet.store.outlook()
            rows.append(
                (
                    words, _said(first), f"{distance(first):.1f}", _said(last),
                    f"{distance(last):.1f}", f"{came_s:.0f} s" if came_s == came_s else "never",
                    "; ".join((*moves_since(fleet, since), *resliced_since(fleet, since)))
                    or "none",
                )
            )  # fmt: skip
            print(rows[-1], view and view.wait, [round(p) for _, p in series], flush=True)
            for cluster in fleet.hosts:
                given_mode(fleet.store, cluster, Mode.OBSERVE)
            source.stop()
            halt(fleet, name)
        light.stop()
    text = report.table(
        (
            "heavy operator", "load per core at first", "load distance", "at the end",
            "load distance at the end", f"below {GOAL:g} points after", "done by itself",
        ),
        rows,
    ) + (
        f"\n\nTwo clusters of 2 cores; the heavy operator needs "
        f"{RATES['heavy'] * COST_S:.1f} cores, another one on b {RATES['light'] * COST_S:.1f}. One "
        f"run, planners milp and even_load in mode auto for up to {options.seconds:g} s each, guards that wait "
        f"{WAIT_S:g} s; loads are means of "
        f"{WINDOW_S:g} s as measured, distance in points. Goal: below {GOAL:g} with slices."
    )  # fmt: skip
    report.write("slices: balance", "python -m benchmarks.slices balance", text)
    print(text)


def _key(first: int, count: int) -> list[str]:
    return [f"key-{(first + i) % KEYS}" for i in range(count)]


def _said(by_cluster: dict[str, float]) -> str:
    return ", ".join(f"{name} {load:.0%}" for name, load in by_cluster.items())


def declare(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    parser.add_argument("--seconds", type=float, default=90.0, help="that the engine has, each")
