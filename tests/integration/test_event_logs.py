"""Event logs of a real application: imported, followed, and imported by Spark itself."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.support.processes import ROOT, start, weir
from tests.support.waiting import wait_until
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.reader import LogReader
from weir.metrics.eventlog.tables import read_samples
from weir.pipeline.local.process import scratch
from weir.pipeline.local.standalone import Standalone

WORLD = "a Spark of its own"

JOB = "tests/support/event_log_job.py"


class Job(Struct, frozen=True):
    """An application that has ended, and what was said about it meanwhile."""

    log: Path
    figures: dict[str, Any]  # by Spark's REST API, before it stopped
    followed: list[dict[str, Any]]  # the lines of `weir follow --json`


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Spark with nothing on it."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in scratch(folder).items():
            patch.setenv(name, value)
        spark = Standalone(folder).start()
    yield spark.url
    spark.stop()


@pytest.fixture(scope="module")
def job(master: str, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A small application, followed from its first line on."""
    folder = tmp_path_factory.mktemp("job")
    logs = folder / "logs"
    environment = {"PYTHONPATH": str(ROOT), **scratch(folder)}
    argv = [sys.executable, JOB, "--master", master, "--log-dir", str(logs)]
    application = start(argv, folder / "job.log", environment, stdout=subprocess.PIPE)
    try:
        (part,) = wait_until(lambda: list(logs.glob("eventlog_v2_*/events_1_*")), 90, "a log")
        following = weir("follow", part.parent, "--json", "--period", "1")
        follower = start(following, stdout=subprocess.PIPE)
        try:
            figures, _ = application.communicate(timeout=900)
            assert application.returncode == 0, (folder / "job.log").read_text()[-3000:]
            lines, _ = follower.communicate(timeout=120)  # it ends with the application
            assert follower.returncode == 0
        finally:
            follower.kill()
            follower.wait()
    finally:
        application.kill()
        application.wait()
    return Job(part.parent, json.loads(figures), [json.loads(line) for line in lines.splitlines()])


def test_an_import_agrees_with_spark_to_the_digit(job: Job, tmp_path: Path) -> None:
    summary = imported(job.log, "--runs", tmp_path)[0]
    assert summary["complete"]
    assert summary["broken_lines"] == 0
    for key in ("app_id", "name", "spark_version"):
        assert summary[key] == job.figures[key]
    for source in ("stages", "executors", "jobs", "queries"):
        expected = job.figures[source]
        assert {key: summary[key] for key in expected} == expected, source
    assert summary["tasks_failed"] == 1
    assert (summary["executors_added"], summary["executors_peak"]) == (1, 1)

    (run,) = tmp_path.iterdir()
    samples = read_samples(run)
    operators = [(o, s.period_s) for s in samples for o in s.operators]
    for name, rows in job.figures["rows_by_query"].items():
        done = sum(o.processed_rows_per_s * period for o, period in operators if o.name == name)
        assert done == pytest.approx(rows), name
    run_ms = sum(s.cluster.busy_cores * s.period_s for s in samples) * 1000
    assert run_ms == pytest.approx(summary["executor_run_time_ms"])
    assert sum(x.tasks for s in samples for x in s.executors) == summary["tasks_ended"]


def test_a_growing_log_is_followed_to_its_end(job: Job, tmp_path: Path) -> None:
    *samples, summary = job.followed
    assert summary == imported(job.log, "--runs", tmp_path)[0]
    assert len(samples) > 3
    assert [s["at"] for s in samples] == sorted({s["at"] for s in samples})
    seen = {o["name"] for s in samples for o in s.get("operators", ())}
    assert {"files", "ticks"} <= seen


