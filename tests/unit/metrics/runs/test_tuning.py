"""Searches for settings: what is kept of them, shown, and taken over."""

import random

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.models import demo, sample_of
from tests.support.waiting import wait_until
from tests.unit.metrics.runs.history_world import T0, demo_run
from weir.components.pages.tune.actions import take_over
from weir.components.pages.tune.view import front_rows, importance_plot, judged_plot, progress_words
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.model.errors import NotFound, Refused
from weir.controllers.simulator.summary import SimulationSummary
from weir.controllers.simulator.tuning import Candidate, Importance, Trial, Tuning, write_tuning
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.tuning import TRIALS_MOST, TUNING, TuneRequest, TuneStatus, Tunings
from weir.metrics.store.memory_store import MemoryStore


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return demo_run(tmp_path_factory.mktemp("runs"))


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
        Candidate(label="trial 7", scaler="thresholds", settings={"upper": 0.7},
              trained=summary(0.1, 1.0), judged=summary(0.1, 1.5)),
    ),
    default=Candidate(label="default", scaler="thresholds", judged=summary(0.2, 2.0)),
    baselines=(Candidate(label="fixed 2", scaler="fixed", judged=summary(0.4, 1.0)),),
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
        assert (status.state, status.message) == (
            "stopped",
            "It was stopped before its first trial.",
        )
        assert progress_words(status) == "0 of 2,000 trials of Thresholds"

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
