"""`weir record` against a real Redis: killed, started again, and nothing lost or doubled."""

import signal
import subprocess
import time
from pathlib import Path

from tests.support.processes import start, stop, weir
from tests.support.waiting import wait_until
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.library import list_runs
from weir.metrics.store.redis_store import RedisStore


def record(redis_url: str, runs: Path) -> "subprocess.Popen[bytes]":
    return start(weir("record", "--redis", redis_url, "--runs", runs))


def reported(store: RedisStore) -> None:
    """Both clusters have reported three times more."""
    since = time.time()
    wait_until(
        lambda: all(len(store.samples(c, since, since + 600)) >= 3 for c in ("wide", "narrow")),
        20,
        "reports",
    )


def test_a_killed_recorder_goes_on_where_its_data_ends(
    tmp_path, pages_redis, pages_store, pages_feeder
):
    runs, parts = tmp_path / "runs", lambda: {p.kind: p for p in pages_store.parts()}
    first = record(pages_redis.url, runs)
    try:
        wait_until(lambda: list_runs(runs), 60, "the first chunk is on disk")
        stop(first, signal.SIGKILL)
        reported(pages_store)  # so there are reports that only Redis has
        second = record(pages_redis.url, runs)
        try:
            begun = time.time()
            wait_until(
                lambda: (p := parts().get("recorder")) is not None and p.at > begun,
                60,
                "it records",
            )
            reported(pages_store)
        finally:
            code = stop(second)
    finally:
        stop(first, signal.SIGKILL)
    assert code == 0
    (run,) = list_runs(runs)
    assert (run.kind, run.clusters, run.complete) == ("live", ("narrow", "wide"), True)
    assert "recorder" not in parts(), "it said good-bye"
    for cluster in run.clusters:
        recorded = [s for s in read_samples(runs / run.id) if s.cluster.name == cluster]
        kept = pages_store.samples(cluster, recorded[0].at, recorded[-1].at)
        assert recorded == kept
        assert len(recorded) > 60
