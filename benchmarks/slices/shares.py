"""FAIR weights of operators in one cluster: throughput follows; and those that DRS recommends.

First two operators that always have more rows than they can count, with weights 1:1, 1:4 and
4:1. Then three that keep up: the weights that the engine recommends against five others, by
the latency that was measured.
"""

import argparse
import statistics
import time
from collections.abc import Mapping
from itertools import product

from benchmarks import report
from benchmarks.slices.site import Source, halt, run, samples, site
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from weir.controllers.model.shares import first_cores, share_group, weights_text

CORES = 6
TASKS = 32
"""Of a large batch: Spark shares cores out when a task ends, so with few long ones it hardly can."""
COST_S = 0.004
CONTENDED = 3
"""So many times as long as one of the six ways: rows are counted batch by batch."""
KEYS = 5_000
PAIRS = ((1, 1), (1, 4), (4, 1))
# rows/s and seconds of a row
CHAIN = {"slow": (60.0, 0.04), "middle": (80.0, 0.015), "fast": (80.0, 0.005)}


def weigh(fleet: Fleet, weights: Mapping[str, int]) -> None:
    """Set weights by hand, and wait until the driver has taken them."""
    fleet.store.save_settings(
        share_group("one"), {"weights": weights_text(weights), "source": "hand"}
    )

    def taken() -> bool:
        found = {o.name: o.weight for o in fleet.snapshot().operators}
        return all(found.get(name) == value for name, value in weights.items())

    wait_until(taken, 10, "the weights are set")


def contended(fleet: Fleet, options: argparse.Namespace) -> list[tuple[object, ...]]:
    """Two operators that never catch up."""
    names = ("left", "right")
    sources = [Source(fleet.redis.url, n, 0.0, _key) for n in names]
    most = int(1.3 * CORES / COST_S * (CONTENDED * options.seconds + 10) * len(PAIRS) + 20_000)
    for source in sources:
        for _ in range(0, most, 20_000):
            source.add(_key(0, 20_000))
    for name in names:
        run(fleet, name, "one")
    rows: list[tuple[object, ...]] = []
    for pair in PAIRS:
        weights = dict(zip(names, pair, strict=True))
        weigh(fleet, weights)
        time.sleep(6.0)
        before, began = [s.waiting for s in sources], time.monotonic()
        time.sleep(CONTENDED * options.seconds)
        took = time.monotonic() - began
        done = [(b - s.waiting) / took for b, s in zip(before, sources, strict=True)]
        assert all(s.waiting for s in sources), "there must be rows left"
        first = [o.first_cores for n in names for o in fleet.snapshot().operators if o.name == n]
        rows.append(
            (f"{pair[0]}:{pair[1]}", f"{done[0]:,.0f}", f"{done[1]:,.0f}",
             f"{done[0] / sum(done):.0%}", f"{pair[0] / sum(pair):.0%}", f"{first[0]} and {first[1]}")
        )  # fmt: skip
        print(rows[-1], flush=True)
    for name in names:
        halt(fleet, name)
    return rows


def best_of_six(fleet: Fleet, options: argparse.Namespace) -> tuple[list[tuple[object, ...]], str]:
    """Three operators that keep up: latency with six ways to share the cores."""
    sources = [Source(fleet.redis.url, n, rate, _key).start() for n, (rate, _) in CHAIN.items()]
    for name in CHAIN:
        run(fleet, name, "one")
    weigh(fleet, dict.fromkeys(CHAIN, 1))
    time.sleep(options.learn)
    view = fleet.store.scale_outlooks()["one"]
    advice = view.shares
    assert advice is not None, view
    recommended = {n: advice.weights.get(n, 1) for n in CHAIN}
    print(advice, flush=True)
    ways = _unlike(recommended)
    found_s: list[list[dict[str, float]]] = [[] for _ in ways]
    for i in range(options.rounds):
        for j in range(len(ways)) if i % 2 == 0 else reversed(range(len(ways))):
            found_s[j].append(measured(fleet, ways[j], options.seconds))
            print(i, ways[j], found_s[j][-1], flush=True)
    rows: list[tuple[float, tuple[object, ...]]] = []
    total = sum(rate for rate, _ in CHAIN.values())
    for weights, rounds in zip(ways, found_s, strict=True):
        means = {n: statistics.fmean(r[n] for r in rounds) for n in CHAIN}
        each = [sum(r[n] * rate for n, (rate, _) in CHAIN.items()) / total for r in rounds]
        latency = statistics.fmean(each)
        words = ":".join(map(str, weights.values()))
        note = "recommended" if weights == recommended else ""
        rows.append(
            (latency, (words, *(f"{v:.2f} s" for v in means.values()), f"{latency:.2f} s",
                       " ".join(f"{v:.2f}" for v in each), note))
        )  # fmt: skip
    for source in sources:
        source.stop()
    best = min(rows)
    place = 1 + sum(r[0] < rows[0][0] for r in rows)
    said = (
        f"The recommended weights came out number {place} of six; the best was {best[1][0]} with "
        f"{best[0]:.2f} s. The model said: {advice.why}"
    )
    return [r for _, r in rows], said


