"""Weir on three machines as docs/operating.md says, one of which is cut off for a while.

The machines are network namespaces with addresses of their own (`benchmarks/networks.py`) on one
disk, which stands for storage that all of them reach. Redis speaks TLS only, with the user and ACL
of docs/security.md. After the cut everything that was generated must have been counted once, what
the web server says must have been true, and no action may have been carried out twice or late.

Where one of these is not so, the section says so, and so does the exit code.

Needs root, `ip`, `openssl`, and a redis-server that was built with TLS.
"""

import argparse
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx
from redis.exceptions import RedisError

from benchmarks import networks, report
from benchmarks.chaos import at_rest, lie, twice
from benchmarks.networks import ADDRESSES, within
from tests.support.processes import ROOT, last_lines, start, stop
from tests.support.requests import Requests
from tests.support.waiting import wait_until
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.redis_store import RedisStore
from weir.pipeline.local.home import lean_home
from weir.pipeline.local.process import scratch

PLACES = {"south": ("two", "topic_count"), "north": ("three", "extractor,top_n")}
"""Cluster -> machine of its host, what it is given at first."""
CUT = "three"


class Machines(Requests):
    """All parts, each started on its machine with the words of docs/operating.md."""

    def __init__(self, folder: Path, rate: float) -> None:
        self.folder = folder
        self._parts: dict[str, subprocess.Popen[bytes]] = {}
        self._home = lean_home(folder)
        for name in ADDRESSES:
            (folder / name / "tmp").mkdir(parents=True)
        self.redis_url = self._redis()
        self.store = RedisStore.at(self.redis_url)
        wait_until(self._answers, 30, "Redis answers")
        self._weir("one", "engine")
        self._weir("one", "web", "--host", "0.0.0.0", "--port", 8050,
                   "--allow-host", "weir.example")  # fmt: skip
        self._weir("one", "record", "--runs", folder / "runs")
        self._client = httpx.Client(
            base_url=f"http://{ADDRESSES['one']}:8050", timeout=20, headers={"host": "weir.example"}
        )
        wait_until(self._serves, 120, "the web server answers")
        self._client.post("/sign-in/link", json={"link": self._link()}).raise_for_status()
        self._spark()
        for cluster, (machine, place) in PLACES.items():
            key = folder / machine / f"{cluster}.key"
            key.write_text(self.said("key", cluster).stdout)
            key.chmod(0o600)
            self._weir(
                machine, "host", cluster, "--master", f"spark://{ADDRESSES['two']}:7077",
                "--address", ADDRESSES[machine], "--place", place, "--executors", 1,
                "--max-executors", 2, "--cores", 2, "--period", 2,
                "--conf", "spark.sql.shuffle.partitions=2",
                "--checkpoints", folder / "shared" / "checkpoints",
                WEIR_KEY_FILE=str(key),
            )  # fmt: skip
        wait_until(lambda: self.running() == set(PLACES), 240, "all operators run")
        self._weir("one", "generate", "--rate", rate)
        wait_until(
            lambda: sum(bool(o.batch_rows) for s in self.store.latest() for o in s.operators) >= 2,
            120, "rows flow",
        )  # fmt: skip

    def _redis(self) -> str:
        address, secret = ADDRESSES["one"], secrets.token_hex(16)
        folder = self.folder / "one"
        authority, cert, key = networks.certificates(folder, address)
        config = folder / "redis.conf"
        config.touch(mode=0o600)
        config.write_text(
            f"bind {address}\nport 0\ntls-port 6380\nprotected-mode yes\ndir {folder}\n"
            f"tls-cert-file {cert}\ntls-key-file {key}\ntls-ca-cert-file {authority}\n"
            'tls-auth-clients no\nappendonly yes\nsave ""\nuser default off\n'
            f"user weir on >{secret} ~weir:* +@all -@admin -@dangerous +info\n"
        )
        server = shutil.which("redis-server") or "redis-server"
        self._start("one", "redis", [server, str(config)])
        return f"rediss://weir:{secret}@{address}:6380/0?ssl_ca_certs={authority}"

    def _answers(self) -> bool:
        with suppress(RedisError, OSError):
            return bool(self.store.client.ping())
        return False

    def _serves(self) -> bool:
        with suppress(OSError):
            return self.ask("/health").status_code == 200
        return False

    def _spark(self) -> None:
        base = self._home / "bin" / "spark-class"
        master = f"spark://{ADDRESSES['two']}:7077"
        for machine, kind, words in (
            ("two", "master", ("--host", ADDRESSES["two"], "--port", 7077)),
            ("two", "worker", ("--host", ADDRESSES["two"], "--cores", 4, "--memory", "3g", master)),
            ("three", "worker",
             ("--host", ADDRESSES["three"], "--cores", 4, "--memory", "3g", master)),
        ):  # fmt: skip
            self._start(
                machine, kind,
                [str(base), f"org.apache.spark.deploy.{kind}.{kind.title()}", *map(str, words)],
                SPARK_NO_DAEMONIZE="1", SPARK_DAEMON_MEMORY="256m",
                SPARK_WORKER_DIR=str(self.folder / machine / "work"),
                SPARK_LOCAL_DIRS=str(self.folder / machine / "local"),
            )  # fmt: skip
            if kind == "master":
                log = self.folder / "two" / "master.log"
                wait_until(lambda log=log: "I have been elected" in log.read_text(), 90, "a master")  # type: ignore[misc]

    def _weir(self, machine: str, command: str, *words: object, **more: str) -> None:
        name = f"{command}-{words[0]}" if command == "host" else command
        self._start(
            machine, name, [sys.executable, "-m", "weir", command, *map(str, words)], **more
        )

    def _start(self, machine: str, name: str, argv: list[str], **more: str) -> None:
        env = self._env(machine, name) | more
        log = self.folder / machine / f"{name}.log"
        self._parts[f"{machine} {name}"] = start(
            within(machine, argv), log, env, cwd=self.folder / machine
        )

    def _env(self, machine: str, name: str = "") -> dict[str, str]:
        env = {
            **scratch(self.folder / machine / "tmp"), "PYTHONPATH": str(ROOT),
            "WEIR_HOME": str(self.folder / machine / "home"), "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": ADDRESSES[machine], "PYSPARK_PYTHON": sys.executable,
        }  # fmt: skip
        if name != "redis":
            env["WEIR_REDIS_URL"] = self.redis_url if hasattr(self, "redis_url") else ""
        return env

    def said(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """What one of Weir's commands says on machine one."""
        return subprocess.run(
            within("one", [sys.executable, "-m", "weir", *words]), cwd=self.folder / "one",
            env={**os.environ, **self._env("one")}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def _link(self) -> str:
        found = re.search(r"/sign-in#link=(\S+)", (self.folder / "one" / "web.log").read_text())
        return found[1] if found else ""

    def snapshot(self) -> Snapshot:
        """The present, from the store."""
        return Snapshot.of(self.store.latest(), time.time())

    def running(self) -> set[str]:
        """The clusters whose operators all run, and which report."""
        snapshot = self.snapshot()
        return {
            c.name for c in snapshot.clusters
            if not snapshot.silent(c.name)
            and all(o.status == "running" for o in snapshot.operators_of(c.name))
        }  # fmt: skip

    def described(self) -> str:
        """The ends of all logs."""
        logs = sorted(self.folder.glob("*/*.log"))
        return "\n".join(f"-- {log.parent.name} {log.name}\n{last_lines(log, 15)}" for log in logs)

    def stop(self) -> None:
        """All of it, what was started last first."""
        for process in reversed(self._parts.values()):
            stop(process)


def cut_off(machines: Machines, seconds: float) -> tuple[str, Counter[str]]:
    """Pull the cable of a machine, ask for an action meanwhile, and look each second whether what
    is said is true: the answer to the action, and the lies."""
    lies, answer, until = Counter[str](), "", time.monotonic() + seconds
    networks.plugged(CUT, False)
    try:
        while time.monotonic() < until:
            found = lie(machines)
            lies["looks"] += 1
            if found:
                lies[found] += 1
            if not answer and until - time.monotonic() < seconds / 2:
                done = machines.said("scale", "north", "2")
                answer = " ".join((done.stdout or done.stderr).split())
                print(f"asked to scale meanwhile: {answer}", flush=True)
            time.sleep(1.0)
    finally:
        networks.plugged(CUT, True)
    return answer, lies


def run(folder: Path, seconds: float, rate: float) -> tuple[str, list[str]]:
    """Bring it up, cut one off, let it run dry; the section, and what is not as it has to be."""
    machines = None
    try:
        began = time.monotonic()
        machines = Machines(folder, rate)
        live_s = time.monotonic() - began
        print(f"all runs after {live_s:.0f} s", flush=True)
        time.sleep(30)
        before = {p.operator: p.cluster for p in machines.store.placements().values()}
        answer, lies = cut_off(machines, seconds)
        moved = {
            o: p.cluster for o, p in machines.store.placements().items() if before[o] != p.cluster
        }
        back = time.monotonic()
        wait_until(lambda: machines.running() == set(PLACES), 120, "everything runs again")
        back_s = time.monotonic() - back
        time.sleep(20)
        executors = {c.name: c.executors for c in machines.snapshot().clusters}
        generated, exact = at_rest(machines)
        audit = machines.said("audit", "--verify")
        rescued = [r for r in machines.store.recommendations(100) if r.kind == "rescue"]
        again = twice(machines)
    except BaseException:
        if machines:
            print(machines.described()[-30_000:], flush=True)
        else:
            for log in sorted(folder.glob("*/*.log")):
                print(f"-- {log}\n{last_lines(log, 25)}", flush=True)
        raise
    finally:
        if machines:
            machines.stop()
    looks = lies.pop("looks")
    wrong = [f"said and not so: {what}" for what in lies]
    wrong += [
        what
        for what, found in (
            ("counts differ", not exact),
            ("an action was carried out twice", bool(again)),
            ("the audit trail is not whole", audit.returncode != 0),
        )
        if found
    ]
    told = "; ".join(f"{what} ({n})" for what, n in lies.items()) or "none"
    rows = [
        ("all parts run after", f"{live_s:.0f} s"),
        ("cut off", f"machine {CUT}, with the host of north and a worker, for {seconds:.0f} s"),
        ("operators that were moved meanwhile",
         ", ".join(f"{o} to {c}" for o, c in sorted(moved.items())) or "none"),
        ("all run again after", f"{back_s:.0f} s"),
        ("looks at health and page meanwhile, lies", f"{looks}, {told}"),
        ("asked to scale north meanwhile", answer),
        ("executors after it", ", ".join(f"{c} {n}" for c, n in sorted(executors.items()))),
        ("rescues", ", ".join(r.status for r in rescued) or "none"),
        ("actions carried out twice", ", ".join(again) or "none"),
        ("rows generated, counts at rest", f"{generated:,}, {'exact' if exact else 'DIFFER'}"),
        ("audit trail", " ".join((audit.stdout or audit.stderr).split())),
    ]  # fmt: skip
    text = report.table(("what", "measured"), rows) + (
        f"\n\nThree network namespaces on one machine of {os.cpu_count()} cores, with one disk, at "
        f"{rate:g} rows/s. Redis with TLS, its user limited by ACL; one: Redis, engine, web, "
        "recorder, generator; two: Spark's master, a worker, the host of south; three: a worker, "
        "the host of north."
    )
    return text + (f"\n\n**FAILED**: {'; '.join(wrong)}." if wrong else ""), wrong


def main() -> None:
    """Make the machines, and write the section."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--cut", type=float, default=30.0, help="seconds")
    arguments.add_argument("--rate", type=float, default=50.0)
    arguments.add_argument("--dry", action="store_true", help="print, do not write the section")
    options = arguments.parse_args()
    networks.alone("benchmarks.machines")
    networks.set_up()
    folder = Path(tempfile.mkdtemp(prefix="weir-machines-"))
    try:
        text, wrong = run(folder, options.cut, options.rate)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not options.dry:
        report.write(
            "several machines", f"python -m benchmarks.machines --cut {options.cut:g}", text
        )
    print(text)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
