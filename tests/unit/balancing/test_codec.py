"""Problems from JSON, and the command line over them."""

import io
import json
from types import SimpleNamespace

import pytest

from commands.plan import run
from controllers.balancing.codec import decode, encode
from controllers.model.errors import InvalidInput
from tests.unit.balancing.problems import random_problem

GOOD = {
    "bins": [{"name": "a", "capacity": 4}, {"name": "b", "capacity": 2}],
    "items": [
        {"name": "x", "load": 2.0, "bin": "a"},
        {"name": "y", "load": 1.0, "bin": "a", "series": [1, 2], "resources": [0.5]},
    ],
    "flows": [{"from": "x", "to": "y", "rate": 1}],
    "budget": {"moves": 1},
}


def changed(path: list, value: object) -> str:
    raw = json.loads(json.dumps(GOOD))
    at = raw
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(raw)


def test_only_name_capacity_load_and_bin_are_required():
    problem = decode(
        '{"bins":[{"name":"a","capacity":1}],"items":[{"name":"x","load":1,"bin":"a"}]}'
    )
    assert problem.bins[0].keep
    assert not problem.items[0].pinned
    assert problem.budget.moves is None


def test_there_and_back():
    problem = random_problem(1, flows=5)
    assert decode(encode(problem)) == problem


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (["bins", 0, "capacity"], 0, "bins[0].capacity"),
        (["bins", 1, "capacity"], "two", "bins[1].capacity"),
        (["bins", 1, "name"], "a", "bins[1].name"),
        (["items", 0, "load"], -1, "items[0].load"),
        (["items", 1, "load"], float("nan"), "items[1].load"),
        (["items", 1, "load"], True, "items[1].load"),
        (["items", 1, "bin"], "nowhere", "items[1].bin"),
        (["items", 1, "name"], "x", "items[1].name"),
        (["items", 1, "series"], [1, float("inf")], "items[1].series"),
        (["items", 1, "move_cost"], -2, "items[1].move_cost"),
        (["items", 0], {"name": "x", "bin": "a"}, "items[0].load"),
        (["items", 0], None, "items[0]"),
        (["items"], {}, "items"),
        (["flows", 0, "to"], "nobody", "flows[0].to"),
        (["flows", 0, "rate"], -1, "flows[0].rate"),
        (["budget", "moves"], -1, "budget.moves"),
        (["budget", "moves"], 1.5, "budget.moves"),
        (["budget", "cost"], float("inf"), "budget.cost"),
    ],
)
def test_the_field_at_fault_is_named(path, value, field, tmp_path, capsys):
    text = changed(path, value)
    with pytest.raises(InvalidInput) as error:
        decode(text)
    assert error.value.field == field
    file = tmp_path / "problem.json"
    file.write_text(text)
    assert run(str(file), "milp") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert field in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"bins": []}', "\x00"])
def test_what_is_no_problem_at_all_is_refused(text):
    with pytest.raises(InvalidInput):
        decode(text)


def test_a_plan_from_standard_input(monkeypatch, capsys):
    stdin = SimpleNamespace(buffer=io.BytesIO(json.dumps(GOOD).encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert run("-", "milp", moves=1) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["planner"] == "milp"
    assert plan["placement"] == {"x": "a", "y": "b"}
    assert plan["moves"] == [{"item": "y", "from": "a", "to": "b"}]
    assert plan["load_distance_before"] == pytest.approx(50.0)
    assert plan["load_distance_after"] == pytest.approx(0.0)
    assert plan["bound"] <= plan["load_distance_after"] + 1e-9
    assert plan["seconds"] > 0
    assert plan["collocation_after"] == 0.0


def test_all_planners_as_a_list_and_as_a_table(tmp_path, capsys):
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(GOOD))
    assert run(str(file), "all", as_json=True) == 0
    plans = json.loads(capsys.readouterr().out)
    assert {p["planner"] for p in plans} >= {"no_op", "dodo", "flux", "milp", "albic", "cola"}
    assert all(p["bound"] is not None for p in plans)
    assert run(str(file), "all") == 0
    assert len(capsys.readouterr().out.splitlines()) == len(plans) + 1


@pytest.mark.parametrize(
    ("planner", "options"),
    [
        ("nobody", {}),
        ("milp", {"moves": -1}),
        ("milp", {"cost": -1.0}),
        ("milp", {"time_limit_s": -1.0}),
    ],
)
def test_wrong_options_are_refused(planner, options, tmp_path, capsys):
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(GOOD))
    assert run(str(file), planner, **options) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_missing_file_is_one_sentence(tmp_path, capsys):
    assert run(str(tmp_path / "none.json"), "milp") == 2
    assert "cannot be read" in capsys.readouterr().err
