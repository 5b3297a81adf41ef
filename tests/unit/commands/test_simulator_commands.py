"""`what-if` and `tune` on the command line: their JSON, and a sentence for what is wrong."""

import gzip
import json
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.unit.controllers.simulator.simulator_worlds import pipeline, recorded
from weir.commands.main import app
from weir.commands.what_if import error_lines, table_of
from weir.controllers.scaling.qlearning.table import import_table
from weir.controllers.scaling.registry import scalers
from weir.controllers.simulator import RECORDED, InForce, SimulationSummary, calibrate
from weir.controllers.simulator import what_if as ask
from weir.controllers.simulator.run import make_scaler
from weir.metrics.eventlog.tables import RunWriter
from weir.metrics.runs.replay import RecordedRun

FIELDS = [
    "scaler", "latency_p50_s", "latency_p95_s", "latency_p99_s", "share_over_target",
    "executors_mean", "executors_peak", "executor_hours", "actions", "settle_steps",
    "served_share",
]  # fmt: skip


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("trace") / "load.csv"
    rates = [100, 300, 500, 200] * 3
    path.write_text("time,rate\n" + "".join(f"{120 * i},{r}\n" for i, r in enumerate(rates)))
    return str(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with RunWriter(tmp_path_factory.mktemp("runs")) as writer:
        for sample in recorded(pipeline(periods=60)):
            writer.add(sample)
        return writer.commit("live-1", {"kind": "recorded"})


def call(*args: str, expect: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == expect, result.output
    return result.stdout, result.stderr


def test_a_trace_gives_exactly_the_fields(trace: str) -> None:
    out, _ = call("what-if", "--trace", trace, "--cost-per-row", "0.01", "--scaler", "thresholds")
    found = json.loads(out)
    assert list(found) == FIELDS
    assert found["scaler"] == "thresholds"
    assert 0 < found["served_share"] <= 1
    again, _ = call("what-if", "--trace", trace, "--cost-per-row", "0.01", "--scaler", "thresholds")
    assert again == out
    other, _ = call(
        "what-if", "--trace", trace, "--cost-per-row", "0.01", "--scaler", "thresholds",
        "--seed", "7",
    )  # fmt: skip
    assert other != out


def test_settings_and_options_reach_the_simulation(trace: str) -> None:
    base = ["what-if", "--trace", trace, "--cost-per-row", "0.01", "--scaler", "fixed"]
    out, _ = call(*base, "--set", "executors=4", "--max", "6", "--period", "30")
    assert json.loads(out)["executors_peak"] == 4
    out, _ = call(*base, "--max", "6", "--executors", "6")
    found = json.loads(out)
    assert (found["executors_peak"], found["actions"]) == (6, 0)
    assert found["executor_hours"] == pytest.approx(6 * 24 / 60)
    slow, _ = call(*base, "--max", "6", "--executor-start", "600")
    assert json.loads(slow)["executors_mean"] < found["executors_mean"]
    strict, _ = call(*base, "--max", "6", "--target-latency", "0.1")
    assert json.loads(strict)["share_over_target"] == 1.0


def test_all_scalers_as_a_table_or_a_list(trace: str) -> None:
    out, _ = call("what-if", "--trace", trace, "--scaler", "all", "--json")
    found = json.loads(out)
    assert [f["scaler"] for f in found] == list(scalers())
    assert all(list(f) == FIELDS for f in found)
    shown = StringIO()
    console = Console(width=140, file=shown)
    console.print(table_of([msgspec.convert(f, SimulationSummary) for f in found]))
    assert all(name in shown.getvalue() for name in scalers())


def test_a_run_also_gives_its_error_band(run: Path) -> None:
    out, _ = call("what-if", str(run), "--scaler", "thresholds", "--set", "upper=0.6")
    found = json.loads(out)
    assert list(found) == [*FIELDS, "error_band", "recorded_policy"]
    assert found["recorded_policy"] is None  # this run was recorded without its settings
    band = found["error_band"]
    assert 0 <= band["latency"] < 0.5
    assert band["held_out"]
    assert band["executor_hours"] is None
    assert band["no_executors"] == "no band: the settings of then were not recorded"
    low, high = band["latency_p95_s"]
    assert low <= found["latency_p95_s"] <= high
    by_id, _ = call(
        "what-if", "live-1", "--runs", str(run.parent), "--scaler", "thresholds", "--set", "upper=0.6"
    )  # fmt: skip
    assert by_id == out
    most, _ = call("what-if", str(run), "--scaler", "fixed", "--max", "7", "--cluster", "narrow")
    assert json.loads(most)["executors_peak"] == 7
    was, _ = call("what-if", str(run), "--scaler", "recorded")
    assert json.loads(was)["actions"] == 0


@pytest.mark.parametrize(
    ("periods", "said"),
    [(60, "(median, held-out half)"), (12, "(median, on what it was fitted on")],
)
def test_the_table_says_by_what_its_error_was_judged(
    tmp_path: Path, periods: int, said: str
) -> None:
    with RunWriter(tmp_path) as writer:
        for sample in recorded(pipeline(periods=periods)):
            writer.add(sample)
        run = writer.commit("live-1", {"kind": "recorded"})
    out, _ = call("what-if", str(run), "--scaler", "all")
    assert said in out
    assert out.count("median") == 1
    assert "Executors of scalers have no band: the settings of then were not recorded." in out


def test_the_table_says_how_far_executors_are_off() -> None:
    policy = (InForce(since=0.0, scaler="fixed", settings={"executors": 1}, acts=True),)
    known = calibrate(recorded(pipeline(periods=60)), "wide", lambda cluster: policy)
    lines = error_lines([ask(known, name) for name in (RECORDED, "thresholds")])
    assert known.policy_errors is not None
    off = f"{known.policy_errors.executors:.0%}"
    assert lines[1] == (
        f"Executors of scalers are off by {off} (median, the recorded policy deciding anew)."
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--cost-per-row", "abc"], "--cost-per-row"),
        (["--cost-per-row", "-1"], "--cost-per-row"),
        (["--cost-per-row", "inf"], "--cost-per-row"),
        (["--min", "5", "--max", "3"], "--min"),
        (["--max", "many"], "--max"),
        (["--executor-start", "-3"], "--executor-start"),
        (["--target-latency", "nan"], "--target-latency"),
        (["--period", "1e-9"], "period"),
        (["--scaler", "nope"], "scaler"),
        (["--scaler", "fixed", "--set", "upper=1"], "upper"),
        (["--scaler", "fixed", "--set", "executors"], "--set"),
        (["--scaler", "all", "--set", "executors=1"], "--set"),
        (["--column", "nope"], "column"),
        (["--scaler", "fixed", "--save-table", "x.json"], "--save-table"),
        (["--scaler", "all", "--save-table", "x.json"], "--save-table"),
        (["--scaler", "qlearning", "--save-table", "/dev/null/x.json"], "--save-table"),
        (["--scaler", "recorded"], "a trace has no record"),
        (["--cost-per-row", "1e-320"], "--cost-per-row"),
        (["--period", "5e-324"], "period"),
        (["--seed", "-1"], "--seed"),
        (["some-run"], "RUN"),
    ],
)
def test_what_is_wrong_is_one_sentence_that_names_it(
    trace: str, args: list[str], said: str
) -> None:
    out, err = call("what-if", "--trace", trace, *args, expect=2)
    assert out == ""
    assert said in err
    assert err.strip().count("\n") == 0


@pytest.mark.parametrize("rate", ["1e308", "5e-324"])
def test_rates_that_overflow_are_one_sentence(tmp_path: Path, rate: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(f"time,rate\n0,1\n60,{rate}\n120,1\n")
    assert "line 3 has a rate" in call("what-if", "--trace", str(path), expect=2)[1]


def test_the_column_that_was_taken_is_named(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    path.write_text("time,host,rate\n" + "".join(f"{60 * i},7,{i + 1}\n" for i in range(9)))
    assert "the rate is the column rate" in call("what-if", "--trace", str(path))[1]
    assert call("what-if", "--trace", str(path), "--column", "host")[1] == ""


def test_of_a_long_run_the_last_part_is_taken(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, err = call("what-if", str(run), "--scaler", "recorded")
    assert err == ""
    read = RecordedRun.last_samples
    monkeypatch.setattr(RecordedRun, "last_samples", lambda self: read(self, 80))
    part, err = call("what-if", str(run), "--scaler", "recorded")
    assert "only its last" in err
    hours = [json.loads(text)["executor_hours"] for text in (whole, part)]
    assert hours[1] / hours[0] == pytest.approx(2 / 3, abs=0.05)


def test_missing_and_bad_files(tmp_path: Path, run: Path) -> None:
    assert "RUN" in call("what-if", expect=2)[1]
    assert "there is none at nope" in call("what-if", "nope", expect=2)[1]
    assert "cannot be read" in call("what-if", "--trace", str(tmp_path / "no.csv"), expect=2)[1]
    bad = tmp_path / "bad.csv.gz"
    bad.write_bytes(gzip.compress(b"time,rate\n0,1\n1,-1\n"))
    assert "line 3" in call("what-if", "--trace", str(bad), expect=2)[1]
    assert "--cost-per-row" in call("what-if", str(run), "--cost-per-row", "1", expect=2)[1]


def test_tune_prints_and_keeps_its_result(trace: str, tmp_path: Path) -> None:
    study = tmp_path / "s.journal"
    base = ["tune", "--trace", trace, "--cost-per-row", "0.01", "--jobs", "1",
            "--study", str(study), "--scaler", "qlearning"]  # fmt: skip
    table = tmp_path / "table.json"
    out, _ = call(*base, "--trials", "3", "--json", "--save-table", str(table))
    found = json.loads(out)
    assert len(found["trials"]) == 3
    assert json.loads(study.with_suffix(".result.json").read_text()) == found
    best = {} if found["chosen"] is None else found["front"][found["chosen"]]["settings"]
    like = make_scaler("qlearning", best, "a", 0, 30.0).fresh().table
    assert import_table(json.loads(table.read_text()), like=like).visits != like.visits
    shown, _ = call(*base, "--trials", "4")  # the same command goes on
    more = json.loads(study.with_suffix(".result.json").read_text())
    assert more["trials"][:3] == found["trials"]
    assert len(more["trials"]) == 4
    assert "4 trials; * is recommended" in shown
    assert more["verdict"].split(":")[0] in shown


def test_a_study_may_have_any_name(trace: str, tmp_path: Path) -> None:
    study = tmp_path / "s.json"
    base = ["tune", "--trace", trace, "--jobs", "1", "--study", str(study)]
    call(*base, "--trials", "2")
    assert len(json.loads(call(*base, "--trials", "3", "--json")[0])["trials"]) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.json", "s.result.json"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--trials", "0"], "trials"),
        (["--scaler", "no_op"], "no settings"),
        (["--seed", "-1"], "--seed"),
        (["--save", "/dev/null/x.json"], "--save"),
        (["--scaler", "qlearning", "--save-table", "/dev/null/x.json"], "--save-table"),
        (["--scaler", "thresholds", "--save-table", "x.json"], "learns no table"),
        (["--period", "900"], "too few"),
    ],
)
def test_what_tune_refuses_leaves_nothing(
    trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    out, err = call("tune", "--trace", trace, "--jobs", "1", *args, expect=2)
    assert (out, err.strip().count("\n")) == ("", 0)
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_the_result_does_not_go_where_the_study_is(trace: str, tmp_path: Path) -> None:
    study = str(tmp_path / "s.json")
    base = ["tune", "--trace", trace, "--scaler", "qlearning", "--study", study]
    for option in ("--save", "--save-table"):
        assert "is the study itself" in call(*base, option, study, expect=2)[1]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--trials", "0"], "trials"),
        (["--jobs", "none"], "--jobs"),
        (["--scaler", "nope"], "scaler"),
        (["--scaler", "no_op"], "no settings"),
        (["--study", "/dev/null/x"], "--study"),
    ],
)
def test_tune_says_what_is_wrong(trace: str, tmp_path: Path, args: list[str], said: str) -> None:
    base = ["tune", "--trace", trace, "--study", str(tmp_path / "s.journal"), "--jobs", "1"]
    assert said in call(*base, *args, expect=2)[1]
