"""A process of its own: whether it runs can be asked as soon as it was begun."""

import os
import signal
from pathlib import Path

import pytest

from weir.metrics.runs import process

MODULE = "tests.unit.metrics.runs.patient"


def test_it_runs_once_it_was_begun_though_the_system_shows_its_words_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine they are empty at first: a search was then said to have ended."""
    late = [[b""], [b""], [b""]]
    real = process._words
    monkeypatch.setattr(process, "_words", lambda pid: late.pop() if late else real(pid))
    pid = process.begin(MODULE, tmp_path, tmp_path)
    try:
        assert process.is_running(pid, MODULE, tmp_path)
        assert not process.is_running(pid, "another.module", tmp_path)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert not process.is_running(pid, MODULE, tmp_path)
