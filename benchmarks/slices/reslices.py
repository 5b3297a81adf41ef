"""Many re-slices of an operator with state, while rows arrive: split, merge, hand on, join.

Two operators, of few keys and of many, each in its turn. The pause of a re-slice is the time
from the last commit of its old owners to the first of the new ones; at the end the input
stops, and every key's count is compared with the rows that were made.
"""

import argparse
import random
import statistics
import time
import uuid
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks import report
from benchmarks.slices.site import Source, halt, run, site
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.reslices import ResliceStep, Reslicing
from weir.controllers.model.slicing import Slicing
from weir.controllers.placement.hashing import key_groups, stable_hash

MOST_SLICES = 4
BURST = 20_000
Change = tuple[str, Slicing]


class DoneReslice(NamedTuple):
    """One re-slice that was done."""

    kind: str
    paused_s: float
    moved: float  # share of the keys
    before: int  # slices
    after: int


class ManyReslices(NamedTuple):
    """All re-slices of one operator, and what came of its counts."""

    names: list[str]
    done: list[DoneReslice]
    failed: list[str]
    rows: int
    wrong: int
    twice: int


def changes(slicing: Slicing, choice: random.Random) -> Change:
    """One that is possible, chosen at random."""
    largest = max(slicing.slices, key=lambda n: len(slicing.groups_of(n)))
    a, b = choice.sample(slicing.slices, 2)
    possible: dict[str, Callable[[], Slicing]] = {
        "one group": lambda: slicing.handed(slicing.groups_of(largest)[-1:], largest, a if a != largest else b),
    }  # fmt: skip
    if len(slicing.slices) < MOST_SLICES:
        possible["split"] = lambda: slicing.split(largest)
        possible["N to N+1"] = slicing.joined
    if len(slicing.slices) > 2:
        possible["merge"] = lambda: slicing.merged(a, b)
    name = choice.choice(sorted(possible))
    return name, possible[name]()


def resliced(fleet: Fleet, before: Slicing, after: Slicing) -> Reslicing:
    """Ask the engine for it, and wait for its end."""
    asked = Reslicing(
        id=uuid.uuid4().hex, at=time.time(), operator=before.operator, was=before.owners,
        owners=after.owners, clusters=dict.fromkeys(set(after.owners) - set(before.owners), "one"),
        by="benchmark",
    )  # fmt: skip
    fleet.store.save_reslicing(asked)

    def ended() -> Reslicing | None:
        return next((r for r in fleet.store.reslicings() if r.id == asked.id and r.final), None)

    found: Reslicing = wait_until(ended, 60, "the re-slice has ended")
    return found


def moved(names: list[str], before: Slicing, after: Slicing) -> float:
    """Share of the keys whose owner is another one now."""
    place = key_groups([n.encode() for n in names], before.groups)
    other = np.array([before.slice_of(g) != after.slice_of(g) for g in range(before.groups)])
    return float(other[place].mean())


def modulo(names: list[str], before: int, after: int) -> float:
    """Share of the keys that `hash % N` gives to somebody else."""
    hashes = np.array([stable_hash(n) for n in names], dtype=np.uint64)
    return float((hashes % np.uint64(before) != hashes % np.uint64(after)).mean())


