"""Runs on disk: whole or not there, and read back as they were written."""

import json
from contextlib import closing

import pytest

from tests.unit.metrics.eventlog import eventlog_logs as logs
from tests.unit.metrics.eventlog.eventlog_logs import T0
from weir.commands import follow as follow_command
from weir.commands import import_
from weir.controllers.model.errors import NotFound, Unavailable
from weir.controllers.model.sample import Cluster, ClusterSample, Executor, OperatorSample
from weir.metrics.eventlog.importer import import_log
from weir.metrics.eventlog.locate import locate
from weir.metrics.eventlog.tables import RunWriter, read_meta, read_samples, run_id
from weir.metrics.runs.library import list_runs

FIELDS = [
    "app_id", "attempt", "name", "spark_version", "start", "end", "complete", "lines",
    "broken_lines", "tasks_ended", "tasks_failed", "executors_added", "executors_removed",
    "executors_peak", "executor_run_time_ms", "queries", "progress_events", "input_rows",
]  # fmt: skip


def sample(at, **operator):
    return ClusterSample(
        at=at,
        period_s=10.0,
        cluster=Cluster(name="a", app_id="x", executors=2),
        operators=(OperatorSample(name="o", cluster="a", reads=("r", "s"), **operator),),
        executors=(Executor(id="1", host="h", cores=2), Executor(id="2", host="h", cores=2)),
    )


@pytest.fixture
def log_file(tmp_path):
    file = tmp_path / "app-1"
    file.write_bytes(logs.text(logs.batch_log()))
    return file


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


def names(folder):
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def test_samples_come_back_as_they_were_written(runs):
    written = [sample(86_390.0 + 10 * n, queue_rows=n or None, load=0.5 * n) for n in range(5)]
    with RunWriter(runs) as writer:
        for one in written:
            writer.add(one)
        folder = writer.commit("r", {"kind": "test"})
    assert read_samples(folder) == written
    assert read_samples(folder, 86_400.0, 86_410.0) == written[1:3]
    assert names(folder) == ["clusters", "executors", "meta.json", "operators"]
    assert names(folder / "operators") == ["day=1970-01-01", "day=1970-01-02"]
    meta = read_meta(folder)
    assert (meta["run"], meta["kind"], meta["first_at"], meta["last_at"]) == (
        "r",
        "test",
        86_390.0,
        86_430.0,
    )


def test_leaving_without_commit_leaves_nothing(runs):
    with RunWriter(runs) as writer:
        for n in range(5000):
            writer.add(sample(10.0 * n))
        assert len(names(runs)) == 1
    assert names(runs) == []


def test_a_reader_that_is_given_up_leaves_nothing(tmp_path, runs):
    file = tmp_path / "two"
    first = [
        logs.app_start("a"),
        logs.app_end(),
        logs.log_start(),
        logs.app_start("b"),
        logs.task_end(1),
    ]
    file.write_bytes(logs.text(first))
    with closing(import_log(locate(file)[0], runs)) as attempts:
        assert next(attempts).summary.app_id == "a"
    assert names(runs) == ["log-a"]


def test_importing_again_replaces_the_run(log_file, runs):
    for _ in range(2):
        (done,) = import_log(locate(log_file)[0], runs)
    assert names(runs) == ["log-app-1"]
    assert read_meta(done.run)["summary"]["tasks_ended"] == 20
    tasks = [o.tasks for s in read_samples(done.run) for o in s.operators]
    assert sum(tasks) == 20


def imported(path, runs):
    return [done for log in locate(path) for done in import_log(log, runs)]


