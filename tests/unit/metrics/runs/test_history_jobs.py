"""Uploads, searches and simulations that the pages start."""

import io
import os
import random
import time
import zipfile

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.models import demo, sample_of
from tests.support.waiting import wait_until
from tests.unit.metrics.runs.history_world import T0
from weir.components.pages.replay import child as replay_child
from weir.components.pages.tune.actions import take_over
from weir.components.pages.tune.view import front_rows, importance_plot, judged_plot
from weir.components.pages.what_if import child as history_child
from weir.components.pages.what_if.actions import policies_of, target_of
from weir.components.pages.what_if.child import Policy
from weir.components.pages.what_if.view import conclusion, plots, rows, trust
from weir.components.ui.text import share
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.model.errors import Busy, InvalidInput, NotFound, Refused
from weir.controllers.model.sample import Mode
from weir.controllers.simulator import InForce
from weir.controllers.simulator.summary import SimulationSummary
from weir.controllers.simulator.tuning import Importance, Point, Trial, Tuning, write_tuning
from weir.metrics.runs import upload as run_import
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.tuning import TRIALS_MOST, TUNING, TuneRequest, TuneStatus, Tunings
from weir.metrics.runs.upload import UPLOADS, Jobs, work
from weir.metrics.runs.writer import LiveRun
from weir.metrics.store.memory_store import MemoryStore

LOG = b"""{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}
{"Event":"SparkListenerApplicationStart","App Name":"mine","App ID":"app-1","Timestamp":1800000000000,"User":"u"}
{"Event":"SparkListenerApplicationEnd","Timestamp":1800000060000}
"""


def sent(jobs, name, content, part=50):
    job = jobs.begin(name, len(content))
    for at in range(0, len(content), part):
        assert jobs.add(job, at, content[at : at + part]) == min(at + part, len(content))
    return job


