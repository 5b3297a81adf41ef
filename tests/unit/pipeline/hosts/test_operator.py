"""Declaring operators: what is wrong is said once, by name, and the others go on."""

from pathlib import Path

import pytest

from weir.controllers.model.errors import InvalidInput
from weir.pipeline.hosts.operator import Context, Operator, OperatorError, check, load_operators


def build(spark, context):
    return "not a writer"


def test_missing_and_duplicate_names_are_named_and_the_rest_is_kept() -> None:
    good, bad = check(
        [Operator("a", build), Operator("", build), Operator("a", build), Operator("b", None)]
    )
    assert list(good) == ["a"]
    assert [str(e) for e in bad] == [
        "operator '': a name is needed: letters, digits, '.', '_' and '-', at most 100",
        "operator 'a': the name is used twice; the first one is kept",
        "operator 'b': it has no builder",
    ]


def test_a_builder_that_raises_is_one_sentence(tmp_path: Path) -> None:
    def broken(spark, context):
        raise ValueError("no such topic\nand a long tail")

    with pytest.raises(OperatorError, match=r"operator 'x': its builder failed: no such topic$"):
        Operator("x", broken).start(None, Context("redis://"), tmp_path)


def test_a_builder_must_return_a_writer(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="must return a DataStreamWriter, not str"):
        Operator("x", build).start(None, Context("redis://"), tmp_path)


def test_an_unreachable_checkpoint_is_found_before_the_query_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperatorError, match=r"operator 'x': its checkpoint .* cannot be written"):
        Operator("x", build, checkpoint=str(tmp_path / "file" / "x")).start(
            None, Context("redis://"), tmp_path
        )


def test_modules_are_checked() -> None:
    with pytest.raises(InvalidInput, match="cannot be imported"):
        load_operators("no.such.module")
    with pytest.raises(InvalidInput, match="neither OPERATORS nor operators"):
        load_operators("weir.pipeline.local.ports")
    with pytest.raises(InvalidInput, match="there is no setting 'cost'"):
        load_operators("weir.pipeline.workloads.top_n", {"cost": "1"})
    with pytest.raises(InvalidInput, match="cost_kind"):
        load_operators("weir.pipeline.workloads.top_n", {"cost_kind": "magic"})
    names = [o.name for o in load_operators("weir.pipeline.workloads.top_n", {"max_rows": "10"})]
    assert names == ["extractor", "topic_count", "top_n"]
