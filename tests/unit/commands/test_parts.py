"""The parts of a one-machine Weir come up, are watched and go down."""

import io
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from rich.console import Console

from tests.support.waiting import wait_until
from weir.commands.parts import Processes
from weir.controllers.model.errors import Unavailable

LIVES = ("sleep", "600")


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Processes]:
    (tmp_path / "tmp").mkdir()
    found = Processes(tmp_path, Console(file=io.StringIO()), Event())
    yield found
    found.stop()


def test_what_is_ready_is_waited_for_and_shown(tmp_path: Path) -> None:
    said = io.StringIO()
    parts = Processes(tmp_path, Console(file=said), Event())
    answers = iter([False, False, True])
    with parts.shown():
        parts.wait([parts.start("a part", LIVES, lambda: next(answers), {})])
    parts.stop()
    assert next(answers, None) is None
    assert "a part" in said.getvalue()
    assert "ready" in said.getvalue()


def test_what_dies_before_it_is_ready_ends_the_wait_with_its_last_words(parts: Processes) -> None:
    child = parts.start("a part", ("sh", "-c", "echo no room; exit 1"), lambda: False, {})
    with pytest.raises(Unavailable, match=r"(?s)a part did not start:.*no room"):
        parts.wait([child])


def test_whoever_is_told_to_stop_waits_no_longer(parts: Processes) -> None:
    parts._stopping.set()
    parts.wait([parts.start("a part", LIVES, lambda: False, {})])


def test_what_dies_is_started_again_and_what_was_ended_is_not(parts: Processes) -> None:
    dies, ended = (parts.start(name, LIVES, lambda: True, {}) for name in ("dies", "ended"))
    parts.end("ended")
    assert ended.process is None
    first = dies.process
    first.kill()

    def again() -> bool:
        parts.watch()
        return dies.process not in (None, first)

    wait_until(again, 10, "it runs again")
    assert ended.process is None