def of_keys(fleet: Fleet, keys: int, options: argparse.Namespace) -> ManyReslices:
    """Re-slices of the operator with so many keys."""
    name, choice = f"k{keys}", random.Random(options.seed)
    names = [f"key-{i}" for i in range(keys)]
    source = Source(
        fleet.redis.url, name, options.rate,
        lambda first, count: [names[(first + i) % keys] for i in range(count)],
    )  # fmt: skip
    for at in range(0, keys, BURST):
        source.add(names[at : at + BURST])
    run(fleet, name, "one")
    source.start()
    wait_until(lambda: source.waiting < 20 * options.rate, 60, "every key has state")
    done: list[DoneReslice] = []
    failed: list[str] = []
    until = time.monotonic() + options.minutes * 60.0
    while len(done) + len(failed) < options.count and time.monotonic() < until:
        before = fleet.store.slicings()[name]
        kind, after = changes(before, choice)
        began = time.monotonic()
        ended = resliced(fleet, before, after)
        words = f"{keys} keys, {kind}: {ended.step}, paused {ended.paused_s}, {ended.message}"
        print(f"{words}, {time.monotonic() - began:.1f} s in all", flush=True)
        if ended.step is ResliceStep.DONE and ended.paused_s is not None:
            counts = len(before.slices), len(after.slices)
            done.append(DoneReslice(kind, ended.paused_s, moved(names, before, after), *counts))
        else:
            failed.append(f"{kind}: {ended.step}, {ended.message}")
        time.sleep(options.rest)
    source.stop()
    wrong, twice = source.wrong()
    halt(fleet, name)
    return ManyReslices(names, done, failed, source.rows, wrong, twice)


def main(options: argparse.Namespace) -> None:
    """Re-slice, compare and write the section."""
    operators = " ".join(f"k{keys}:2" for keys in options.keys)
    host = ("--executors", 1, "--max-executors", 1, "--cores", 4, "--period", 1)
    with site({"one": ""}, *host, names=operators, trigger_s=options.trigger) as fleet:
        found = [of_keys(fleet, keys, options) for keys in options.keys]
    write(found, options)


def write(found: list[ManyReslices], options: argparse.Namespace) -> None:
    """The section."""
    pauses: list[tuple[object, ...]] = []
    shares: list[tuple[object, ...]] = []
    said = []
    for part in found:
        keys = f"{len(part.names):,}"
        for kind in [*sorted({d.kind for d in part.done}), "all"]:
            took = sorted(d.paused_s for d in part.done if kind in (d.kind, "all"))
            if took:
                p95 = took[max(0, round(0.95 * len(took)) - 1)]
                figures = (statistics.median(took), p95, took[-1])
                pauses.append((keys, kind, len(took), *(f"{s:.1f} s" for s in figures)))
        joins = [d for d in part.done if d.kind == "N to N+1"]
        for n in sorted({d.before for d in joins}):
            mean = statistics.fmean(d.moved for d in joins if d.before == n)
            plain = modulo(part.names, n, n + 1)
            shares.append(
                (keys, f"{n} to {n + 1}", f"{mean:.1%}", f"{1 / (n + 1):.1%}", f"{plain:.1%}")
            )
        failed = f" ({'; '.join(part.failed)})" if part.failed else ""
        said.append(
            f"{keys} keys: {part.rows:,} rows, {len(part.done)} re-slices done, "
            f"{len(part.failed)} not{failed}; {part.wrong} keys with a wrong count, {part.twice} "
            "counts written twice."
        )
    text = (
        report.table(("keys", "change", "re-slices", "pause p50", "p95", "longest"), pauses)
        + "\n\n"
        + report.table(
            ("keys", "slices", "keys that moved", "K/(N+1)", "modulo would move"), shares
        )
        + f"\n\n{options.rate} rows/s, a trigger of {options.trigger:g} s, in one cluster. "
        + " ".join(said)
    )
    command = f"python -m benchmarks.slices reslices --count {options.count} --rate {options.rate}"
    report.write("slices: re-slices", command, text)
    print(text)


def declare(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    parser.add_argument("--count", type=int, default=25, help="re-slices for each number of keys")
    parser.add_argument("--keys", type=int, nargs="+", default=[5_000, 100_000])
    parser.add_argument("--rate", type=int, default=200, help="rows/s")
    parser.add_argument("--trigger", type=float, default=1.0, help="seconds")
    parser.add_argument("--rest", type=float, default=1.0, help="seconds between two")
    parser.add_argument("--minutes", type=float, default=60.0, help="at most, for each")
    parser.add_argument("--seed", type=int, default=1)
