"""`weir record` against a real Redis: killed, started again, and nothing lost or doubled."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.browser import ROOT
from tests.support.waiting import wait_until
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.library import list_runs


def record(redis_url: str, runs: Path) -> "subprocess.Popen[bytes]":
    argv = [sys.executable, "-m", "weir", "record", "--redis", redis_url, "--runs", str(runs)]
    return subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)


def test_a_killed_recorder_goes_on_where_its_data_ends(
    tmp_path, pages_redis, pages_store, pages_feeder
):
    runs, parts = tmp_path / "runs", lambda: {p.kind: p for p in pages_store.parts()}
    first = record(pages_redis.url, runs)
    try:
        wait_until(lambda: list_runs(runs), 60, "the first chunk is on disk")
        first.send_signal(signal.SIGKILL)
        first.wait()
        time.sleep(3.0)  # reports that only Redis has
        second = record(pages_redis.url, runs)
        begun = time.time()
        wait_until(
            lambda: (p := parts().get("recorder")) is not None and p.at > begun, 60, "it records"
        )
        time.sleep(3.0)
    finally:
        first.kill()
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=120) == 0
    (run,) = list_runs(runs)
    assert (run.kind, run.clusters, run.complete) == ("live", ("narrow", "wide"), True)
    assert "recorder" not in parts(), "it said good-bye"
    for cluster in run.clusters:
        recorded = [s for s in read_samples(runs / run.id) if s.cluster.name == cluster]
        kept = pages_store.samples(cluster, recorded[0].at, recorded[-1].at)
        assert recorded == kept
        assert len(recorded) > 60