class TestUpload:
    def test_a_log_becomes_a_run_and_leaves_nothing_else(self, tmp_path):
        jobs = Jobs(tmp_path)
        job = sent(jobs, "my app.log", LOG)
        status = work(tmp_path / UPLOADS / job, tmp_path)
        assert (status.state, status.message) == ("done", "Imported 1 run.")
        assert [r.id for r in list_runs(tmp_path)] == status.runs == ["log-app-1"]
        assert jobs.status(job) == status
        assert [p.name for p in (tmp_path / UPLOADS / job).iterdir()] == ["status.json"]

    def test_what_is_no_log_is_refused_in_a_sentence(self, tmp_path):
        jobs = Jobs(tmp_path)
        job = sent(jobs, "../../holiday.jpg", bytes(range(256)) * 4)
        status = work(tmp_path / UPLOADS / job, tmp_path)
        assert status.state == "failed"
        assert "holiday.jpg is not a Spark event log" in status.message
        assert list_runs(tmp_path) == []
        assert sorted(p.name for p in tmp_path.iterdir()) == [UPLOADS]

    def uploaded(self, root, name, content):
        job = sent(Jobs(root), name, content)
        return work(root / UPLOADS / job, root)

    def packed(self, **members):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return buffer.getvalue()

    def test_what_lies_beside_a_log_is_passed_over(self, tmp_path):
        status = self.uploaded(tmp_path, "x.zip", self.packed(README=b"read me", log=LOG))
        assert (status.state, status.message) == ("done", "Imported 1 run.")
        status = self.uploaded(tmp_path, "y.zip", self.packed(README=b"read me", more=b"text"))
        assert (status.state, status.message) == (
            "failed", "no event log among the 2 files there.",
        )  # fmt: skip

    def test_a_bad_log_does_not_keep_a_good_one_out(self, tmp_path):
        status = self.uploaded(tmp_path, "x.zip", self.packed(a=b"ZV\1\0", log=LOG))
        assert (status.state, status.runs) == ("done", ["log-app-1"])
        assert status.message.startswith("Imported 1 run. LZF compression is not supported")

    def test_what_tells_less_than_a_run_says_so(self, tmp_path):
        self.uploaded(tmp_path, "whole", LOG)
        status = self.uploaded(tmp_path, "cut", LOG[: LOG.rindex(b"{")])
        assert (status.state, status.runs) == ("done", [])
        assert status.message.startswith("log-app-1 was made of more of this log and stays")

    def test_the_same_old_log_twice_is_one_run(self, tmp_path):
        for _ in range(2):
            status = self.uploaded(tmp_path, "old", LOG.replace(b'"App ID":"app-1",', b""))
        assert [r.id for r in list_runs(tmp_path)] == status.runs

    def test_a_reader_that_was_killed_is_told_apart_from_one_that_reads(
        self, tmp_path, monkeypatch
    ):
        jobs = Jobs(tmp_path)
        job = sent(jobs, "log", LOG)
        monkeypatch.setattr(run_import, "begin", lambda *_: 2**22 + 1)  # no such process
        jobs.read(job)
        status = jobs.status(job)
        assert (status.state, "upload it again" in status.message) == ("failed", True)
        assert not (tmp_path / UPLOADS / job / "log").exists()
        job = sent(jobs, "log", LOG)
        monkeypatch.setattr(run_import, "is_running", lambda *_: True)
        jobs.read(job)
        assert jobs.status(job).state == "reading"

    def test_parts_come_once_and_in_order(self, tmp_path):
        jobs = Jobs(tmp_path)
        job = jobs.begin("x", 10)
        assert jobs.add(job, 0, b"01234") == 5
        assert jobs.add(job, 0, b"01234") == 5  # sent again because its answer was lost
        with pytest.raises(InvalidInput, match="came before"):
            jobs.add(job, 8, b"89")
        with pytest.raises(InvalidInput, match="larger than was said"):
            jobs.add(job, 5, b"567890")
        with pytest.raises(Refused, match="5 of 10 bytes"):
            jobs.read(job)

    def test_all_logs_of_an_upload_together_expand_to_so_much(self, tmp_path, monkeypatch):
        """Each had the whole allowance, and an archive may hold ten thousand."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for i in range(5):
                archive.writestr(f"app-{i}", LOG.replace(b"app-1", b"app-%d" % i))
        jobs = Jobs(tmp_path)
        job = sent(jobs, "logs.zip", packed.getvalue())
        monkeypatch.setattr(run_import, "EXPANDED_MOST", 3 * len(LOG))
        status = work(tmp_path / UPLOADS / job, tmp_path)
        assert len(status.runs) == 3
        assert "expands to more than may be read" in status.message

    def test_room_on_the_disk_and_jobs_under_way(self, tmp_path, monkeypatch):
        jobs = Jobs(tmp_path)
        for _ in range(run_import.JOBS_MOST):
            jobs.begin("x", 100)
        with pytest.raises(Busy, match="under way"):
            jobs.begin("x", 100)
        monkeypatch.setattr(run_import, "FREE_LEAST", 1 << 60)
        with pytest.raises(Refused, match="room on the disk"):
            Jobs(tmp_path / "other").begin("x", 100)

    def test_bounds(self, tmp_path, monkeypatch):
        jobs = Jobs(tmp_path)
        monkeypatch.setattr(run_import, "MOST_BYTES", 1000)
        with pytest.raises(InvalidInput, match="at most 0 GB"):
            jobs.begin("x", 1001)
        with pytest.raises(InvalidInput, match="empty"):
            jobs.begin("x", 0)
        for job in ("nobody", "../x", "0" * 32):
            with pytest.raises(NotFound):
                jobs.status(job)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Six minutes of the demo, whose first cluster is scaled once."""
    root = tmp_path_factory.mktemp("runs")
    run, rng, models = LiveRun.create(root, T0), random.Random(1), demo()
    for i in range(180):
        models[0].executors = 3 if i < 90 else 4
        for model in models:
            run.add(sample_of(model, 300 + 2 * (i % 60), T0 + 2 * i, 2.0, rng))
    run.flush(complete=True)
    return root


@pytest.fixture(scope="module")
def answer(root):
    replay_child.begin(str(root))
    policies = (
        Policy(label="Fixed, own settings", scaler="fixed", settings={"executors": 2}),
        Policy(label="Nothing", scaler="no_op"),
    )
    return history_child.what_if_of(list_runs(root)[0].id, "wide", 5.0, policies)


def test_what_if_shows_trust_then_measured_then_simulated(answer):
    assert trust(answer).state in ("ok", "warn", "bad")
    assert [name for name, _ in trust(answer).figures] == [
        "Latency", "Queue", "Executors as asked for then",
    ]  # fmt: skip
    table = rows(answer)
    assert [(r.label, r.simulated) for r in table] == [
        ("What was done", False), ("What was done", True), ("Fixed, own settings", True),
        ("Nothing", True),
    ]  # fmt: skip
    assert all(r.note.startswith("simulated") for r in table[1:])
    measured = [
        s.cluster.executors
        for s in replay_child.run_of(list_runs(replay_child._library[0].root)[0].id).samples(
            "wide", 0, float("inf")
        )
    ]
    latency, executors = plots(answer)[:2]
    assert executors["lines"][0]["y"] == [float(n) for n in measured]
    assert executors["lines"][2]["y"][-1] == 2.0
    first = latency["lines"][1]
    assert first["low"] is not None
    assert all(lo <= y <= hi for lo, y, hi in zip(first["low"], first["y"], first["high"],
                                                  strict=True) if y is not None)  # fmt: skip


