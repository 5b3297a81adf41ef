"""What travels to Spark's executors and back."""

import pickle
import zipfile

import eventlog_logs as logs

from metrics.eventlog.importer import NotAnEventLog
from metrics.eventlog.locate import locate
from metrics.eventlog.spark_job import _packed, import_one


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
    names = zipfile.ZipFile(_packed(str(tmp_path))).namelist()
    assert {
        "metrics/__init__.py",
        "metrics/eventlog/importer.py",
        "controllers/model/snapshot.py",
    } <= set(names)
