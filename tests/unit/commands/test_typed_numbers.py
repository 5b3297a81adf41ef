"""Numbers of `plan` and `size` as a person types them: one sentence and 2 if they are none."""

import json

import pytest
from typer.testing import CliRunner

from weir.commands.main import app

PLAN = {
    "bins": [{"name": "a", "capacity": 1.0}, {"name": "b", "capacity": 1.0}],
    "items": [{"name": "x", "load": 1.0, "bin": "a"}, {"name": "y", "load": 1.0, "bin": "a"}],
}
SIZE = {"operators": [{"name": "extract", "mu": 1.9}], "external": {"extract": 13}}


@pytest.mark.parametrize("option", ["--moves", "--cost", "--time-limit"])
@pytest.mark.parametrize("typed", ["x", "-1", "nan", "inf", ""])
def test_plan_says_what_is_wrong_in_one_sentence(tmp_path, option, typed):
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps(PLAN))
    done = CliRunner().invoke(app, ["plan", str(problem), "--planner", "flux", option, typed])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{option[2:]} must be a ")


def test_plan_takes_good_numbers(tmp_path):
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps(PLAN))
    words = ["--moves", "1", "--cost", "2.5", "--time-limit", "1"]
    done = CliRunner().invoke(app, ["plan", str(problem), "--planner", "flux", *words])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("option", ["--k-max", "--t-max"])
@pytest.mark.parametrize("typed", ["x", "-1", "0", "nan"])
def test_size_says_what_is_wrong_in_one_sentence(tmp_path, option, typed):
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps(SIZE))
    done = CliRunner().invoke(app, ["size", str(problem), option, typed])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert typed in done.stderr