def _unlike(recommended: Mapping[str, int]) -> list[dict[str, int]]:
    """Six ways to deal the cores out that Spark tells apart, the recommended one first."""
    cores = range(1, CORES)
    dealt = [w for w in product(cores, repeat=len(CHAIN)) if sum(w) == CORES and len(set(w)) > 1]
    others = [dict.fromkeys(CHAIN, 1), *(dict(zip(CHAIN, w, strict=True)) for w in dealt)]
    far = [w for w in others if first_cores(w, CORES) != first_cores(recommended, CORES)]
    step = max(1, (len(far) - 1) // 4)
    return [dict(recommended), far[0], *far[1::step][:4]]


def measured(fleet: Fleet, weights: Mapping[str, int], seconds: float) -> dict[str, float]:
    """The mean latency of each operator's batches with these weights."""
    weigh(fleet, weights)
    time.sleep(4.0)
    since = time.time()
    time.sleep(seconds)
    waits: dict[str, list[float]] = {n: [] for n in CHAIN}
    for sample in samples(fleet, "one", since):
        for batch in sample.batches:
            if batch.rows and batch.latency_p50_s is not None:
                waits[batch.operator].append(batch.latency_p50_s)
    return {n: statistics.fmean(w) for n, w in waits.items()}


def main(options: argparse.Namespace) -> None:
    """Both halves, and the section."""
    names = "left:0 right:0 " + " ".join(f"{n}:0" for n in CHAIN)
    costs = f"left:{COST_S} right:{COST_S} " + " ".join(f"{n}:{c}" for n, (_, c) in CHAIN.items())
    tasks = {"left": TASKS, "right": TASKS, **dict.fromkeys(CHAIN, 2 * CORES)}
    host = (
        "--executors", 1, "--max-executors", 1, "--cores", CORES, "--period", 1,
        "--set", f"max_rows={int(4 * CORES / COST_S)}", "--set", "tasks=" + " ".join(f"{n}:{k}" for n, k in tasks.items()),
    )  # fmt: skip
    with site({"one": ""}, *host, names=names, costs=costs, trigger_s=options.trigger) as fleet:
        first = contended(fleet, options)
        second, said = best_of_six(fleet, options)
    text = (
        report.table(
            (
                "weights", "left, rows/s", "right, rows/s", "left's share", "left's share of weights",
                "cores that come first",
            ),
            first,
        )
        + f"\n\nTwo operators of {COST_S * 1000:g} ms a row, both with rows waiting all the time, "
        f"on {CORES} cores, {TASKS} tasks in a batch; {CONTENDED * options.seconds:g} s each.\n\n"
        + report.table(("weights", *CHAIN, "all rows", "by round", ""), second)
        + "\n\nMean latency from a row's time to its commit, for "
        + ", ".join(f"{n} ({r:g} rows/s, {c * 1000:g} ms)" for n, (r, c) in CHAIN.items())
        + f"; {options.rounds} rounds of {options.seconds:g} s each by turns, in one run, a trigger of {options.trigger:g} s. {said}"
    )  # fmt: skip
    report.write("slices: shares", "python -m benchmarks.slices shares", text)
    print(text)


def _key(first: int, count: int) -> list[str]:
    return [f"key-{(first + i) % KEYS}" for i in range(count)]


def declare(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of the six ways, by turns")
    parser.add_argument(
        "--learn", type=float, default=90.0, help="until all is warm and the model knows"
    )
    parser.add_argument("--trigger", type=float, default=2.0, help="seconds")
