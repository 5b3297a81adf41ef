"""What the scalers would have said at a moment does not depend on the way to it."""

import msgspec
import pytest

from tests.support.recorded_run import T0, recorded
from weir.components.pages.replay.scaling import shadow_at
from weir.metrics.runs.replay import RecordedRun

MOMENTS = [T0 + at for at in range(1690, 1870, 20)]  # over two blocks and a change of settings


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    return RecordedRun(root / recorded(root))


def jumped(run, at):
    run.worked_out.clear()
    return shadow_at(run, "wide", at)


@pytest.fixture(scope="module")
def jumps(run):
    return [jumped(run, at) for at in MOMENTS]


def test_a_walk_gives_the_answers_of_a_jump(run, jumps):
    run.worked_out.clear()
    assert [shadow_at(run, "wide", at) for at in MOMENTS] == jumps
    assert [s.outlook.scaler for s in jumps] == ["drs"] * 6 + ["fixed"] * 3
    assert [s.outlook.at for s in jumps] == MOMENTS
    led = msgspec.json.decode(jumps[-1].memories["predictive"])
    assert len(led["history"]["values"]) > 1  # it was led for long enough


def test_a_walk_back_gives_them_too_and_asks_nobody_again(run, jumps, monkeypatch):
    run.worked_out.clear()
    for at in (MOMENTS[5], MOMENTS[-1]):
        shadow_at(run, "wide", at)
    monkeypatch.setattr("weir.components.pages.replay.scaling.ask_scalers", None)
    assert [shadow_at(run, "wide", at) for at in reversed(MOMENTS)] == jumps[::-1]
