"""What people set: modes, settings, pause-all; and a cluster that is to be forgotten.

The change and its audit entry are written together or not at all.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.groups import check_settings
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Rules, Samples, Store
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.errors import InvalidInput, Refused
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.service.request import Request, require_cluster

SECRET = ("webhook_url",)
"""Settings whose value may hold a key: the trail says only that they changed."""
PAUSE = "pause"  # kept beside the settings: who stopped the engine, and why
RETRIES = 20


class Paused(Struct, frozen=True, kw_only=True):
    """Who stopped every automatic action, when and why."""

    at: float
    by: str
    why: str = ""


def find_pause(store: Rules) -> Paused | None:
    """Who stopped the engine; None while it may act."""
    if not engine_settings(store).paused:
        return None
    by, at = store.settings_changed(PAUSE) or store.settings_changed(ENGINE) or ("", 0.0)
    return Paused(at=at, by=by, why=str(store.settings(PAUSE).get("why", "")))


def pause_all(store: Rules, request: Request) -> bool:
    """Stop every automatic action; False if it was stopped already."""
    return _pause(store, request, True)


def resume_all(store: Rules, request: Request) -> bool:
    """Let the engine act by itself again; False if nothing was stopped."""
    return _pause(store, request, False)


def set_mode(store: Store, request: Request, cluster: str, mode: Mode | str) -> Mode:
    """Say how much a cluster lets the engine do."""
    try:
        wanted = Mode(mode)
    except ValueError:
        raise InvalidInput(
            f"'{mode}' is not one of {', '.join(m.value for m in Mode)}", field="mode"
        ) from None
    require_cluster(store, cluster)
    for _ in range(RETRIES):
        before = store.modes().get(cluster)
        shown = before or Mode.APPROVE
        if wanted is shown:
            return wanted
        entry = request.entry(
            "mode.changed", cluster, before={"mode": shown.value},
            detail=f"{shown.value} -> {wanted.value}",
        )  # fmt: skip
        if store.change_mode(cluster, before, wanted, entry):
            return wanted
    raise Refused("Others change this mode all the time. Try again.")


def set_settings(
    store: Store, request: Request, group: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Change settings of a group; None restores a default. Returns what is kept."""
    if ":" in group:
        require_cluster_of(store, group)

    def change(kept: dict[str, Any]) -> dict[str, Any]:
        given = {key: value for key, value in {**kept, **values}.items() if value is not None}
        settings = check_settings(group, given)
        return {key: to_builtins(getattr(settings, key)) for key in given}

    def entry_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> AuditEntry:
        changes = sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
        return request.entry(
            "settings.changed", group,
            before={k: before.get(k) for k in changes if k not in SECRET},
            detail="; ".join(_words(k, before, after) for k in changes),
        )  # fmt: skip

    also = {PAUSE: {"why": request.comment}} if group == ENGINE and values.get("paused") else {}
    _, after = store.change_settings(
        group, change, entry_of, by=request.by, at=request.at, also=also
    )
    return after


def require_cluster_of(store: Samples, group: str) -> None:
    """Refuse settings of a cluster that never reported."""
    head, rest = group.split(":")[:2]
    if head != "balance":
        require_cluster(store, rest)


def forget_cluster(store: Store, request: Request, cluster: str) -> None:
    """Remove a cluster that is gone for good, with its series and all that was learned of it."""
    require_cluster(store, cluster)
    if not Snapshot.of(store.latest(), request.at).silent(cluster):
        raise Refused(
            f"{cluster} reports. Stop its application first; a cluster that reports comes back."
        )
    placed = sorted(p.operator for p in store.placements().values() if p.cluster == cluster)
    store.forget(cluster, request.entry("cluster.forgotten", cluster, detail=", ".join(placed)))


def _pause(store: Rules, request: Request, stop: bool) -> bool:
    def entry_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> AuditEntry:
        return request.entry("engine.paused" if stop else "engine.resumed")

    if engine_settings(store).paused is stop:
        return False
    before, after = store.change_settings(
        ENGINE,
        lambda kept: {**kept, "paused": stop},
        entry_of,
        by=request.by,
        at=request.at,
        also={PAUSE: {"why": request.comment}} if stop else {},
    )
    return before != after  # else somebody else was first


def _words(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if key in SECRET:
        return f"{key} changed"
    return f"{key}: {before.get(key, 'default')} -> {after.get(key, 'default')}"
