"""Deaths of clusters under load: how long until what they ran commits elsewhere, and is it exact?

Three clusters. One of them, chosen at random, is killed with kill -9 (driver and JVM) and
nobody restarts it until all that it ran commits elsewhere; every third time two die at once.
Then what died is started again and the next one dies. At the end one is suspended for a
minute, wakes up, and must have written nothing that counts. All the time what the pages say of
deaths is held against what is really dead.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from redis.exceptions import RedisError

from benchmarks import report
from tests.support.fleet import PLACE, Fleet
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import MoveStep, Rebalance

SUSPENDED_S = 60.0
SATURATED = 0.95
"""Of the processors' time, from a death to the last commit: from here on the goal says nothing."""


class Outage(NamedTuple):
    """What one death cost: seconds from it on."""

    noticed_s: float  # until the store says that the clusters are dead
    ordered_s: float  # until the engine has said where their operators go
    commits_s: dict[str, float]  # operator -> until its first commit elsewhere
    busy: float  # share of the machine's processors until then


class Watch:
    """Looks all the time whether what the store says of deaths is true."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.down: set[str] = set()  # dead, suspended, or not yet back
        self.false: list[str] = []  # clusters that live and were called dead
        self.looks = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(0.3):
            down = set(self.down)
            try:
                said = {death.cluster for death in self._fleet.store.deaths()}
            except (RedisError, OSError):
                continue
            self.looks += 1
            self.false += sorted(said - down - self.down)

    def stop(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()


def rescues(fleet: Fleet, since: float, dead: set[str]) -> list[Rebalance]:
    """Rescues from these clusters that have begun since."""
    return [r for r in fleet.store.rebalances() if r.at >= since and dead & set(r.died_at)]


def outage(fleet: Fleet, died_at: float, dead: list[str]) -> Outage:
    """Wait until every operator that ran there commits elsewhere, and say when what happened."""
    lost = {p.operator for p in fleet.store.placements().values() if p.cluster in dead}
    noticed: dict[str, float] = {}
    psutil.cpu_percent()

    def first_commits() -> dict[str, float]:
        for death in fleet.store.deaths():
            noticed.setdefault(death.cluster, death.noticed_at - died_at)
        found = {o.name: o for o in fleet.snapshot().operators if o.name in lost}
        return {
            name: o.first_batch_at - died_at
            for name, o in found.items()
            if o.cluster not in dead and o.first_batch_at is not None and o.first_batch_at > died_at
        }

    wait_until(lambda: set(first_commits()) == lost, 60, f"{lost} commit elsewhere")
    busy = psutil.cpu_percent() / 100.0
    ordered = [r.at - died_at for r in rescues(fleet, died_at, set(dead))]
    return Outage(
        max(noticed.values(), default=0.0), max(ordered, default=0.0), first_commits(), busy
    )


def suspended(fleet: Fleet, watch: Watch, name: str) -> str:
    """Suspend a cluster for a minute, then look what it did; a sentence."""
    ran = sorted(p.operator for p in fleet.store.placements().values() if p.cluster == name)
    at = time.time()
    watch.down.add(name)
    fleet.suspend(name)
    took = outage(fleet, at, [name]).commits_s
    time.sleep(max(0.0, SUSPENDED_S - (time.time() - at)))
    fleet.wake(name)
    fleet.alive(name)
    watch.down.discard(name)
    fleet.settled()
    done = [m for r in rescues(fleet, at, {name}) for m in r.moves if m.step is MoveStep.DONE]
    return (
        f"{name}, with {', '.join(ran) or 'nothing'}, was suspended for {SUSPENDED_S:.0f} s: "
        f"{len(done)} operators were rescued, the slowest after "
        f"{max(took.values(), default=0.0):.1f} s; when it woke up it found itself fenced"
    )


def main() -> None:
    """Kill, measure and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--deaths", type=int, default=20)
    arguments.add_argument("--rate", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--rest", type=float, default=15.0, help="seconds between two")
    arguments.add_argument("--minutes", type=float, default=60.0, help="no further death after")
    options = arguments.parse_args()
    choice = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    fleet = Fleet(folder, rate=options.rate)
    single: list[float] = []
    double: list[float] = []
    calm: list[float] = []
    outages: list[Outage] = []
    watch = Watch(fleet)
    began = time.monotonic()
    try:
        time.sleep(25)  # hosts warm up
        for i in range(options.deaths):
            placed = {p.cluster for p in fleet.store.placements().values()}
            first = choice.choice(sorted(placed))
            dead = [first]
            if i % 3 == 2:
                dead.append(choice.choice(sorted(set(PLACE) - {first})))
            watch.down.update(dead)
            at = fleet.kill(*dead)
            took = outage(fleet, at, dead)
            outages.append(took)
            (double if len(dead) > 1 else single).extend(took.commits_s.values())
            if took.busy < SATURATED:
                calm.extend(took.commits_s.values())
            words = ", ".join(f"{n} {s:.1f} s" for n, s in took.commits_s.items())
            print(
                f"death {i + 1}, {' and '.join(dead)}: noticed {took.noticed_s:.1f} s, ordered "
                f"{took.ordered_s:.1f} s, {words}; machine {took.busy:.0%}", flush=True,
            )  # fmt: skip
            for name in dead:
                fleet.start(name)
            for name in dead:
                fleet.alive(name)
                watch.down.discard(name)
            fleet.settled()
            time.sleep(options.rest)
            if time.monotonic() - began > options.minutes * 60.0:
                break
        busy = [p.cluster for p in fleet.store.placements().values()]
        said = suspended(fleet, watch, choice.choice(busy))
        rows, exact = fleet.counts()
        judged = [r for r in fleet.store.recommendations(500) if r.kind == "rescue"]
        effective = sum(r.status == "effective" for r in judged)
    except BaseException:
        for log in sorted(folder.glob("*.log")):
            print(f"-- {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:]), flush=True)
        raise
    finally:
        watch.stop()
        fleet.close()
        shutil.rmtree(folder, ignore_errors=True)

    def row(name: str, found: list[float]) -> tuple[object, ...]:
        if not found:
            return (name, 0, "-", "-", "-")
        p95 = sorted(found)[max(0, round(0.95 * len(found)) - 1)]
        return (
            name, len(found), f"{statistics.median(found):.1f} s", f"{p95:.1f} s",
            f"{max(found):.1f} s",
        )  # fmt: skip

    text = report.table(
        ("deaths", "operators rescued", "p50", "p95", "slowest"),
        [
            row("one cluster", single),
            row("two at once", double),
            row("all", single + double),
            row(f"of these, machine under {SATURATED:.0%} busy", calm),
        ],
    )
    deaths, looks = len(outages), watch.looks
    noticed = statistics.median(o.noticed_s for o in outages)
    ordered = statistics.median(o.ordered_s for o in outages)
    busy_share = statistics.median(o.busy for o in outages)
    text += (
        f"\n\nSeconds from kill -9 to the first commit in another cluster, at {options.rate} rows/s; "
        f"goal: p95 of 10 s on a machine that is not saturated. {deaths} deaths; half of "
        f"them were noticed within {noticed:.1f} s and the order given within {ordered:.1f} s; the "
        f"{psutil.cpu_count()} processors were {busy_share:.0%} busy meanwhile. {effective} "
        f"of {len(judged)} rescues were judged effective. {rows:,} rows were generated, counts at "
        f"rest {'are exact' if exact else 'DIFFER'}. In {looks:,} looks at what the pages say, "
        f"{len(watch.false)} called a cluster dead that lived. {said}."
    )
    report.write(
        "failover", f"python -m benchmarks.failover --deaths {deaths} --rate {options.rate}", text
    )
    print(text)


if __name__ == "__main__":
    main()