def test_logs_are_imported_on_spark_as_they_are_here(master: str, job: Job, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for number in range(3):
        shutil.copytree(job.log, logs / f"{number}" / job.log.name)
    (plain,) = locate(job.log)
    text = list(LogReader(plain))
    (logs / "cut").write_bytes(b"\n".join(text)[:-40])
    (logs / "packed.gz").write_bytes(gzip.compress(b"\n".join(text))[:-2000])
    (logs / "no_log").write_bytes(b"text\n")
    here, on_spark = (
        imported(logs, "--runs", tmp_path / place, *more, also_says="passed over")
        for place, more in (("here", ()), ("there", ("--spark", master)))
    )
    assert on_spark == here
    assert len(here) == 5
    assert [s["complete"] for s in here] == [False, False, True, True, True]
    assert names(tmp_path / "there") == names(tmp_path / "here") == [f"log-{plain_id(job)}"]


def test_bad_files_get_a_sentence_and_leave_nothing(job: Job, tmp_path: Path) -> None:
    bad = {
        "text": b"to whom it may concern\n" * 50,
        "json": b'{"name": "not an event"}\n',
        "empty": b"",
        "binary": bytes(range(256)) * 50,
        "cut.gz": gzip.compress(b"nothing of Spark" * 99)[:20],
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    runs = tmp_path / "runs"
    paths = [*(tmp_path / name for name in bad), tmp_path / "missing", job.log]
    done = command("import", *paths, "--json", "--runs", runs)
    sentences = done.stderr.splitlines()
    assert done.returncode == 2
    for name in bad:
        assert sum(f"import: {name} is not a Spark event log" in s for s in sentences) == 1, name
    assert any("missing does not exist" in s for s in sentences)
    assert len(sentences) == len(bad) + 1
    assert len(done.stdout.splitlines()) == 1  # the good one among them
    assert names(runs) == [f"log-{plain_id(job)}"]

    (tmp_path / "file").touch()
    refused = command("import", job.log, "--runs", tmp_path / "file")
    assert refused.returncode == 2
    assert f"no run can be written to {tmp_path / 'file'}" in refused.stderr
    nobody = command("import", job.log, "--runs", runs, "--spark", "spark://127.0.0.1:1")
    assert nobody.returncode == 2
    assert "no Spark master answers at spark://127.0.0.1:1" in nobody.stderr
    assert names(runs) == [f"log-{plain_id(job)}"]


def test_an_interrupted_import_leaves_nothing(job: Job, tmp_path: Path) -> None:
    (plain,) = locate(job.log)
    *lines, _ = LogReader(plain)  # without the end of the application
    tasks = b"\n".join(line for line in lines if line.startswith(b'{"Event":"SparkListenerTaskE'))
    with (tmp_path / "long").open("wb") as log:
        log.write(b"\n".join(lines))
        for _ in range(300_000_000 // len(tasks)):
            log.write(b"\n" + tasks)
    runs = tmp_path / "runs"
    process = subprocess.Popen(
        weir("import", tmp_path / "long", "--runs", runs), cwd=ROOT, stderr=subprocess.PIPE,
        # Whatever runs the tests may ignore Ctrl-C, e.g. in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    wait_until(lambda: list(runs.iterdir()), 30, "it writes")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.decode().strip().endswith("interrupted: nothing is left half-written")
    assert list(runs.iterdir()) == []


def test_tune_on_spark(tmp_path: Path) -> None:
    """Trials on two cores of Spark find what they find here."""
    trace = tmp_path / "load.csv"
    rates = [100, 300, 500, 200] * 4
    trace.write_text("time,rate\n" + "".join(f"{120 * i},{r}\n" for i, r in enumerate(rates)))
    here, there = (
        command(
            "tune", "--trace", trace, "--cost-per-row", "0.01", "--trials", "4", "--json",
            "--study", tmp_path / f"{place}.journal", *more,
        )
        for place, more in (("here", ("--jobs", "2")), ("there", ("--jobs", "2", "--spark", "local[2]")))
    )  # fmt: skip
    assert here.returncode == there.returncode == 0, there.stderr
    assert json.loads(there.stdout) == json.loads(here.stdout)
    assert len(json.loads(there.stdout)["trials"]) == 4


def command(*args: object) -> "subprocess.CompletedProcess[str]":
    """Run a command that needs no running system."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            weir(*args), cwd=ROOT, env={**os.environ, **scratch(Path(folder))},
            capture_output=True, text=True, timeout=900,
        )  # fmt: skip


def imported(path: Path, *args: object, also_says: str = "") -> list[dict[str, Any]]:
    """The summaries of `weir import --json`, which must succeed."""
    done = command("import", path, "--json", *args)
    assert done.returncode == 0, done.stderr
    assert also_says in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def names(folder: Path) -> Sequence[str]:
    """What lies in a folder, hidden or not."""
    return sorted(path.name for path in folder.iterdir())


def plain_id(job: Job) -> str:
    """The application's id."""
    return str(job.figures["app_id"])
