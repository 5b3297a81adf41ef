"""What the lab keeps, and that only one experiment runs at a time."""

import os
from pathlib import Path

import msgspec
import pytest

from weir.controllers.model.errors import NotFound, Refused
from weir.metrics.lab.catalogue import EXPERIMENTS, experiment
from weir.metrics.lab.lab import ExperimentStatus, Kept, Lab
from weir.metrics.lab.outcome import (
    ClaimVerdict,
    ComparedFigure,
    Conclusion,
    ExperimentResult,
    PlotSeries,
    ResultChart,
    table,
)
from weir.metrics.lab.report import claims_in, write_report

RING = "dodo-ring"


def result(quick: bool, ours: float = 5.9) -> ExperimentResult:
    outcome = Conclusion(
        verdict=ClaimVerdict.REPRODUCED,
        reason="As it should be.",
        numbers=(ComparedFigure(name="moved", ours=ours, unit="%", published="5.9 %"),),
        charts=(
            ResultChart(title="a", x_title="n", y_title="%", x=(1.0, 2.0), series=(PlotSeries(name="s", y=(1.0, None)),)),
            ResultChart(title="b", x_title="n", y_title="%", x=("one",), series=(PlotSeries(name="s", y=(1.0,)),)),
        ),
        tables=(table("All", ("n", "%"), [(1, 2.0)]),),
    )  # fmt: skip
    return ExperimentResult(
        name=RING, quick=quick, at=1.0, took_s=2.0, machine="m", outcome=outcome
    )


def test_names_are_unique_and_every_text_is_there() -> None:
    assert len({e.name for e in EXPERIMENTS}) == len(EXPERIMENTS)
    for e in EXPERIMENTS:
        assert e.where
        assert e.question.endswith("?")
        assert e.published.endswith(".")
        assert e.quick.about_s <= e.full.about_s
    with pytest.raises(NotFound):
        experiment("../etc")


def test_a_result_is_read_as_it_was_kept_and_the_full_one_counts(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    assert lab.result(RING) is None
    lab.keep_result(result(quick=True))
    assert lab.result(RING) == result(quick=True)
    lab.keep_result(result(quick=False))
    lab.keep_result(result(quick=True, ours=7.0))
    assert lab.result(RING) == result(quick=False)


def test_one_at_a_time(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lock = lab.take_lock()
    lab.keep_status(ExperimentStatus(name=RING, quick=True, at=1.0, pid=os.getpid()))
    assert lab.running() == RING
    assert lab.status(RING).state == "running"
    with pytest.raises(Refused, match=RING):
        lab.start(RING, quick=True)
    os.close(lock)
    lab.require_idle()
    assert lab.running() == ""
    assert lab.status(RING).state == "stopped"  # it said nothing when it ended
    assert lab.stop(RING) is False


def test_parts_are_kept_until_there_is_a_result(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.keep_part(RING, True, "nodes-1", Kept(took_s=1.0, value={"a": 1}))
    assert lab.parts(RING, True) == {"nodes-1": Kept(took_s=1.0, value={"a": 1})}
    assert lab.parts(RING, False) == {}
    lab.keep_result(result(quick=True))
    assert lab.parts(RING, True) == {}


def test_a_report_has_ours_beside_what_was_published(tmp_path: Path) -> None:
    lab, path = Lab(tmp_path), tmp_path / "RESULTS.md"
    assert write_report(lab, path) == []
    lab.keep_result(result(quick=False))
    assert write_report(lab, path) == [RING]
    text = path.read_text()
    assert "| moved | 5.9 % | 5.9 % |" in text
    assert "weir experiment run dodo-ring`" in text
    assert f"| {RING} | DoDo |" in text
    write_report(lab, path)
    assert path.read_text() == text


def test_a_report_keeps_what_was_found_elsewhere(tmp_path: Path) -> None:
    """The table of claims lost every experiment that had not been run in this checkout."""
    path = tmp_path / "RESULTS.md"
    for folder, name in (("a", "drs-table-2"), ("b", RING)):
        lab = Lab(tmp_path / folder)
        lab.keep_result(msgspec.structs.replace(result(quick=False), name=name))
        assert write_report(lab, path) == [name]
    text = path.read_text()
    assert text.index(f"| {RING} | DoDo |") < text.index("| drs-table-2 | DRS |")
    assert text.count("| experiment | paper |") == 1
    assert set(claims_in(text)) == {RING, "drs-table-2"}


def test_a_row_of_the_table_of_claims_is_that_of_the_section(tmp_path: Path) -> None:
    """A report of one experiment gave the others' rows a size that their sections did not have."""
    path, lab = tmp_path / "RESULTS.md", Lab(tmp_path)
    lab.keep_result(result(quick=False))
    write_report(lab, path)
    other = Lab(tmp_path / "other")
    other.keep_result(result(quick=True))
    other.keep_result(msgspec.structs.replace(result(quick=True), name="drs-table-2"))
    assert write_report(other, path, ["drs-table-2"]) == ["drs-table-2"]
    sizes = {name: row[6] for name, row in claims_in(path.read_text()).items()}
    assert sizes == {RING: "full", "drs-table-2": "quick"}
