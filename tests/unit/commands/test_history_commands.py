"""`weir runs` on the command line."""

import json

import pytest
from typer.testing import CliRunner

from tests.support.people import set_settings
from tests.unit.metrics.runs.history_world import T0, fed
from weir.commands.main import app
from weir.controllers.model.errors import NotFound, Refused
from weir.metrics.eventlog.importer import import_log
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.recorder import Recorder


@pytest.fixture
def root(tmp_path):
    store = fed(60)
    set_settings(store, "scale:a", {"scaler": "drs"}, by="ann", now=T0 + 30)
    Recorder(store, tmp_path).close()
    return tmp_path


def call(*args, given=None, code=0):
    result = CliRunner().invoke(app, ["runs", *args], input=given)
    assert result.exit_code == code, result.output
    return result.stdout


def test_the_list_has_one_line_per_run(root):
    out = call("--runs", str(root))
    (info,) = list_runs(root)
    for words in (info.id, "live", "2027-01-15 08:00:02", "0:00:58", "a, b", "MB"):
        assert words in out


def test_the_list_as_json(root):
    (found,) = json.loads(call("--runs", str(root), "--json"))
    assert found["id"] == list_runs(root)[0].id
    assert (found["kind"], found["clusters"], found["samples"]) == ("live", ["a", "b"], 60)
    assert found["duration_s"] == pytest.approx(58.5)
    assert found["size_bytes"] > 0


def test_an_empty_folder_says_so(tmp_path):
    assert "no runs" in call("--runs", str(tmp_path / "none"))
    assert json.loads(call("--runs", str(tmp_path / "none"), "--json")) == []


def test_one_run_with_its_settings(root):
    run = list_runs(root)[0].id
    assert "after 28 s: scale:a: scaler default → drs" in call("show", run, "--runs", str(root))
    found = json.loads(call("--runs", str(root), "show", run, "--json"))
    assert {"at": T0 + 30, "group": "scale:a", "values": {"scaler": "drs"}} in found["settings"]


def test_one_run_with_the_number_of_its_batches(root):
    run = list_runs(root)[0].id
    count = sum(len(s.batches) for s in read_samples(root / run))
    assert f"batches:    {count}\n" in call("show", run, "--runs", str(root))
    assert json.loads(call("--runs", str(root), "show", run, "--json"))["batches"] == count > 0


def test_one_run_with_the_broken_lines_of_its_log(tmp_path):
    start = b'{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"a","Timestamp":9}\n'
    (tmp_path / "log").write_bytes(start + b"broken\n" * 25)
    list(import_log(locate(tmp_path / "log")[0], tmp_path / "runs"))
    said = call("show", "log-a", "--runs", str(tmp_path / "runs")).splitlines()
    named = [line for line in said if line.startswith("broken:")]
    assert len(named) == 20
    assert "batches:    none recorded" in said
    assert "line 2 of log: JSON is malformed" in named[0]
    found = json.loads(call("show", "log-a", "--runs", str(tmp_path / "runs"), "--json"))
    assert (found["faults"][0]["line"], len(found["faults"])) == (2, 20)


def test_deleting_asks_first(root):
    run = list_runs(root)[0].id
    assert "Nothing was deleted" in call("delete", run, "--runs", str(root), given="n\n", code=1)
    assert [r.id for r in list_runs(root)] == [run]
    assert "is deleted" in call("delete", run, "--runs", str(root), given="y\n")
    assert list_runs(root) == []


def test_a_run_that_is_being_recorded_stays(root, monkeypatch):

    store = fed(20, start=T0 + 5000)
    Recorder(store, root).step(T0 + 5020)
    growing = next(r.id for r in list_runs(root) if not r.complete)
    monkeypatch.setattr("weir.commands.runs.time.time", lambda: T0 + 5021)
    result = CliRunner().invoke(app, ["runs", "delete", growing, "--yes", "--runs", str(root)])
    assert isinstance(result.exception, Refused)
    assert growing in [r.id for r in list_runs(root)]


@pytest.mark.parametrize("verb", ["show", "delete"])
def test_a_name_that_is_no_run(root, verb):
    result = CliRunner().invoke(app, ["runs", verb, "../x", "--runs", str(root)])
    assert isinstance(result.exception, NotFound)
