"""Sentences count through one formatter: no "1 executors", no percentages in two spellings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.components.ui import text
from weir.controllers.model.words import quantity

ROOT = Path(__file__).parents[2]
SPEAKING = ("components", "controllers/engine", "controllers/service", "controllers/scaling")
COUNTED = re.compile(r"^ (executors|periods|moves|operators|clusters|trials|runs|batches)\b")


def sentences(folder: str) -> Iterator[tuple[str, ast.JoinedStr]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def many(value: ast.expr) -> bool:
    """A constant of the module, whose plural is known."""
    return isinstance(value, ast.Name) and value.id.isupper()


@pytest.mark.parametrize("folder", SPEAKING)
def test_a_noun_after_a_number_follows_it(folder: str) -> None:
    found = [
        where
        for where, text in sentences(folder)
        for value, after in zip(text.values, text.values[1:], strict=False)
        if isinstance(value, ast.FormattedValue)
        and isinstance(after, ast.Constant)
        and COUNTED.match(str(after.value))
        and not many(value.value)
        and (value.format_spec is None or "." not in ast.unparse(value.format_spec))
    ]
    assert found == [], "say it with `number_of`"


@pytest.mark.parametrize("folder", SPEAKING)
def test_per_cent_is_spelled_one_way(folder: str) -> None:
    found = [
        where
        for where, text in sentences(folder)
        for value in text.values
        if isinstance(value, ast.FormattedValue)
        and value.format_spec is not None
        and "%" in ast.unparse(value.format_spec)
    ]
    assert found == [], "say it with `percent`"


def test_a_number_of_a_reason_has_no_exponent() -> None:
    for value in (2_990_960.0, 2.99096e6, 123456.7, 0.00012, -5.2e7):
        assert "e" not in text.name_value("n", value)[1] + quantity(value)