def test_a_policy_that_nobody_could_judge_has_no_band_of_executors(answer):
    _, done, fixed, nothing = rows(answer)
    assert "no band" not in done.note
    for row in (fixed, nothing):
        assert row.note.endswith("; executor-hours: no band")
    executors = plots(answer)[1]
    assert executors["lines"][1]["low"] is not None  # what was done, simulated
    assert executors["lines"][2]["low"] is None
    assert "were not recorded" in trust(answer).words
    assert trust(answer).words.endswith("executors of other policies have no band.")


def test_a_policy_is_trusted_as_far_as_the_recorded_one_deciding_anew(answer):
    off = replace(answer.errors, executors=0.25)
    policy = (InForce(since=T0, scaler="fixed", mode=Mode.AUTO, acts=True),)
    one = answer.others[0]
    hours = one.summary.executor_hours
    band = replace(one.band, executors=0.25, executor_hours=(hours * 0.75, hours * 1.25))
    judged = replace(answer, policy=policy, policy_errors=off, others=(replace(one, band=band),))
    assert "; executor-hours between " in rows(judged)[2].note
    assert trust(judged).figures[-1] == ("Executors, deciding anew", share(0.25))
    assert f"{share(0.25)} in executors, which is the band" in trust(judged).words


def test_a_fit_is_not_called_a_proof(answer):
    short = replace(answer, errors=None, fit_errors=replace(answer.errors, latency=0.01))
    found = trust(short)
    assert (found.state, "fitted on" in found.title) == ("warn", True)
    assert "too short to be split" in found.words
    assert "well" in trust(replace(answer, errors=replace(answer.errors, latency=0.01))).title


def test_a_median_that_fits_does_not_excuse_the_slow_end(answer):
    good = replace(answer, errors=replace(answer.errors, latency=0.01))
    assert trust(good).state == "ok"
    done = good.replayed.summary
    late = replace(done, latency_p95_s=2.0 * done.latency_p95_s)
    found = trust(replace(good, replayed=replace(good.replayed, summary=late)))
    assert found.state == "bad"
    assert "95th percentile of the latency was" in found.words
    over = replace(done, share_over_target=done.share_over_target + 0.18)
    assert trust(replace(good, replayed=replace(good.replayed, summary=over))).state == "bad"


def test_it_ends_with_an_answer_in_one_sentence(answer):
    said = conclusion(answer)
    assert said.endswith(".")
    assert share(answer.others[0].summary.share_over_target) in said
    assert conclusion(replace(answer, others=())) == "No other policy was asked about."


def test_a_policy_that_is_worse_is_no_answer(answer):
    done = answer.replayed.summary
    dear = replace(done, executor_hours=done.executor_hours + 1.0)
    worse = replace(answer.others[0], summary=dear)
    said = conclusion(replace(answer, others=(worse,)))
    assert said.startswith("No other policy would have done better")
    cheap = replace(done, executor_hours=done.executor_hours / 2)
    assert "instead of" in conclusion(replace(answer, others=(replace(worse, summary=cheap),)))


def test_policies_are_checked_before_anything_runs():
    assert [p.label for p in policies_of(["thresholds"], "", {})] == ["Thresholds"]
    own = policies_of([], "fixed", {"executors": 7})[0]
    assert (own.scaler, own.settings) == ("fixed", {"executors": 7})
    with pytest.raises(InvalidInput):
        policies_of([], "fixed", {"executors": "many"})
    with pytest.raises(InvalidInput):
        policies_of(["nobody"], "", {})
    for target in (0, -1, None, "x", 1e9):
        with pytest.raises(InvalidInput):
            target_of(target)


def summary(over, hours):
    return SimulationSummary(
        scaler="thresholds", latency_p50_s=1, latency_p95_s=2, latency_p99_s=3,
        share_over_target=over, executors_mean=2, executors_peak=3, executor_hours=hours,
        actions=1, settle_steps=1, served_share=1.0,
    )  # fmt: skip


TUNED = Tuning(
    scaler="thresholds", target_latency_s=5.0, seed=0, trained_hours=1.0, judged_hours=1.0,
    trials=(Trial(number=0, share_over_target=0.2, executor_hours=2.0),),
    front=(
        Point(label="trial 7", scaler="thresholds", settings={"upper": 0.7},
              trained=summary(0.1, 1.0), judged=summary(0.1, 1.5)),
    ),
    default=Point(label="default", scaler="thresholds", judged=summary(0.2, 2.0)),
    baselines=(Point(label="fixed 2", scaler="fixed", judged=summary(0.4, 1.0)),),
    importance=(Importance(key="upper", over_target=0.8, executor_hours=0.6),),
    chosen=0, verdict="better", beats_default=True,
)  # fmt: skip


