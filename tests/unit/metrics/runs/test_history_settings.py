"""Settings and modes are recorded with their time, and a replay uses those of its moment."""

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.people import set_mode, set_settings
from tests.unit.metrics.runs.history_world import T0, fed, feed, sample
from weir.components.pages.replay.advice import advice
from weir.components.pages.replay.view import with_scaling, world_at
from weir.components.pages.settings.then import NOT_RECORDED
from weir.controllers.model.sample import Mode
from weir.metrics.runs.actions import SETTINGS
from weir.metrics.runs.figures import run_figures
from weir.metrics.runs.library import list_runs, run_info
from weir.metrics.runs.recorder import Recorder
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.settings import MODES, SettingsLog, change_words
from weir.metrics.runs.timeline import timeline
from weir.metrics.store.memory_store import MemoryStore


def only(root):
    (info,) = list_runs(root)
    return RecordedRun(root / info.id)


@pytest.fixture
def changed(tmp_path):
    """Set before the run: DRS. In the middle: another scaler with settings, planner and mode."""
    store = fed(20)
    set_settings(store, "scale:a", {"scaler": "drs"}, by="ann", now=T0 - 500)
    recorder = Recorder(store, tmp_path, chunk_samples=8)
    recorder.step(T0 + 20)
    feed(store, T0 + 20, 20)
    set_settings(store, "scale:a", {"scaler": "fixed"}, by="ann", now=T0 + 25)
    set_settings(store, "scale:a:fixed", {"executors": 5}, by="ann", now=T0 + 25)
    set_settings(store, "balance", {"planner": "flux"}, by="ann", now=T0 + 30)
    set_mode(store, "a", Mode.AUTO, by="ann", now=T0 + 31)
    recorder.step(T0 + 60)
    feed(store, T0 + 40, 40)
    recorder.close()
    return tmp_path


def test_what_was_set_before_holds_from_the_beginning(changed):
    run = only(changed)
    then = run.settings.then(run.info.first_at)
    assert then.recorded
    assert then.scale("a").scaler == "drs"
    assert then.scale("b").scaler == "horizon"  # a default
    assert (then.balance.planner, then.modes) == ("milp", {})


def test_a_change_holds_from_its_moment_on(changed):
    log = only(changed).settings
    assert log.then(T0 + 24.9).scale("a").scaler == "drs"
    after = log.then(T0 + 25)
    assert after.scale("a").scaler == "fixed"
    assert after.scalers("a") == {"fixed": {"executors": 5}}
    assert log.then(T0 + 29).balance.planner == "milp"
    assert log.then(T0 + 30).balance.planner == "flux"
    assert log.then(T0 + 60).modes == {"a": Mode.AUTO}


def test_each_version_is_one_row_and_no_action(changed):
    run = only(changed)
    rows = [(a.id, a.data) for a in run.actions if a.kind == SETTINGS]
    assert len(rows) == len(set(rows)) == 6  # nothing is written again at the next look
    audits = sum(1 for a in run.actions if a.kind == "audit")
    assert run_info(changed / run.info.id).actions == audits
    assert run_figures(run, 5.0).actions == 0


def test_changes_are_marks_of_the_timeline(changed):
    found = [m for m in timeline(only(changed)).marks if m.kind == "settings"]
    assert [m.text for m in found] == [
        "scale:a: scaler drs → fixed",
        "scale:a:fixed: executors default → 5",
        "balance: planner default → flux",
        "modes: a default → auto",
    ]
    assert found[0].at == T0 + 25


def test_a_recorder_that_starts_again_writes_nothing_twice(tmp_path):
    store = fed(20)
    set_settings(store, "scale:a", {"scaler": "drs"}, by="ann", now=T0 + 3)
    Recorder(store, tmp_path).step(T0 + 20)
    feed(store, T0 + 20, 4)
    Recorder(store, tmp_path).step(T0 + 60)
    versions = [a.id for a in only(tmp_path).actions if a.kind == SETTINGS]
    assert sorted(versions) == [MODES, "scale:a"]


