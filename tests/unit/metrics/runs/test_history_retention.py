"""Runs go: by age, by room, by hand."""

import os

import pytest

from tests.unit.metrics.runs.history_world import T0, fed, feed
from weir.controllers.engine.guard.rules import RECORD, RecordSettings
from weir.controllers.model.errors import NotFound, Refused
from weir.metrics.eventlog.tables import read_meta
from weir.metrics.runs.library import delete_run, expired_runs, list_runs, run_folder
from weir.metrics.runs.recorder import Recorder


def test_retention_by_age_and_by_room(tmp_path):
    for i in range(3):
        Recorder(fed(20, start=T0 + 3000 * i), tmp_path).step(T0 + 3000 * i + 20)
    runs = list_runs(tmp_path)
    newest, _, oldest = (r.id for r in runs)
    assert expired_runs(runs, RecordSettings(), T0 + 7000) == []
    assert expired_runs(runs, RecordSettings(keep_days=1), T0 + 86_400 + 1000) == [oldest]
    tight = RecordSettings(keep_gb=0.1)
    big = [
        type(r)(**{f: getattr(r, f) for f in r.__struct_fields__} | {"size_bytes": 60_000_000})
        for r in runs
    ]
    assert expired_runs(big, tight, T0 + 7000, keep=[newest]) == [r.id for r in big[1:]]


def test_the_recorder_removes_what_is_past_its_time(tmp_path):
    Recorder(fed(20), tmp_path).close()
    Recorder(fed(20, start=T0 + 50_000), tmp_path).close()
    later = T0 + 2 * 86_400
    store = fed(20, start=later)
    recorder = Recorder(store, tmp_path)
    recorder.step(later + 20)
    assert len(list_runs(tmp_path)) == 3  # thirty days, unless somebody says otherwise
    store.save_settings(RECORD, {"keep_days": 2})
    recorder.step(later + 300)  # the settings are read; looked for every ten minutes
    assert len(list_runs(tmp_path)) == 3
    feed(store, later + 20, 4)
    recorder.step(later + 700)
    newest, second = list_runs(tmp_path)
    assert (newest.first_at, second.first_at) == (later + 2, T0 + 50_002)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([newest.id, second.id])


def test_deleting_a_run(tmp_path):
    Recorder(fed(20), tmp_path).step(T0 + 20)
    (run,) = list_runs(tmp_path)
    with pytest.raises(Refused, match="being recorded"):
        delete_run(tmp_path, run.id, T0 + 30)
    delete_run(tmp_path, run.id, T0 + 4000)
    assert os.listdir(tmp_path) == []
    for bad in (run.id, "../etc", "a/b", ".recorder", ""):
        with pytest.raises(NotFound):
            run_folder(tmp_path, bad)


def test_a_folder_without_its_description_is_no_run(tmp_path):
    (tmp_path / "live-1").mkdir()
    assert list_runs(tmp_path) == []
    assert list_runs(tmp_path / "nowhere") == []
    Recorder(fed(4), tmp_path).step(T0 + 4)
    (run,) = list_runs(tmp_path)
    assert read_meta(tmp_path / run.id)["samples"] == 4
