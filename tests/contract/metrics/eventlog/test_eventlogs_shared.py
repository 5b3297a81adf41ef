"""Real event logs of Spark 1.x to 3.5, where they lie beside the project."""

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.support.processes import ROOT
from weir.commands import import_
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.eventlog.importer import import_log
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.tables import read_samples

LOGS = ROOT.parent / "shared" / "data" / "eventlogs"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the real event logs are not there")

FIGURES: dict[str, dict[str, Any]] = {
    "local-1596020211915": {
        "app_id": "local-1596020211915", "spark_version": "3.1.0-SNAPSHOT", "complete": True,
        "lines": 160, "tasks_ended": 24, "executor_run_time_ms": 2086,
        "queries": 1, "progress_events": 8, "input_rows": 641,
    },
    "application_1628109047826_1317105": {
        "executors_added": 10, "executors_removed": 6, "executors_peak": 10,
        "tasks_ended": 5, "tasks_failed": 0, "spark_version": "3.1.1.119", "complete": True,
    },
    "local-1422981759269": {
        "spark_version": None, "name": "Spark shell", "start": "2015-02-03T16:42:38.277Z",
        "end": "2015-02-03T16:42:46.912Z", "complete": True, "tasks_ended": 33,
    },
    "eventlog_4nodes_8cores_dynamic_alloc.zstd": {
        "app_id": "application_1707709865217_0493", "spark_version": "3.2.1", "lines": 665,
        "tasks_ended": 235, "executors_added": 15, "executors_removed": 14, "executors_peak": 7,
    },
    "eventlog_v2_spark-cc4d115f011443d787f03a71a476a745": {
        "app_id": "spark-cc4d115f011443d787f03a71a476a745", "spark_version": "3.5.3",
        "complete": True, "tasks_ended": 73, "executors_added": 4, "executors_removed": 0,
    },
    "app-20231025121456-0004-eventLog-running-incomplete": {
        "complete": False, "end": None, "broken_lines": 1, "lines": 15, "tasks_ended": 1,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name, tmp_path, capsys):
    assert import_.run([str(LOGS / name)], True, str(tmp_path)) == 0
    (line,) = capsys.readouterr().out.splitlines()
    summary = json.loads(line)
    assert {key: summary[key] for key in FIGURES[name]} == FIGURES[name]
    assert "broken_lines" in FIGURES[name] or summary["broken_lines"] == 0


def test_task_time_and_run_time_agree_with_a_plain_reading_of_the_log():
    path = LOGS / "local-1596020211915"
    events = [json.loads(line) for line in path.read_text().splitlines()]
    ends = [e for e in events if e["Event"] == "SparkListenerTaskEnd"]
    ((done,),) = ([*import_log(log)] for log in locate(path))
    assert done.summary.tasks_ended == len(ends)
    assert done.summary.executor_run_time_ms == sum(
        e["Task Metrics"]["Executor Run Time"] for e in ends
    )


@pytest.mark.parametrize("name", FIGURES)
def test_samples_are_whole(name, tmp_path):
    (log,) = locate(LOGS / name)
    (done,) = import_log(log, tmp_path)
    samples = read_samples(done.run)
    busy_ms = sum(s.cluster.busy_cores * s.period_s for s in samples) * 1000
    assert busy_ms == pytest.approx(done.summary.executor_run_time_ms)
    assert all(b.at > a.at for a, b in pairwise(samples))
    snapshot = Snapshot.of([samples[-1]], at=samples[-1].at)
    assert snapshot.clusters[0].app_id == done.summary.app_id


def test_the_streaming_rows_are_all_in_the_series(tmp_path):
    (done,) = import_log(locate(LOGS / "local-1596020211915")[0], tmp_path)
    samples = read_samples(done.run)
    rows = sum(o.processed_rows_per_s * s.period_s for s in samples for o in s.operators)
    assert rows == pytest.approx(641)
    assert sum(b.rows for s in samples for b in s.batches) == 641
    assert {o.reads for s in samples for o in s.operators if o.batch_id is not None} == {("test5",)}


def test_a_folder_of_logs(tmp_path, capsys):
    assert import_.run([str(LOGS)], True, str(tmp_path)) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
