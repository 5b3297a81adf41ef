"""A recorded run like one of the demo, for the tests of replay and what-if."""

import json
import math
import random
from pathlib import Path

from tests.support.models import demo, sample_of
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.metrics.runs.actions import SETTINGS, RecordedAction, actions_of
from weir.metrics.runs.writer import LiveRun
from weir.metrics.store.memory_store import MemoryStore

T0 = 1_800_000_000.0
PERIOD_S = 2.0
MINUTES = 40


def recorded(root: Path, start: float = T0, scale_at: float = 600.0) -> str:
    """A run like one of the demo: load that swings, one scaling, one restart."""
    run, rng, models = LiveRun.create(root, start + PERIOD_S), random.Random(3), demo()
    for i in range(int(MINUTES * 60 / PERIOD_S)):
        at = start + (i + 1) * PERIOD_S
        if at - start >= scale_at:
            models[0].executors = 4
        if i == 900:
            models[1].operators[0].run_id = "run-1"
        for model in models:
            wave = 1 + 0.3 * math.sin(at / 90 + model.phase)
            run.add(sample_of(model, 400 * wave, at, PERIOD_S, rng))
    command = Command(
        id="c1", cluster="wide", action=ScaleTo(executors=4), issued_at=start + scale_at - 8,
        expires_at=start + 9000, by="ada",
    )  # fmt: skip
    run.note(_versions(command, start + scale_at))
    run.note(_settings(start))
    run.note(_audit(start))
    run.flush(complete=True)
    return run.folder.name


def _versions(command: Command, done_at: float) -> list[RecordedAction]:
    store = MemoryStore()
    store.submit(command)
    first = actions_of(store)
    store.report(CommandResult(id=command.id, status=CommandStatus.DONE, at=done_at, message="4"))
    return [*first, *actions_of(store)]


def _settings(start: float) -> list[RecordedAction]:
    """DRS from the beginning; half an hour later a fixed size, by itself."""
    made: list[tuple[float, str, dict[str, object]]] = [
        (0.0, "modes", {}),
        (0.0, "scale:wide", {"scaler": "drs"}),
        (1800.0, "scale:wide", {"scaler": "fixed"}),
        (1800.0, "scale:wide:fixed", {"executors": 5}),
        (1800.0, "modes", {"wide": "auto"}),
    ]
    return [
        RecordedAction(at=start + at, kind=SETTINGS, id=name, data=json.dumps(values))
        for at, name, values in made
    ]


def _audit(start: float) -> list[RecordedAction]:
    """What people did about it."""
    store = MemoryStore()
    for at, action, subject in (
        (592.0, "command.issued", "wide"),
        (1800.0, "settings.changed", "scale:wide"),
    ):
        before: dict[str, object] = {"scaler": "drs"} if subject.startswith("scale:") else {}
        store.append_audit(
            AuditEntry(at=start + at, by="ada", action=action, subject=subject, before=before)
        )
    return actions_of(store)
