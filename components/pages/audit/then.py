"""The audit trail of a recorded run, as it stood at a moment."""

from msgspec import Struct

from weir.controllers.engine.audit import AuditEntry
from weir.metrics.runs.actions import as_of
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.writer import LIVE

SHOWN = 50


class TrailThen(Struct, frozen=True, kw_only=True):
    """What had been done from the beginning of the run on."""

    note: str
    entries: tuple[AuditEntry, ...] = ()  # the newest of them, newest first


def trail_then(run: RecordedRun, at: float) -> TrailThen:
    """The newest entries up to a moment: who wants older ones goes back in time."""
    if run.info.kind != LIVE:
        return TrailThen(note="This run was read from an event log, which has no audit trail.")
    found: list[AuditEntry] = as_of(run.actions, "audit", at)
    if not found:
        return TrailThen(note="Nothing had been done in this run up to this moment.")
    found.sort(key=lambda entry: (entry.at, entry.number), reverse=True)
    note = "What was done from the beginning of the run up to this moment."
    if len(found) > SHOWN:
        note = (
            f"The newest {SHOWN} of {len(found):,} entries up to this moment; "
            "go back in time for older ones."
        )
    return TrailThen(note=note, entries=tuple(found[:SHOWN]))
