"""Problems from JSON, and the command line over them."""

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.controllers.balancing.problems import random_problem, simple
from weir.commands.plan import run
from weir.controllers.balancing.codec import decode, encode
from weir.controllers.model.errors import InvalidInput

GOOD = {
    "bins": [{"name": "a", "capacity": 4}, {"name": "b", "capacity": 2}],
    "items": [
        {"name": "x", "load": 2.0, "bin": "a"},
        {"name": "y", "load": 1.0, "bin": "a", "series": [1, 2], "resources": [0.5]},
    ],
    "flows": [{"from": "x", "to": "y", "rate": 1}],
    "budget": {"moves": 1},
}


def changed(path: list[Any], value: object) -> str:
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
        (["items", 1, "allowed"], ["a", "nowhere"], "items[1].allowed"),
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
        (["budget", "move"], 0, "budget.move"),
        (["items", 1, "pined"], True, "items[1].pined"),
        (["bins", 0, "kept"], True, "bins[0].kept"),
        (["flows", 0, "source"], "x", "flows[0].source"),
        (["pause"], {"base": 1.0}, "pause.base"),
        (["bugdet"], {"moves": 1}, "bugdet"),
        (["settings"], [1], "settings"),
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
        ("milp", {"time_limit_s": float("nan")}),
        ("milp", {"cost": float("nan")}),
        ("milp", {"seed": -1}),
    ],
)
def test_wrong_options_are_refused(planner, options, tmp_path, capsys):
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(GOOD))
    assert run(str(file), planner, **options) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_problem_brings_the_planners_settings(tmp_path, capsys):
    def planned(settings: dict[str, Any], planner: str) -> list[Any]:
        file = tmp_path / "problem.json"
        file.write_bytes(encode(replace(simple([[30.0, 20.0], []]), settings=settings)))
        assert run(str(file), planner, as_json=planner == "all") == 0
        found = json.loads(capsys.readouterr().out)
        return [p["planner"] for p in (found if planner == "all" else [found]) if p["moves"]]

    assert planned({}, "dodo") == ["dodo"]
    assert planned({"load_threshold": 0.9}, "dodo") == []
    assert planned({"dodo": {"load_threshold": 0.9}}, "dodo") == []
    assert planned({"milp": {"tries": 3}}, "dodo") == ["dodo"]
    acting = {"albic", "cola", "dodo", "flux", "integrative", "milp", "static_greedy"}
    assert set(planned({}, "all")) >= acting
    with_threshold = planned({"load_threshold": 0.9, "milp": {"tries": 3}}, "all")
    assert set(with_threshold) == set(planned({}, "all")) - {"dodo", "dodo_no_capacity"}


@pytest.mark.parametrize(
    ("settings", "planner", "said"),
    [
        ({"max_distanc": 3}, "albic", "settings.max_distanc is no setting of albic; known: max_"),
        (
            {"load_threshold": 3},
            "flux",
            "settings.load_threshold is no setting of flux; known: none",
        ),
        ({"max_distance": -3}, "albic", "settings.max_distance: "),
        ({"max_distance": float("nan")}, "albic", "settings.max_distance: "),
        ({"albic": 3}, "albic", "settings.albic must be an object"),
        ({"albic": 3}, "all", "settings.albic must be an object"),
        ({"speed": 3}, "all", "settings.speed is no setting of any planner"),
    ],
)
def test_a_setting_that_is_none_is_named(settings, planner, said, tmp_path, capsys):
    file = tmp_path / "problem.json"
    file.write_text(changed(["settings"], settings))
    assert run(str(file), planner) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_a_missing_file_is_one_sentence(tmp_path, capsys):
    assert run(str(tmp_path / "none.json"), "milp") == 2
    assert "cannot be read" in capsys.readouterr().err