def test_the_run_of_the_next_day_stands_alone(tmp_path):
    midnight = 1_800_057_600.0
    store = MemoryStore()
    store.append(sample("a", midnight - 1))
    set_settings(store, "scale:a", {"scaler": "drs"}, by="ann", now=midnight - 100)
    recorder = Recorder(store, tmp_path)
    recorder.step(midnight - 0.5)
    store.append(sample("a", midnight + 1))
    recorder.step(midnight + 40)
    for info in list_runs(tmp_path):
        log = SettingsLog.of_run(tmp_path / info.id)
        assert log.then(info.first_at).scale("a").scaler == "drs"
        assert all(c.first for c in log.changes)


def test_secrets_stay_out(tmp_path):
    store = fed(20)
    set_settings(store, "engine", {"webhook_url": "https://x/key", "ttl_s": 60}, by="a", now=T0)
    Recorder(store, tmp_path).close()
    text = " ".join(a.data for a in only(tmp_path).actions)
    assert "ttl_s" in text
    assert "https://x/key" not in text


def test_a_setting_that_went_back_to_its_default_says_so(tmp_path):
    store = fed(20)
    set_settings(store, "scale:a", {"scaler": "drs"}, by="ann", now=T0 + 2)
    recorder = Recorder(store, tmp_path)
    recorder.step(T0 + 20)
    set_settings(store, "scale:a", {"scaler": None}, by="ann", now=T0 + 10)
    recorder.close()
    last = only(tmp_path).settings.changes[-1]
    assert change_words(last) == "scale:a: scaler drs → default"
    assert only(tmp_path).settings.then(T0 + 10).scale("a").scaler == "horizon"


class TestReplay:
    def test_pages_have_the_settings_of_the_moment(self, changed):
        run = only(changed)
        early, late = (world_at(run, at, 5.0) for at in (T0 + 20, T0 + 60))
        assert early.scale_settings == {"scale:a": {"scaler": "drs"}}
        assert late.balance.planner == "flux"
        assert late.control.mode("a") is Mode.AUTO

    def test_scalers_answer_with_the_settings_of_the_moment(self, changed):
        run = only(changed)
        world = with_scaling(world_at(run, T0 + 70, 5.0), run, ["a", "b"])
        outlook = world.scale_outlooks["a"]
        assert outlook.scaler == "fixed"
        answer = outlook.answer("fixed")
        assert answer.chosen
        assert answer.decision.executors == 5

    def test_the_advice_says_what_was_set(self, changed):
        found = advice(only(changed), T0 + 70, 5.0)
        assert found.settings.recorded
        told = dict(found.settings.rows)
        assert told["Balance"] == "Flux"
        assert told["a"].startswith("mode auto, ")
        assert told["a"].endswith("(executors 5)")
        plans = next(a for a in found.asked if a.asked == "Planner").answers
        assert len({said.answer for said in plans}) == len(plans), "who agrees is one row"
        for asked in found.asked:
            assert sum(said.followed for said in asked.answers) == 1

    def test_an_old_run_still_loads_and_says_that_nobody_knows(self, changed):
        run = changed / list_runs(changed)[0].id
        for file in (run / "actions").rglob("*.parquet"):
            table = pq.ParquetFile(file).read()
            keep = pa.array([kind != SETTINGS for kind in table["kind"].to_pylist()], pa.bool_())
            pq.write_table(table.filter(keep), file)
        old = RecordedRun(run)
        assert not old.settings.then(T0 + 70).recorded
        assert old.settings.policy("a") == ()
        assert advice(old, T0 + 70, 5.0).settings.note == NOT_RECORDED


def test_the_policy_of_a_cluster_over_the_run(changed):
    first, *_, last = only(changed).settings.policy("a")
    assert (first.scaler, first.acts) == ("drs", False)
    assert (last.scaler, last.settings, last.acts) == ("fixed", {"executors": 5}, True)
    assert msgspec.json.decode(msgspec.json.encode(last), type=type(last)) == last
