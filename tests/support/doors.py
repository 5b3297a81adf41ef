"""Where files and texts of others come in, without Redis or a web server: each takes or refuses."""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.support.mutations import Odd
from weir.components.pages.scale.chart import fitted_text
from weir.components.pages.what_if.choices import _settings
from weir.controllers.balancing.base import Deadline, planner
from weir.controllers.balancing.codec import decode
from weir.controllers.model.errors import WeirError
from weir.controllers.model.trace import read_trace
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.drs.sizing import SIZERS, read_problem, size
from weir.controllers.scaling.registry import create, scalers
from weir.controllers.simulator.tuning import Candidate, Tuning, read_tuning, write_tuning
from weir.metrics.eventlog.importer import import_log
from weir.metrics.eventlog.locate import locate
from weir.metrics.runs.upload import Jobs, UploadStatus


class Door(Struct, frozen=True):
    """What comes in there, and who reads it."""

    good: bytes
    read: Callable[[bytes], object]
    lines: bool = False  # text of lines, not JSON


def _plan(data: bytes) -> None:
    problem = decode(data)
    for name in ("flux", "milp", "albic", "cola"):
        ends = time.monotonic() + 0.05
        left = Deadline(lambda ends=ends: ends - time.monotonic())  # type: ignore[misc]
        planner(name).plan(problem, remaining_s=left)


def _size(data: bytes) -> None:
    problem = read_problem(data)
    for scaler in SIZERS:
        size(problem, scaler, None, None)
        size(problem, scaler, 8, None)
    size(problem, "drs", None, 3.0)


def _log(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "app-1"
        path.write_bytes(data)
        for log in locate(path):
            for _ in import_log(log, Path(folder) / "runs"):
                pass


def _upload(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(folder)
        job = jobs.begin("log", 10)
        (jobs.root / ".uploads" / job / "status.json").write_bytes(data)
        jobs.begin("another", 10)
        jobs.status(job)


PROBLEM = {
    "bins": [{"name": "a", "capacity": 4.0}, {"name": "b", "capacity": 2.0, "keep": True}],
    "items": [
        {"name": f"i{k}", "load": 0.3 * k, "bin": "ab"[k % 2], "move_cost": 1.0 * k}
        for k in range(6)
    ],
    "flows": [{"from": "i0", "to": "i1", "rate": 5.0}],
    "budget": {"moves": 3},
}
SIZING = {
    "operators": [{"name": "a", "mu": 4.0}, {"name": "b", "mu": 8.0, "ca2": 1.0, "cs2": 2.0}],
    "external": {"a": 10.0},
    "routing": [{"from": "a", "to": "b", "share": 0.5}],
}
TUNING = Tuning(
    scaler="fixed", target_latency_s=5.0, seed=1, trained_hours=1.0, judged_hours=1.0, trials=(),
    front=(), default=Candidate(label="fixed", scaler="fixed"), baselines=(), importance=(), chosen=None, verdict="",
    beats_default=False,
)  # fmt: skip
LOG = b"""{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}
{"Event":"SparkListenerApplicationStart","App Name":"mine","App ID":"app-1","Timestamp":1700000000000}
{"Event":"SparkListenerExecutorAdded","Timestamp":1700000001000,"Executor ID":"1","Executor Info":{"Host":"h","Total Cores":2}}
{"Event":"SparkListenerApplicationEnd","Timestamp":1700000060000}
"""
TRACE = b"time,rows_per_s\n" + b"".join(b"%d,%d\n" % (10 * k, 100 + k) for k in range(40))


def doors() -> dict[str, Door]:
    """Every door by name."""
    found = {
        "trace": Door(TRACE, read_trace, lines=True),
        "problem": Door(json.dumps(PROBLEM).encode(), _plan),
        "sizing": Door(json.dumps(SIZING).encode(), _size),
        "tuning": Door(write_tuning(TUNING), read_tuning),
        "what-if's settings": Door(b'{"a": 1}', lambda data: _settings(data.decode("latin-1"))),
        "fitted memory": Door(b'{"overhead": [9.5, 9.0], "model_s": 0.4}', fitted_text),
        "upload's status": Door(msgspec.json.encode(UploadStatus(name="x", size_bytes=9)), _upload),
        "event log": Door(LOG, _log, lines=True),
    }
    for name in scalers():
        scaler = create(name, {}, Scope(cluster="wide"))
        fresh = msgspec.json.encode(scaler.fresh())
        found[f"memory of {name}"] = Door(fresh, scaler.remember)
    return found


def escaped(door: Door, seed: int, count: int) -> Counter[str]:
    """What a door let out of so many mutated texts that is no refusal in words."""
    odd, out = Odd(seed), Counter[str]()
    for _ in range(count):
        data = odd.line(door.good) if door.lines else odd.text(door.good)
        try:
            door.read(data)
        except WeirError:
            pass
        except Exception as error:
            out[f"{type(error).__name__}: {str(error)[:120]}"] += 1
    return out
