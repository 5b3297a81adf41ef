"""Deaths of clusters under load: how long until what they ran commits elsewhere, and is it exact?

Three clusters. One of them, chosen at random, is killed with kill -9 (driver and JVM) and
nobody restarts it until all that it ran commits elsewhere; every third time two die at once.
Then what died is started again and the next one dies. At the end one is suspended for a
minute, wakes up, and must have written nothing that counts.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import report
from tests.support.fleet import PLACE, Fleet
from tests.support.waiting import wait_until
from weir.controllers.engine.apply.moves import MoveStep, Rebalance

SUSPENDED_S = 60.0


def rescues(fleet: Fleet, since: float, dead: set[str]) -> list[Rebalance]:
    """Rescues from these clusters that have begun since."""
    return [r for r in fleet.store.rebalances() if r.at >= since and dead & set(r.died_at)]


def outage(fleet: Fleet, died_at: float, dead: list[str]) -> dict[str, float]:
    """Seconds from death to the first commit elsewhere of every operator that ran there."""
    lost = {p.operator for p in fleet.store.placements().values() if p.cluster in dead}

    def first_commits() -> dict[str, float]:
        found = {o.name: o for o in fleet.snapshot().operators if o.name in lost}
        return {
            name: o.first_batch_at - died_at
            for name, o in found.items()
            if o.cluster not in dead and o.first_batch_at is not None and o.first_batch_at > died_at
        }

    wait_until(lambda: set(first_commits()) == lost, 180, f"{lost} commit elsewhere")
    return first_commits()


def suspended(fleet: Fleet, name: str) -> str:
    """Suspend a cluster for a minute, then look what it did; a sentence."""
    ran = sorted(p.operator for p in fleet.store.placements().values() if p.cluster == name)
    at = time.time()
    fleet.suspend(name)
    took = outage(fleet, at, [name])
    time.sleep(max(0.0, SUSPENDED_S - (time.time() - at)))
    fleet.wake(name)
    fleet.alive(name)
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
    options = arguments.parse_args()
    choice = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="weir-bench-"))
    fleet = Fleet(folder, rate=options.rate)
    single: list[float] = []
    double: list[float] = []
    try:
        time.sleep(25)  # hosts warm up
        for i in range(options.deaths):
            placed = {p.cluster for p in fleet.store.placements().values()}
            first = choice.choice(sorted(placed))
            dead = [first]
            if i % 3 == 2:
                dead.append(choice.choice(sorted(set(PLACE) - {first})))
            at = fleet.kill(*dead)
            took = outage(fleet, at, dead)
            (double if len(dead) > 1 else single).extend(took.values())
            words = ", ".join(f"{n} {s:.1f} s" for n, s in took.items())
            print(f"death {i + 1}, {' and '.join(dead)}: {words}", flush=True)
            for name in dead:
                fleet.start(name)
            for name in dead:
                fleet.alive(name)
            fleet.settled()
            time.sleep(15)
        busy = [p.cluster for p in fleet.store.placements().values()]
        said = suspended(fleet, choice.choice(busy))
        rows, exact = fleet.counts()
        judged = [r for r in fleet.store.recommendations(500) if r.kind == "rescue"]
        effective = sum(r.status == "effective" for r in judged)
    except BaseException:
        for log in sorted(folder.glob("*.log")):
            print(f"-- {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:]), flush=True)
        raise
    finally:
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
        [row("one cluster", single), row("two at once", double), row("all", single + double)],
    )
    text += (
        f"\n\nSeconds from kill -9 to the first commit in another cluster, at {options.rate} rows/s; "
        f"goal: p95 of 10 s on a machine that is not saturated. {options.deaths} deaths; {effective} "
        f"of {len(judged)} rescues were judged effective. {rows:,} rows were generated, counts at "
        f"rest {'are exact' if exact else 'DIFFER'}. {said}."
    )
    report.write("failover", f"python -m benchmarks.failover --deaths {options.deaths}", text)
    print(text)


if __name__ == "__main__":
    main()
