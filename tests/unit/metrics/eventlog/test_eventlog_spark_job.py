"""What travels to Spark's executors and back."""

import pickle
import threading
import zipfile

import pytest

from tests.unit.metrics.eventlog import eventlog_logs as logs
from weir.controllers.model.errors import Unavailable, WeirError
from weir.metrics.eventlog import spark_job
from weir.metrics.eventlog.importer import NotAnEventLog
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.spark_batch import pack
from weir.metrics.eventlog.spark_job import import_one, import_with_spark
from weir.metrics.eventlog.tables import put, read_meta


def test_outcomes_survive_the_way_back(tmp_path):
    (tmp_path / "good").write_bytes(logs.text(logs.batch_log()))
    (tmp_path / "bad").write_bytes(b"text")
    bad, good = (pickle.loads(pickle.dumps(log)) for log in locate(tmp_path))
    log, (done,), error = pickle.loads(pickle.dumps(import_one(good, str(tmp_path / "runs"))))
    assert (log, done.summary.tasks_ended, error) == (good, 20, None)
    _, nothing, error = pickle.loads(pickle.dumps(import_one(bad, None)))
    assert nothing == []
    assert isinstance(error, NotAnEventLog)
    assert "bad is not a Spark event log" in str(error)


def test_the_packages_are_packed_so_that_they_can_be_imported(tmp_path):
    names = zipfile.ZipFile(pack(tmp_path, ("controllers", "metrics"))).namelist()
    assert {
        "weir/__init__.py",
        "weir/metrics/eventlog/importer.py",
        "weir/controllers/model/snapshot.py",
    } <= set(names)


def test_runs_are_moved_out_of_the_folder_of_the_job(tmp_path):
    (tmp_path / "good").write_bytes(logs.text(logs.batch_log()))
    (log,) = locate(tmp_path / "good")
    runs, staging = tmp_path / "runs", tmp_path / "runs" / ".importing-job"
    _, (done,), error = import_one(log, str(runs), str(staging))
    assert error is None
    assert done.run == str(runs / "log-app-1")
    assert read_meta(done.run)["summary"]["tasks_ended"] == 20
    assert list(staging.iterdir()) == []


def test_a_run_that_was_made_of_more_stays(tmp_path):
    lines = logs.batch_log()
    for name, part in (("whole", lines), ("cut", lines[:9])):
        (tmp_path / name).write_bytes(logs.text(part))
        (log,) = locate(tmp_path / name)
        _, (done,), error = import_one(
            log, str(tmp_path / "runs"), str(tmp_path / "runs" / ".importing-job" / name)
        )
    assert error is None
    assert (done.run, done.summary.tasks_ended) == (None, 5)
    assert "stays as it is" in done.notes[-1]
    assert read_meta(tmp_path / "runs" / "log-app-1")["summary"]["tasks_ended"] == 20


def test_whatever_one_log_does_is_a_value(tmp_path, monkeypatch):
    (tmp_path / "good").write_bytes(logs.text(logs.batch_log()))
    (log,) = locate(tmp_path / "good")

    def fails(*_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(spark_job, "import_log", fails)
    _, done, error = import_one(log, str(tmp_path / "runs"))
    assert done == []
    assert isinstance(error, WeirError)
    assert str(error) == "good cannot be imported: division by zero"


def test_two_imports_of_one_log_may_end_together(tmp_path):
    folders = [tmp_path / f"new-{n}" for n in range(40)]
    for n, folder in enumerate(folders):
        folder.mkdir()
        (folder / "meta.json").write_text(f'{{"n": {n}}}')
    target, failed = tmp_path / "run", []

    def place(mine):
        try:
            for folder in mine:
                put(folder, target)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=place, args=(folders[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert "n" in read_meta(target)


def test_a_master_that_is_not_there_is_said_at_once(tmp_path):
    with pytest.raises(Unavailable, match="no Spark master answers"):
        import_with_spark([], str(tmp_path / "runs"), "spark://127.0.0.1:1")
    assert list((tmp_path / "runs").iterdir()) == []
