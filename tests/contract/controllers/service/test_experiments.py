"""Experiments by the service: told to the trail, refused where they cannot be, on every store."""

import os
import time
from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.service import Request
from weir.metrics.lab.lab import Lab


def asked(comment: str = "") -> Request:
    return Request(by="ada", at=time.time(), address="10.0.0.7", comment=comment)


def test_a_run_is_begun_and_told(store: Store, tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    service.run_experiment(store, asked("for the talk"), lab, "dodo-ring", True)
    wait_until(lambda: lab.result("dodo-ring") is not None and not lab.running(), 60, "its result")
    entry = store.audit(1)[0]
    assert (entry.action, entry.subject, entry.detail) == (
        "experiment.started", "dodo-ring", "quick",
    )  # fmt: skip
    assert (entry.by, entry.address, entry.why) == ("ada", "10.0.0.7", "for the talk")


def test_what_cannot_be_is_refused_and_not_told(store: Store, tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    before = len(store.audit(50))
    with pytest.raises(NotFound):
        service.run_experiment(store, asked(), lab, "nothing", True)
    with pytest.raises(Refused):
        service.stop_experiment(store, asked(), lab, "dodo-ring")
    lock = lab.take_lock()
    with pytest.raises(Refused):
        service.run_experiment(store, asked(), lab, "dodo-ring", True)
    os.close(lock)
    assert len(store.audit(50)) == before
    service.set_settings(store, asked(), "engine", {"comment_required": True})
    with pytest.raises(InvalidInput):
        service.run_experiment(store, asked(), lab, "dodo-ring", True)
    assert lab.status("dodo-ring") is None
