"""Tests that take too long for every run: `make test-long` runs them."""

import os

import pytest


def only_long(reason: str) -> pytest.MarkDecorator:
    """Marks what `make test` leaves out, with the reason by name."""
    return pytest.mark.skipif(
        "WEIR_TEST_EXAMPLES" not in os.environ, reason=f"{reason}: make test-long runs it"
    )
