"""What a command prints for programs holds its answer alone."""

import ctypes

import pytest

from weir.commands.terminal import others_aside


def test_a_library_that_prints_does_not_get_between_the_answer(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """METIS complains of odd graphs, HiGHS of odd numbers, both on standard output."""
    print("{")
    with others_aside():
        ctypes.CDLL(None).puts(b"***Cannot bisect a graph with 0 vertices!")
    print("}")
    out, err = capfd.readouterr()
    assert out == "{\n}\n"
    assert "bisect" in err