def test_logs_that_name_no_application_do_not_replace_each_other(tmp_path, runs):
    for name, at in (("app-one", T0), ("app-two", T0), ("app-three", T0 + 5)):
        (tmp_path / name).mkdir()
        lines = [logs.app_start(id=None, at=at), logs.app_end()]
        (tmp_path / name / "EVENT_LOG_1").write_bytes(logs.text(lines))
        (tmp_path / name / "same-name").write_bytes(logs.text(lines))
    for _ in range(2):  # the same once more is the same runs
        for name in ("app-one", "app-two", "app-three"):
            assert len(imported(tmp_path / name, runs)) == 2
    assert len(names(runs)) == 6
    assert sum(name.startswith("log-app-one-") for name in names(runs)) == 1


def test_two_attempts_without_an_id_in_one_file_are_two_runs(tmp_path, runs):
    file = tmp_path / "log"
    ends = [logs.app_start(id=None), logs.app_end()]
    again = [logs.log_start(), logs.app_start(id=None, at=T0 + 90_000), logs.app_end(T0 + 99_000)]
    file.write_bytes(logs.text([*ends, *again]))
    assert len({done.run for done in imported(file, runs)}) == 2


@pytest.mark.parametrize("less", [slice(None, -1), slice(None, 12), "broken"])
def test_what_tells_less_does_not_replace_a_run(log_file, tmp_path, runs, capsys, less):
    whole = logs.batch_log()
    imported(log_file, runs)
    part = [*whole[:5], b"broken", *whole[6:]] if less == "broken" else whole[less]
    copy = tmp_path / "copy"
    copy.write_bytes(logs.text(part))
    assert import_.run([str(copy)], False, str(runs)) == 0
    out, err = capsys.readouterr()
    assert "copy: log-app-1 was made of more of this log and stays as it is" in err
    assert "->" not in out
    assert read_meta(runs / "log-app-1")["summary"]["lines"] == 25
    assert names(runs) == ["log-app-1"]


def test_what_tells_more_replaces_a_run(log_file, tmp_path, runs):
    for count in (12, 20, 25):
        log_file.write_bytes(logs.text(logs.batch_log()[:count]))
        (done,) = imported(log_file, runs)
        assert read_meta(done.run)["summary"]["lines"] == count


def test_an_application_id_cannot_leave_the_folder(tmp_path, runs):
    file = tmp_path / "log"
    file.write_bytes(logs.text([logs.app_start(id="../../evil/\0name"), logs.app_end()]))
    (done,) = import_log(locate(file)[0], runs)
    (only,) = names(runs)
    assert only.startswith("log-evil")
    assert done.run == str(runs / only)
    assert run_id("a/b") != run_id("a:b")
    assert run_id("..") != run_id(".")