class TestTuning:
    def keep(self, root, run, **status):
        folder = root / TUNING / run
        folder.mkdir(parents=True, exist_ok=True)
        request = TuneRequest(run=run, scaler="thresholds")
        kept = TuneStatus(request=request, cluster="wide", **status)
        (folder / "status.json").write_bytes(msgspec.json.encode(kept))
        (folder / "result.json").write_bytes(write_tuning(TUNED))

    def test_settings_go_through_validation_and_audit(self, root):
        run, store = list_runs(root)[0].id, MemoryStore()
        store.append(sample_of(demo()[0], 100, T0, 2.0, random.Random(1)))
        self.keep(root, run, state="done")
        said = take_over(store, Tunings(root), run, 0)
        assert "wide uses these settings" in said
        assert store.settings(scaler_group("wide", "thresholds")) == {"upper": 0.7}
        assert store.audit(1)[0].why == f"tuned on {run}, trial 7"
        with pytest.raises(NotFound):
            take_over(store, Tunings(root), run, 1)

    def test_a_search_that_died_can_be_started_again(self, root):
        run = list_runs(root)[0].id
        self.keep(root, run, state="running", pid=2**22 + 1)
        status = Tunings(root).status(run)
        assert (status.state, "start it again" in status.message) == ("stopped", True)
        with pytest.raises(Refused, match="trials"):
            Tunings(root).start(TuneRequest(run=run, scaler="thresholds", trials=0))
        with pytest.raises(NotFound):
            Tunings(root).start(TuneRequest(run="nobody", scaler="thresholds"))

    def test_a_search_that_is_stopped_before_it_can_say_so_is_called_stopped(self, root):
        run, tunings = list_runs(root)[0].id, Tunings(root)
        tunings.start(TuneRequest(run=run, scaler="thresholds", trials=TRIALS_MOST))
        tunings.stop(run)

        def ended():
            found = tunings.status(run)
            return found if found.state != "running" else None

        status = wait_until(ended, 20, "the search has ended")
        assert (status.state, status.message[:7]) == ("stopped", "Stopped")

    def test_the_front_the_defaults_and_the_baselines_are_shown(self):
        table = front_rows(TUNED)
        assert [(r.label, r.recommended, r.usable) for r in table] == [
            ("Trial 7", True, True), ("Default", False, False), ("Fixed 2", False, False),
        ]  # fmt: skip
        assert [r.settings for r in table] == ["Upper 0.7", "as the defaults", "as the defaults"]
        shown = {g["name"]: (g["x"], g["y"]) for g in judged_plot(TUNED)["groups"]}
        assert shown["recommended"] == ([1.5], [10.0])
        assert shown["its defaults"] == ([2.0], [20.0])
        assert shown["baselines"] == ([1.0], [40.0])
        assert importance_plot(TUNED)["text"] == ["70 %"]
        assert importance_plot(TUNED)["names"] == ["Upper"], "a name as the forms have it"

    def test_defaults_that_are_best_are_recommended_as_what_to_keep(self):
        kept = replace(TUNED, chosen=None)
        assert [(r.label, r.recommended) for r in front_rows(kept)][:2] == [
            ("Trial 7", False), ("Default", True),
        ]  # fmt: skip
        assert "recommended" not in {g["name"] for g in judged_plot(kept)["groups"]}


@pytest.mark.parametrize("status", [None, b"{", b"[" * 50_000])
def test_uploads_that_were_abandoned_keep_nobody_waiting(tmp_path, status):
    jobs = Jobs(tmp_path)
    for _ in range(run_import.JOBS_MOST):
        folder = tmp_path / UPLOADS / jobs.begin("log", 100)
        if status is not None:
            (folder / "status.json").write_bytes(status)
        long_ago = time.time() - 3600
        for path in (*folder.iterdir(), folder):
            os.utime(path, (long_ago, long_ago))
    job = jobs.begin("log", 100)
    assert [folder.name for folder in (tmp_path / UPLOADS).iterdir()] == [job]


def test_an_upload_that_goes_on_slowly_is_not_given_up(tmp_path):
    jobs = Jobs(tmp_path)
    slow = jobs.begin("log", 100)
    jobs.add(slow, 0, b"x" * 50)
    os.utime(tmp_path / UPLOADS / slow, (0, 0))
    os.utime(tmp_path / UPLOADS / slow / "status.json", (0, 0))
    jobs.begin("another", 100)
    assert jobs.add(slow, 50, b"x" * 50) == 100
