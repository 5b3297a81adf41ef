"""Twenty thousand mutated values through every door: does anything crash, fail or change?

Texts and files (traces, problems, sizings, tunings, scalers' memories, event logs), HTTP routes,
callbacks and messages of sockets, each from somebody with every right, and values in Redis. Of a
text, a part is odd, missing or cut; structure stays valid half of the time. A crash is anything but
a refusal in words; a hang is a request that takes longer than ten seconds.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import report
from tests.support.doors import doors, escaped
from tests.support.feeder import Feeder
from tests.support.inside import Inside, routes
from tests.support.mutations import Odd
from weir.components.web.security.limits import CALLBACK_PATH
from weir.controllers.model.placement import LEADER
from weir.pipeline.local.redis_server import RedisServer

HANG_S = 10.0
Row = tuple[str, int, Counter[str], float]


def texts(seed: int, count: int) -> Row:
    """Files and texts, spread over their doors."""
    found, out, slowest = doors(), Counter[str](), 0.0
    each = count // len(found)
    for name, door in found.items():
        began = time.monotonic()
        out += Counter({f"{name}: {k}": v for k, v in escaped(door, seed, each).items()})
        slowest = max(slowest, (time.monotonic() - began) / each)
    return "texts and files", each * len(found), out, slowest


class Web:
    """The web side in this process, asked by an admin."""

    def __init__(self, inside: Inside, seed: int) -> None:
        self.inside, self.odd, self.choice = inside, Odd(seed), random.Random(seed)

    def _judged(self, count: int, what: str, ask: Any) -> Row:
        out, slowest = Counter[str](), 0.0
        for _ in range(count):
            began = time.monotonic()
            name, status = ask()
            took_s = time.monotonic() - began
            slowest = max(slowest, took_s)
            if status >= 500 and status != 503:
                out[f"{name}: {status}"] += 1
            if took_s > HANG_S:
                out[f"{name}: {took_s:.0f} s"] += 1
        return what, count, out, slowest

    def http(self, count: int) -> Row:
        """Routes with odd paths, queries and bodies; none that would be in form."""
        known = [(m, r.path) for m, _, r in routes(self.inside) if "sign-out" not in r.path]
        bodies: tuple[dict[str, Any], ...] = ({"executors": 2}, {"paused": True}, {"mode": "auto"}, {"values": {"a": 1}},
                  {"plan_hash": "x"}, {"cluster": "wide"}, {"table": {}}, {"rows_per_s": 5})  # fmt: skip

        def ask() -> tuple[str, int]:
            method, path = self.choice.choice(known)
            for name in ("id", "cluster", "operator", "workload", "group", "run", "verb",
                         "rest:path", "package_name", "fingerprinted_path:path"):  # fmt: skip
                odd = self.choice.choice(["none", "%00", "..%2f..", "x" * 500, "%ff", "a b", "-1"])
                path = path.replace("{" + name + "}", odd)
            query = self.choice.choice(["", "?limit=-1", "?limit=1e99", "?at=nan", "?at=%00&x",
                                        "?since=9e999", "?job=../..", "?size=-1&name=%ff"])  # fmt: skip
            body = self.odd.text(json.dumps(self.choice.choice(bodies)).encode())
            answer = self.inside.ask(
                method, path + query, headers=self.inside.bearer(),
                content=b"" if method == "GET" else body,
            )  # fmt: skip
            return f"{method} {path[:60]}", answer.status_code

        return self._judged(count, "HTTP", ask)

    def callbacks(self, count: int) -> Row:
        """Callbacks as the browser asks them, with one part of the body odd."""
        headers, _ = self.inside.session()
        outputs = [
            o for o, k in self.inside.callbacks.items() if "push" not in k["callback"].__name__
        ]

        def ask() -> tuple[str, int]:
            output = self.choice.choice(outputs)
            value = self.choice.choice([None, 1, "x", "wide", {"id": "wide"}, ["a"]])
            body = self.odd.text(json.dumps(self.inside.callback(output, value)).encode())
            answer = self.inside.ask("POST", CALLBACK_PATH, headers=headers, content=body)
            return f"callback {output[:60]}", answer.status_code

        return self._judged(count, "callbacks", ask)

    def sockets(self, count: int) -> Row:
        """Messages of a socket; it goes on or is closed, and no task of the server fails."""
        headers, _ = self.inside.session()
        push = next(o for o, k in self.inside.callbacks.items() if k.get("websocket"))
        request = {"type": "callback_request", "requestId": "1", "rendererId": "r"}

        def ask() -> tuple[str, int]:
            good = {**request, "payload": self.inside.callback(push, {"page": "/", "path": "/"})}
            text = self.odd.text(json.dumps(good).encode()).decode("latin-1")
            sent = self.inside.socket(headers, text, '{"type": "heartbeat"}')
            ended = any(
                m["type"] == "websocket.close" or "heartbeat_ack" in m.get("text", "") for m in sent
            )
            return "socket", 200 if ended else 500

        return self._judged(count, "sockets", ask)


def in_redis(seed: int, count: int) -> Row:
    """Values in Redis, before the eyes of engine, pages, recorder and an agent (their test)."""
    file = "tests/contract/metrics/store/test_mutations.py"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-q", "--no-header", file,
         "--deselect", f"{file}::test_every_key_is_in_the_populated_store"],
        env={**os.environ, "WEIR_MUTATIONS": str(count // 4), "WEIR_SEED": str(seed)},
        capture_output=True, text=True,
    )  # fmt: skip
    print(done.stdout[-3000:] if done.returncode else "", flush=True)
    failed = Counter(line for line in done.stdout.splitlines() if line.startswith("FAILED"))
    return "values in Redis", count, failed, (time.monotonic() - began) / count


def run(seed: int, count: int, redis_count: int) -> list[Row]:
    """All doors; what Weir keeps must be the same before and after."""
    rows = [texts(seed, count * 2 // 5)]
    print(rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = RedisServer(folder / "redis").start()
        feeder = Feeder(server.url, obeys=True)
        feeder.history(0.5)
        inside = Inside(server.url, folder)
        inside.store.acquire(LEADER, "engine/test", 36_000.0)
        web = Web(inside, seed)
        kept, users = inside.everything(), inside.users.content()
        for rows_of in (
            web.http(count // 5), web.callbacks(count // 5), web.sockets(count // 5),
        ):  # fmt: skip
            rows.append(rows_of)
            print(rows_of, flush=True)
        after = inside.everything()
        if inside.users.content() != users or after != kept:
            changed = sorted(k for k in {*kept, *after} if kept.get(k) != after.get(k))
            rows.append(("CHANGED", 0, Counter(map(str, changed)), 0.0))
        inside.stop()
        server.stop()
    rows.append(in_redis(seed, redis_count))
    return rows


def main() -> None:
    """Go through the doors and write the section."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=20_000)
    arguments.add_argument("--redis", type=int, default=2000, help="of these, values in Redis")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    rows = run(options.seed, options.count - options.redis, options.redis)
    total = sum(row[1] for row in rows)
    bad = sum((row[2] for row in rows), Counter[str]())
    text = report.table(
        ("door", "mutated values", "crashes, 5xx, hangs", "slowest, or mean of a text"),
        [(n, f"{c:,}", sum(out.values()), f"{s * 1000:.0f} ms") for n, c, out, s in rows],
    )
    text += (
        f"\n\n{total:,} mutated values with seed {options.seed}; escaped: "
        + ("; ".join(f"{k} ({v})" for k, v in bad.items()) or "none")
        + ". What Weir keeps was the same before and after those by HTTP, callback and socket."
    )
    report.write(
        "mutated inputs",
        f"python -m benchmarks.mutated_inputs --count {options.count} --redis {options.redis}",
        text,
    )
    print(text)


if __name__ == "__main__":
    main()
