"""An experiment is done part by part: stopped, resumed, failed, and as a process of its own."""

import os
import signal
from pathlib import Path

import pytest

from weir.metrics.lab.catalogue import EXPERIMENTS
from weir.metrics.lab.lab import ExperimentStatus, Lab
from weir.metrics.lab.outcome import ClaimVerdict, Conclusion
from weir.pipeline.experiments import process
from weir.pipeline.experiments.base import Step, Work

NAME = "dodo-ring"


def work(asked: list[str], stop_at: str = "", fail_at: str = "") -> Work:
    def part(key: str) -> Step:
        def run(bench):
            asked.append(key)
            bench.tell(f"half of {key}", 0.5)
            if key == stop_at:
                os.kill(os.getpid(), signal.SIGTERM)
            if key == fail_at:
                raise ValueError("no such luck")
            return {"value": key}

        return Step(key, f"doing {key}", run)

    def conclude(quick, found):
        return Conclusion(
            verdict=ClaimVerdict.PARTLY, reason=",".join(f["value"] for f in found.values())
        )

    return Work(parts=lambda quick: [part(k) for k in "abc"], conclude=conclude)


@pytest.fixture(autouse=True)
def _signals():
    before = signal.getsignal(signal.SIGTERM)
    process.stop_on_signals()
    yield
    signal.signal(signal.SIGTERM, before)


def test_what_was_stopped_goes_on_with_what_is_missing(tmp_path: Path, monkeypatch) -> None:
    lab = Lab(tmp_path)
    asked: list[str] = []
    said: list[ExperimentStatus] = []
    monkeypatch.setattr(process, "work_of", lambda _: work(asked, stop_at="b"))
    with pytest.raises(KeyboardInterrupt):
        process.perform(lab, NAME, True)
    assert (asked, lab.result(NAME)) == (["a", "b"], None)
    assert lab.status(NAME).state == "stopped"
    monkeypatch.setattr(process, "work_of", lambda _: work(asked))
    result = process.perform(lab, NAME, True, said.append)
    assert asked == ["a", "b", "b", "c"]
    assert result.outcome.reason == "a,b,c"
    assert lab.result(NAME) == result
    shares = [s.share for s in said]
    assert shares == sorted(shares)
    assert (said[-1].state, said[-1].done, said[-1].of, said[-1].share) == ("done", 3, 3, 1.0)
    process.perform(lab, NAME, True)  # one that was done begins anew
    assert asked[4:] == ["a", "b", "c"]


def test_a_failure_is_said_and_its_parts_stay(tmp_path: Path, monkeypatch) -> None:
    lab = Lab(tmp_path)
    asked: list[str] = []
    monkeypatch.setattr(process, "work_of", lambda _: work(asked, fail_at="c"))
    with pytest.raises(ValueError, match="luck"):
        process.perform(lab, NAME, False)
    assert lab.status(NAME).state == "failed"
    assert "no such luck" in lab.status(NAME).message
    assert set(lab.parts(NAME, False)) == {"a", "b"}


def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.start(NAME, quick=True)
    _, code = os.wait()
    assert code == 0, (tmp_path / ".lab" / NAME / "log.txt").read_text()
    assert lab.status(NAME).state == "done"
    assert lab.result(NAME).outcome.verdict is ClaimVerdict.REPRODUCED
    lab.require_idle()


@pytest.mark.parametrize("described", EXPERIMENTS, ids=lambda e: e.name)
def test_every_experiment_has_its_work(described) -> None:
    for quick in (True, False):
        keys = [p.key for p in process.work_of(described).parts(quick)]
        assert keys
        assert len(set(keys)) == len(keys)
