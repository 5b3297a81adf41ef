"""What a slice costs: the same rows counted by one query and by 1, 2, 4, 8, 16 slices.

One driver, one executor. Each way has its turn: its slices are started, it counts rows that
arrive at a steady rate, then many at once. CPU is that of the driver's processes and of the
executor's, less what both take while no operator runs.
"""

import argparse
import statistics
import time

from benchmarks import report
from benchmarks.slices.site import Source, cpu_s, halt, run, samples, site
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until

WAYS = (0, 1, 2, 4, 8, 16)
GOAL = 0.05
TRIGGER_S = 2.0
BURST = 40_000
Figures = dict[str, float]


def way(slices: int) -> str:
    """The name of the operator that is declared with so many slices."""
    return f"s{slices}"


def cores_of(fleet: Fleet, seconds: float) -> tuple[float, float]:
    """Cores that the driver and the executors take."""
    driver, spark = fleet.hosts["one"].pid, [p.pid for p in fleet.spark.processes]
    began, before = time.monotonic(), (cpu_s(driver), sum(map(cpu_s, spark)))
    time.sleep(seconds)
    took = time.monotonic() - began
    return (cpu_s(driver) - before[0]) / took, (sum(map(cpu_s, spark)) - before[1]) / took


def measured(fleet: Fleet, slices: int, options: argparse.Namespace) -> Figures:
    """One way's figures."""
    name = way(slices)
    source = Source(fleet.redis.url, name, options.rate, _key).start()
    try:
        run(fleet, name, "one")
        time.sleep(options.settle)
        since, committed = time.time(), source.rows - source.waiting
        driver, executor = cores_of(fleet, options.seconds)
        took_s, waiting = time.time() - since, source.waiting
        done = source.rows - waiting - committed
        batches = [b for s in samples(fleet, "one", since) for b in s.batches]
        usual = max(waiting, 3.0 * TRIGGER_S * options.rate)
        source.add([_name(i) for i in range(BURST)])
        began, first = time.monotonic(), source.rows - source.waiting
        wait_until(lambda: source.waiting <= usual, 20, "the burst is counted")
        caught_up = (source.rows - source.waiting - first) / (time.monotonic() - began)
        return {
            "driver": driver,
            "executor": executor,
            "batch_s": statistics.median(b.processing_s for b in batches if b.rows),
            "rows_per_s": done / took_s,
            "waiting": float(waiting),
            "burst_rows_per_s": caught_up,
        }
    finally:
        source.stop()
        halt(fleet, name)


def main(options: argparse.Namespace) -> None:
    """Measure every way, `rounds` times, and write the section."""
    names = " ".join(f"{way(n)}:{n}" for n in WAYS) + " warm:2"
    host = (
        "--executors", 1, "--max-executors", 1, "--cores", 4, "--period", 1,
        *(word for pair in options.conf or () for word in ("--conf", pair)),
    )  # fmt: skip
    found: dict[int, list[Figures]] = {}
    with site({"one": ""}, *host, names=names, trigger_s=TRIGGER_S) as fleet:
        warm = Source(fleet.redis.url, "warm", options.rate, _key).start()
        run(fleet, "warm", "one")
        time.sleep(options.warm)
        warm.stop()
        halt(fleet, "warm")
        idle = cores_of(fleet, options.seconds / 2)
        print("idle", idle, flush=True)
        for i in range(options.rounds):
            for slices in options.ways if i % 2 == 0 else options.ways[::-1]:
                figures = measured(fleet, slices, options)
                found.setdefault(slices, []).append(figures)
                print(way(slices), figures, flush=True)
    if set(options.ways) == set(WAYS):
        write({n: _mean(f) for n, f in found.items()}, idle, options)


def write(
    found: dict[int, Figures], idle: tuple[float, float], options: argparse.Namespace
) -> None:
    """The section."""

    def own(slices: int) -> float:
        return found[slices]["driver"] + found[slices]["executor"] - sum(idle)

    def further(slices: int) -> str:
        return f"{(own(slices) - own(1)) / (slices - 1):.3f}" if slices > 1 else "-"

    table = report.table(
        (
            "slices", "cores", "of these driver", "executor", "each further slice",
            "batch p50", "rows/s counted", "rows waiting at the end", "rows/s of a burst",
        ),
        [
            (
                n or "unsliced", f"{own(n):.2f}", f"{f['driver'] - idle[0]:.2f}",
                f"{f['executor'] - idle[1]:.2f}", further(n), f"{f['batch_s']:.2f} s",
                f"{f['rows_per_s']:,.0f}", f"{f['waiting']:,.0f}", f"{f['burst_rows_per_s']:,.0f}",
            )
            for n, f in found.items()
        ],
    )  # fmt: skip
    text = (
        f"{table}\n\n{options.rate} rows/s in all, {KEYS:,} keys, a trigger of {TRIGGER_S:g} s; "
        f"{options.seconds:g} s each, {options.rounds} rounds, one run. Cores are those above the "
        f"{sum(idle):.2f} that driver and executor take without any operator. A burst is {BURST:,} "
        f"rows at once. Goal: at most {GOAL} of a core for a slice."
    )
    report.write("slices: cost", f"python -m benchmarks.slices cost {_said(options)}".strip(), text)
    print(text)


KEYS = 5_000


def _name(row: int) -> str:
    return f"key-{row % KEYS}"


def _key(first: int, count: int) -> list[str]:
    return [_name(first + i) for i in range(count)]


def _mean(figures: list[Figures]) -> Figures:
    return {name: statistics.fmean(f[name] for f in figures) for name in figures[0]}


def _said(options: argparse.Namespace) -> str:
    words = [
        f"--rate {options.rate}",
        f"--rounds {options.rounds}",
        f"--seconds {options.seconds:g}",
    ]
    return " ".join([*words, *(f"--conf {pair}" for pair in options.conf or ())])


def declare(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    parser.add_argument("--rate", type=int, default=400, help="rows/s in all")
    parser.add_argument("--ways", type=int, nargs="+", default=list(WAYS), help="0: unsliced")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=25.0, help="of each measurement")
    parser.add_argument("--settle", type=float, default=8.0, help="seconds before it")
    parser.add_argument("--warm", type=float, default=20.0, help="seconds before the first")
    parser.add_argument("--conf", action="append", help="a setting of Spark, key=value")
