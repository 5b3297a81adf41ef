"""The sliced demo under changing load while it is broken at random: does it stay true and exact?

Faults come one after the other, by a seed: kill -9 and suspension of every kind of process, Redis's
memory full, the network cut, the disk of checkpoints and runs full, the clock set ahead and back.
After each, `/health` has to tell the truth and the page has to open within ten seconds, several times
in a row. At the end the input stops, and everything that was generated must have been counted once,
nothing may hang, no action may have been carried out twice, and the audit trail must be whole. Where
one of these is not so, the run has failed: its section says so, and so does the exit code.

Needs root, as it moves into network and mount namespaces of its own, and a C compiler.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import httpx
import psutil
from redis.exceptions import RedisError

from benchmarks import faults, report
from tests.support.made import topic_counts
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.controllers.engine.ports import Workload
from weir.controllers.engine.recommendation import Status
from weir.metrics.store.redis_store import RedisStore, connect
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.workloads.top_n import SHARDS, TWEETS, counted

TRUE_WITHIN_S = 10.0
GIVE_UP_S = 90.0
AGES_AGREE_S = 3.0
LOOKS = 3
"""In a row that must be true: each is answered by any of the web workers."""
DISK = "2g"
FAULT_S = 15.0
"""What a fault takes with the looks after it; the rest of the time is spread at random."""
LATE_S = 900.0
"""How much longer than told a run may take before the rest of the faults is given up."""


class Watched(Protocol):
    """What is looked at: the demo, or parts on several machines."""

    store: RedisStore
    redis_url: str

    def health(self) -> dict[str, Any]: ...
    def ask(self, path: str) -> httpx.Response: ...


def lie(system: Watched) -> str:
    """What the web server says that is not so; empty if all is true."""
    try:
        health = system.health()
        page = system.ask("/").status_code
    except (OSError, ValueError) as error:
        return f"no answer ({type(error).__name__})"
    if page != 200:
        return f"the page answers {page}"
    up = faults.reaches_redis(system.redis_url)
    if health["redis"]["up"] != up:
        return f"Redis is {'up' if up else 'down'}, and it says otherwise"
    if not up:
        return ""
    if not health["reader"]["up"]:
        return "it does not read Redis"
    if not isinstance(health["clusters"], dict):
        return "it does not know who asks"
    try:
        latest = {s.cluster.name: time.time() - s.at for s in system.store.latest()}
        parts = system.store.parts()
    except (RedisError, OSError):
        return "Redis did not answer just now"
    for name, age_s in latest.items():
        told = health.get("clusters", {}).get(name, {}).get("data_age_s")
        if told is None or abs(told - age_s) > AGES_AGREE_S:
            return f"data of {name} is {age_s:.1f} s old, and it says {told}"
    said = {p["id"]: p["state"] for p in health["parts"]}
    for part in parts:
        there = part.status == "stopped" or not part.pid or psutil.pid_exists(part.pid)
        if not there and said.get(part.id) in ("up", "starting"):
            return f"{part.id} has gone, and it says {said[part.id]}"
    return ""


def true_after(system: Watched) -> tuple[float, str]:
    """Seconds until everything that the web server says is so and stays so for a few looks, and
    the last lie before."""
    began, last, since, looks = time.monotonic(), "", 0.0, 0
    while True:
        asked_s = time.monotonic() - began
        found = lie(system)
        if found:
            last, looks = found, 0
        else:
            since, looks = (since, looks + 1) if looks else (time.monotonic() - began, 1)
        if looks >= LOOKS:
            return since, last
        if asked_s > GIVE_UP_S:
            return asked_s, last or "not always the same"
        time.sleep(0.2)


def steer(system: System, rate: float) -> None:
    """Another load; while Redis is away, later."""
    with suppress(RedisError, OSError):
        system.store.set_workload(Workload(name="tweets", rows_per_s=rate))


def at_rest(system: Watched) -> tuple[int, bool]:
    """Stop the input and let everything run dry: rows generated, and whether all were counted once."""
    system.store.set_workload(Workload(name="tweets", rows_per_s=0.0, paused=True))
    with connect(system.redis_url) as client:
        edge, last = EdgeStream(client, TWEETS, SHARDS), -1

        def stopped() -> bool:
            nonlocal last
            before, last = last, edge.totals()[0]
            time.sleep(1.0)
            return before == last

        wait_until(stopped, 90, "the input has stopped")
    try:
        wait_until(lambda: sum(counted(system.redis_url).values()) >= last, 240, "all is counted")
    except AssertionError:
        return last, False
    return last, counted(system.redis_url) == topic_counts(last)


def stuck(system: System) -> list[str]:
    """What has not come to an end: commands, recommendations, moves, re-slices."""
    store = system.store
    found = [f"command {c.id}" for n in ("wide", "narrow") for c in store.open_commands(n)]
    found += [
        f"recommendation {r.id} is {r.status}"
        for r in store.recommendations(500)
        if r.status in (Status.APPROVED, Status.APPLYING)
    ]
    found += [f"rebalance {r.id}" for r in store.rebalances() if not r.final]
    return found


def twice(system: Watched) -> list[str]:
    """Actions that were carried out more than once, by the audit trail."""
    done = Counter(
        e.subject for e in system.store.audit(100_000) if e.action == "recommendation.applied"
    )
    return [f"{subject}: {count} times" for subject, count in done.items() if count > 1]


def run(minutes: float, most: int, seed: int, folder: Path) -> tuple[str, list[str]]:
    """Break it for this many minutes; the section, and what is not as it has to be."""
    choice = random.Random(seed)
    system = System(folder, "--set", "slices=4", "--rate", "60")
    rows: list[tuple[faults.Fault, float, str]] = []
    nobody = Counter[str]()
    try:
        for name in ("wide", "narrow"):
            told = system.command("mode", name, "auto")
            assert told.returncode == 0, told.stderr
        ends = time.monotonic() + 60 * minutes
        for fault in faults.drawn(seed):
            left_s = ends - time.monotonic()
            if left_s < -LATE_S or len(rows) >= most:
                break
            time.sleep(choice.uniform(0.0, 2.0 * max(0.0, left_s / (most - len(rows)) - FAULT_S)))
            steer(system, choice.choice((30.0, 60.0, 120.0, 180.0)))
            with faults.happening(system, fault, choice) as to:
                pass
            if to == "nobody":
                nobody[fault.to] += 1
                continue
            took_s, last = true_after(system)
            rows.append((fault, took_s, last))
            print(f"{len(rows)} {fault.words}: true after {took_s:.1f} s; {last}", flush=True)
        print("letting it run dry", flush=True)
        took = time.monotonic()
        wait_until(lambda: system.health()["status"] == "ok", 180, "it is well again")
        well_s = time.monotonic() - took
        generated, exact = at_rest(system)
        with suppress(AssertionError):
            wait_until(lambda: not stuck(system), 120, "nothing is under way")
        left = stuck(system)
        acted = Counter(
            e.action for e in system.store.audit(100_000) if e.action.startswith("recommendation.")
        )
        verified = system.command("audit", "--verify")
        again = twice(system)
    except BaseException:
        print(system.described()[-20_000:], flush=True)
        raise
    finally:
        system.stop()
    late = [(f, s, why) for f, s, why in rows if s > TRUE_WITHIN_S]
    hit = {fault.to for fault, _, _ in rows}
    wrong = [
        *(f"{f.words}: not true within {TRUE_WITHIN_S:.0f} s" for f, _, _ in late),
        *(f"no {kind} was ever found" for kind in nobody if kind not in hit),
        *(f"left under way: {what}" for what in left),
        *(f"carried out twice: {what}" for what in again),
    ]
    wrong += [
        words
        for words, found in (
            (f"only {len(rows)} faults of {most}", len(rows) < most),
            ("counts differ", not exact),
            ("the audit trail is not whole", verified.returncode != 0),
            ("nothing was done by itself", not acted["recommendation.applied"]),
        )
        if found
    ]
    by_kind: dict[str, list[float]] = {}
    for fault, took_s, _ in rows:
        by_kind.setdefault(" ".join(filter(None, (fault.what, fault.to))), []).append(took_s)
    text = report.table(
        ("fault", "times", "true again after, slowest"),
        [(k, len(v), f"{max(v):.1f} s") for k, v in sorted(by_kind.items())],
    )
    text += (
        f"\n\n{len(rows)} faults with seed {seed}, one after the other, on the demo with four slices at "
        f"30 to 180 rows/s, both clusters in mode auto. Of {len(rows)}, `/health` and the page were "
        f"true within {TRUE_WITHIN_S:.0f} s after {len(rows) - len(late)}"
        + "".join(f"; {f.words}: {s:.0f} s ({why})" for f, s, why in late)
        + f". Well {well_s:.0f} s after the last. {generated:,} rows were generated; counts at rest "
        f"{'are exact' if exact else 'DIFFER'}. Left under way: {', '.join(left) or 'nothing'}. "
        f"Processes that were not there when their turn came: "
        + (", ".join(f"{kind} ({count})" for kind, count in nobody.items()) or "none")
        + ". Recommendations: "
        + ", ".join(f"{n} {a.removeprefix('recommendation.')}" for a, n in sorted(acted.items()))
        + f"; carried out twice: {', '.join(again) or 'none'}. Audit trail: "
        f"{' '.join((verified.stdout or verified.stderr).split())}"
        + (f"\n\n**FAILED**: {'; '.join(wrong)}." if wrong else "")
    )
    return text, wrong


def main() -> None:
    """Move into namespaces, break the demo, write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--minutes", type=float, default=60.0)
    arguments.add_argument("--faults", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    if not faults.isolated():
        own = ["unshare", "-n", "-m", sys.executable, "-m", "benchmarks.chaos", *sys.argv[1:]]
        os.execvpe(own[0], own, {**os.environ, "WEIR_CHAOS_ALONE": "yes"})
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    folder = Path(tempfile.mkdtemp(prefix="weir-chaos-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "weir", folder], check=True)
    os.environ["WEIR_HOME"] = str(folder / "home")
    os.environ |= faults.clock_env(folder)
    try:
        text, wrong = run(options.minutes, options.faults, options.seed, folder)
    finally:
        subprocess.run(["umount", "-l", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    command = f"python -m benchmarks.chaos --minutes {options.minutes:g} --seed {options.seed}"
    report.write("chaos", command, text)
    print(text)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    try:
        main()
    except httpx.HTTPError as error:
        sys.exit(str(error))
