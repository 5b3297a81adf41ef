"""`size`: JSON in, JSON out, exit code 2 and one sentence where there is no answer."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from weir.commands.size import run

CHAIN: dict[str, Any] = {
    "operators": [
        {"name": "extract", "mu": 1.9},
        {"name": "match", "mu": 17, "ca2": 1, "cs2": 1},
        {"name": "aggregate", "mu": 150},
    ],
    "external": {"extract": 13},
    "routing": [
        {"from": "extract", "to": "match", "share": 10},
        {"from": "match", "to": "aggregate", "share": 0.3},
    ],
}


def ask(
    tmp_path: Path, problem: object, capsys: pytest.CaptureFixture[str], **given: Any
) -> tuple[int, dict[str, Any], str]:
    path = tmp_path / "problem.json"
    path.write_text(problem if isinstance(problem, str) else json.dumps(problem))
    code = run(str(path), **given)
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda problem, **given: ask(tmp_path, problem, capsys, **given)


def test_answers_with_all_fields(asked: Any) -> None:
    code, answer, err = asked(CHAIN, scaler="drs", k_max=22, as_json=True)
    assert (code, err) == (0, "")
    assert answer["allocation"] == {"extract": 10, "match": 11, "aggregate": 1}
    assert answer["total"] == 22
    assert answer["utilisation"]["extract"] == pytest.approx(13 / 19)
    by = answer["sojourn_by_operator"]
    whole = (13 * by["extract"] + 130 * by["match"] + 39 * by["aggregate"]) / 13
    assert answer["sojourn_s"] == pytest.approx(whole)


def test_t_max_takes_the_fewest(asked: Any) -> None:
    _, answer, _ = asked(CHAIN, t_max_s=1.2)
    assert answer["sojourn_s"] <= 1.2
    _, fewer, _ = asked(CHAIN, k_max=answer["total"] - 1)
    assert fewer["sojourn_s"] > 1.2


def test_without_a_goal_it_is_what_keeps_up(asked: Any) -> None:
    _, answer, _ = asked(CHAIN)
    assert answer["total"] == 16
    assert all(u < 1 for u in answer["utilisation"].values())


def test_variability_counts_and_mmk_ignores_it(asked: Any) -> None:
    bursty = json.loads(json.dumps(CHAIN))
    bursty["operators"][0]["ca2"] = 40
    _, drs, _ = asked(bursty, k_max=22)
    _, mmk, _ = asked(bursty, k_max=22, scaler="mmk")
    assert drs["allocation"]["extract"] > mmk["allocation"]["extract"] == 10
    assert drs["sojourn_s"] < mmk["sojourn_s"]


def test_loops_are_solved(asked: Any) -> None:
    problem = {
        "operators": [{"name": "a", "mu": 4.0}],
        "external": {"a": 5.0},
        "routing": [{"from": "a", "to": "a", "share": 0.5}],
    }
    _, answer, _ = asked(problem, k_max=4)
    assert answer["utilisation"]["a"] == pytest.approx(10 / 16)


def test_measured_rates_do_without_routing(asked: Any) -> None:
    problem = {"operators": [{"name": "a", "lambda": 8.0, "mu": 1.0}]}
    _, answer, _ = asked(problem, k_max=10)
    assert answer["sojourn_s"] == pytest.approx(answer["sojourn_by_operator"]["a"])


def test_measured_rates_may_differ_a_little_from_those_that_follow(asked: Any) -> None:
    code, answer, _ = asked(measured(extract=13, match=127, aggregate=40), k_max=22)
    assert code == 0
    assert answer["utilisation"]["match"] == pytest.approx(127 / 17 / answer["allocation"]["match"])
    alone = {"operators": measured(extract=13, match=130)["operators"][:2]}
    code, _, _ = asked({**alone, "external": {"extract": 13}})
    assert code == 0, "without routing nothing is said of what else arrives"


def test_numbers_may_come_as_typed(asked: Any) -> None:
    assert asked(CHAIN, k_max="22")[1]["total"] == 22
    assert asked(CHAIN, t_max_s="1.2") == asked(CHAIN, t_max_s=1.2)


def test_others_go_by_utilisation(asked: Any) -> None:
    _, answer, _ = asked(CHAIN, scaler="rate_based")
    assert max(answer["utilisation"].values()) <= 0.7
    code, _, err = asked(CHAIN, scaler="rate_based", t_max_s=1.2)
    assert code == 2
    assert "t_max" in err


def test_reads_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CHAIN).encode())))
    assert run("-", k_max=22, as_json=False) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 22


def spoiled(**change: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(CHAIN)), **change}


def measured(**rates: float) -> dict[str, Any]:
    """The chain with rates of its operators, which should be 13, 130 and 39."""
    problem = spoiled()
    for one in problem["operators"]:
        one |= {"lambda": rates[one["name"]]} if one["name"] in rates else {}
    return problem


def varied(square: float) -> dict[str, Any]:
    one = {"name": "a", "mu": 1, "lambda": 3, "ca2": square, "cs2": square}
    return {"operators": [one]}


LOOP: dict[str, Any] = {
    "operators": [{"name": "a", "mu": 9, "lambda": 5}, {"name": "b", "mu": 9, "lambda": 5}],
    "routing": [{"from": "a", "to": "b", "share": 1}, {"from": "b", "to": "a", "share": 1}],
}


@pytest.mark.parametrize(
    ("problem", "given", "named"),
    [
        ("{", {}, "problem"),
        ("[]", {}, "problem"),
        ('{"operators": [{"name": "a", "mu": NaN}]}', {}, "problem"),
        ({}, {}, "operators"),
        ({"operators": []}, {}, "operators"),
        ({"operators": [{"name": "a"}], "external": {"a": 1}}, {}, "mu"),
        ({"operators": [{"name": "a", "mu": 0}], "external": {"a": 1}}, {}, "operators[0].mu"),
        ({"operators": [{"name": "a", "mu": "x"}], "external": {"a": 1}}, {}, "operators[0].mu"),
        ('{"operators": [{"name": "a", "mu": 1e999}], "external": {"a": 1}}', {}, "mu"),
        ({"operators": [{"name": "a", "mu": 1e-9}], "external": {"a": 1}}, {}, "mu"),
        ({"operators": [{"name": "a", "mu": 1}]}, {}, "operators[0].lambda"),
        ({"operators": [{"name": "a", "mu": 1, "lambda": -1}]}, {}, "operators[0].lambda"),
        ({"operators": [{"name": "a", "mu": 1, "lambda": 0.1}] * 2}, {}, "operators[1].name"),
        (spoiled(external={"nobody": 1}), {}, "external.nobody"),
        (spoiled(external={"extract": -1}), {}, "external.extract"),
        (spoiled(routing=[{"from": "extract", "to": "nobody", "share": 1}]), {}, "routing[0].to"),
        (spoiled(routing=[{"from": "extract", "to": "match", "share": -1}]), {}, "share"),
        (spoiled(routing=[{"from": "extract", "to": "extract", "share": 1}]), {}, "routing"),
        (LOOP, {}, "the loop among a, b"),
        ({**LOOP, "external": {"a": 5}}, {}, "the loop among a, b"),
        ({"operators": [{"name": "a", "mu": 1, "lamda": 3}]}, {}, "operators[0].lamda"),
        (spoiled(rooting=[]), {}, "problem.rooting"),
        (spoiled(routing=[{"from": "extract", "too": "match"}]), {}, "routing[0].too"),
        (measured(match=150), {}, "operators[1].lambda: 150 contradicts"),
        (measured(extract=13, match=100), {}, "operators[1].lambda: 100 contradicts"),
        ({"operators": [{"name": "a", "mu": 9, "lambda": 1}], "external": {"a": 8}}, {}, "lambda"),
        (varied(1e308), {}, "operators[0].ca2"),
        (varied(1e308), {"t_max_s": 5.0}, "operators[0].ca2"),
        ({"operators": [{"name": "a", "mu": 1e-320, "lambda": 1e-320}]}, {}, "too far apart"),
        (CHAIN, {"k_max": 0}, "k_max: 0 is not"),
        (CHAIN, {"k_max": "-4"}, "k_max: -4 is not"),
        (CHAIN, {"k_max": "x"}, "k_max: x is not"),
        (CHAIN, {"k_max": "2.5"}, "k_max: 2.5 is not"),
        (CHAIN, {"t_max_s": "nan"}, "t_max: nan is not"),
        (CHAIN, {"t_max_s": float("inf")}, "t_max: inf is not"),
        (CHAIN, {"t_max_s": "-1"}, "t_max: -1 is not"),
        (CHAIN, {"t_max_s": "soon"}, "t_max: soon is not"),
        (CHAIN, {"k_max": 15}, "k_max"),
        (CHAIN, {"t_max_s": 1.0}, "t_max"),
        (CHAIN, {"k_max": 22, "t_max_s": 2.0}, "k_max"),
        (CHAIN, {"scaler": "magic"}, "scaler"),
    ],
)
def test_what_is_wrong_is_one_sentence_that_names_the_field(
    asked: Any, problem: object, given: dict[str, Any], named: str
) -> None:
    code, answer, err = asked(problem, **given)
    assert (code, answer) == (2, {})
    assert named in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_a_missing_file_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("/no/such/file.json") == 2
    assert "cannot be read" in capsys.readouterr().err
