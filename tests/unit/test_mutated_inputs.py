"""Files and texts of others, broken in many ways: each is read or refused in words, none breaks Weir.

`benchmarks/mutated_inputs.py` goes over thousands, also through Redis and the web server.
"""

import contextlib

import pytest

from tests.support.doors import doors, escaped
from weir.controllers.model.errors import WeirError

DOORS = doors()


@pytest.mark.parametrize("name", DOORS)
def test_what_is_not_broken_is_read(name: str) -> None:
    DOORS[name].read(DOORS[name].good)


@pytest.mark.parametrize("name", DOORS)
def test_a_broken_text_is_refused_in_words(name: str) -> None:
    assert escaped(DOORS[name], seed=1, count=40 if name != "problem" else 15) == {}


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("deep", [b"[" * 50_000, b'{"a":' * 50_000])
def test_nesting_without_end_is_refused_in_words(name: str, deep: bytes) -> None:
    with contextlib.suppress(WeirError):
        DOORS[name].read(deep)
