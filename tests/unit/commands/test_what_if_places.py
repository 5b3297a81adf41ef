"""`what-if-places` on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.controllers.simulator.simulator_worlds import pipeline, recorded
from weir.commands.main import app
from weir.controllers.balancing.base import planners
from weir.metrics.eventlog.tables import RunWriter


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    with RunWriter(tmp_path_factory.mktemp("runs")) as writer:
        for sample in recorded(pipeline(periods=60)):
            writer.add(sample)
        found: Path = writer.commit("live-1", {"kind": "recorded"})
        return str(found)


def call(*args: str, expect: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["what-if-places", *args])
    assert result.exit_code == expect, result.output
    return result.stdout, result.stderr


def test_every_planner_and_the_joint_plan_stand_side_by_side(run: str) -> None:
    out, _ = call(run, "--json")
    found = {one["planner"]: one for one in json.loads(out)}
    assert set(found) == {"recorded", "joint", *planners()}
    assert found["no_op"]["moves"] == []
    assert all(one["committed_rows"] > 0 for one in found.values())
    table, _ = call(run, "--planner", "joint")
    assert "joint" in table


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "name a run"),
        (("--planner", "best"), "there is no 'best'"),
        (("--mode", "x"), "no mode"),
    ],
)
def test_what_is_wrong_is_one_sentence(run: str, args: tuple[str, ...], said: str) -> None:
    given = () if said == "name a run" else (run,)
    _, error = call(*given, *args, expect=2)
    assert said in error