def test_a_folder_that_cannot_be_written_is_a_sentence(log_file, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(Unavailable, match="no run can be written"):
        list(import_log(locate(log_file)[0], blocked))


def test_a_run_that_is_not_there(tmp_path):
    with pytest.raises(NotFound, match="no run"):
        read_meta(tmp_path / "nothing")


def test_import_command_prints_one_object_per_attempt(log_file, tmp_path, runs, capsys):
    rolling = tmp_path / "logs" / "eventlog_v2_app-2_1"
    rolling.mkdir(parents=True)
    lines = [logs.app_start("app-2", attempt="1"), b"broken", logs.task_end(1, launch=T0)]
    (rolling / "events_1_app-2_1").write_bytes(logs.text(lines))
    (tmp_path / "logs" / "notes.txt").write_text("not a log")
    assert import_.run([str(log_file), str(tmp_path / "logs")], True, str(runs)) == 0
    out, err = capsys.readouterr()
    first, second = (json.loads(line) for line in out.splitlines())
    assert list(first) == list(second) == FIELDS
    assert (first["app_id"], first["attempt"], first["complete"]) == ("app-1", None, True)
    assert (second["attempt"], second["complete"], second["end"]) == ("1", False, None)
    assert (second["lines"], second["broken_lines"]) == (3, 1)
    assert "1 broken line skipped:\n  line 2 of events_1_app-2_1: " in err
    assert names(runs) == ["log-app-1", "log-app-2-1"]


def test_import_command_names_the_broken_lines_up_to_twenty(tmp_path, runs, capsys):
    file = tmp_path / "log"
    file.write_bytes(logs.text([logs.app_start(), *[b"broken"] * 25, logs.app_end()]))
    assert import_.run([str(file)], False, str(runs)) == 0
    err = capsys.readouterr().err
    assert "log: 25 broken lines skipped; the first 20:" in err
    assert [f"line {n} of log: " in err for n in (1, 2, 21, 22)] == [False, True, True, False]


@pytest.mark.parametrize("content", [None, b"", b"text\n", b"\x1f\x8bnoise", b"ZV\1\0"])
def test_import_command_says_what_is_wrong_and_writes_nothing(tmp_path, runs, capsys, content):
    bad = tmp_path / "bad"
    if content is not None:
        bad.write_bytes(content)
    assert import_.run([str(bad)], True, str(runs)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("import: ")
    assert names(runs) == []


def test_a_bad_log_does_not_keep_a_good_one_out(log_file, tmp_path, runs, capsys):
    assert import_.run([str(tmp_path / "none"), str(log_file)], False, str(runs)) == 2
    assert "app-1 (demo): 20 tasks, 0 failed, 1 executors at most" in capsys.readouterr().out
    assert names(runs) == ["log-app-1"]


def test_a_folder_without_any_log_is_an_error(tmp_path, runs, capsys):
    (tmp_path / "notes").write_text("not a log")
    assert import_.run([str(tmp_path)], True, str(runs)) == 2
    assert "no event log among the 1 files" in capsys.readouterr().err


def test_interrupting_the_import_leaves_nothing(log_file, runs, capsys, monkeypatch):
    def interrupted(self, run_id, meta):
        raise KeyboardInterrupt

    monkeypatch.setattr(RunWriter, "commit", interrupted)
    assert import_.run([str(log_file)], True, str(runs)) == 130
    assert names(runs) == []


def test_follow_command_ends_with_the_application(log_file, capsys):
    assert follow_command.run(str(log_file), as_json=True, poll_s=0.01) == 0
    *samples, summary = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert list(summary) == FIELDS
    assert summary["tasks_ended"] == 20
    assert sum(o["tasks"] for s in samples for o in s["operators"]) == 20


def test_what_is_followed_becomes_the_run_that_an_import_makes(log_file, runs, tmp_path, capsys):
    assert follow_command.run(str(log_file), poll_s=0.01, runs_dir=str(runs)) == 0
    assert f"20 tasks, 0 rows -> {runs / 'log-app-1'}" in capsys.readouterr().out
    (info,) = list_runs(runs)
    assert (info.kind, info.name, info.complete, info.followed) == ("eventlog", "demo", True, False)
    (done,) = imported(log_file, tmp_path / "other")
    assert read_samples(runs / info.id) == read_samples(done.run)
    assert read_meta(runs / info.id)["summary"] == read_meta(done.run)["summary"]
    assert follow_command.run(str(log_file), poll_s=0.01, runs_dir=str(runs)) == 0
    assert "log-app-1 was made of the whole log and stays as it is" in capsys.readouterr().err


@pytest.mark.parametrize("period", [0.0, -5.0, 0.0001, 1e9, float("nan"), float("inf")])
def test_follow_command_refuses_a_period_that_is_none(log_file, capsys, period):
    assert follow_command.run(str(log_file), period_s=period) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "--period must be 0.1 to 3600 seconds" in err


def test_follow_command_says_where_nothing_can_be_written(log_file, tmp_path, capsys):
    assert follow_command.run(str(log_file), runs_dir=str(log_file)) == 2
    assert "follow: no run can be written to" in capsys.readouterr().err


def test_follow_command_refuses_what_does_not_grow(tmp_path, capsys):
    file = tmp_path / "a.zip"
    file.write_bytes(logs.zipped({"a": b"x"}))
    assert follow_command.run(str(file)) == 2
    assert "import it instead" in capsys.readouterr().err
