"""What people set: modes, settings, pause-all, what a scaler has learned. All of it audited."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.groups import checked
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import engine_settings
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.snapshot import Mode
from weir.controllers.scaling.registry import scaler_type

SECRET = ("webhook_url",)
"""Settings whose value may hold a key: the trail says only that they changed."""


PAUSE = "pause"  # kept beside the settings: who stopped the engine, and why


class Paused(Struct, frozen=True, kw_only=True):
    """Who stopped every automatic action."""

    at: float
    by: str
    why: str = ""


def paused(store: Store) -> Paused | None:
    """Who stopped the engine; None while it may act."""
    if not engine_settings(store).paused:
        return None
    by, at = store.settings_changed(PAUSE) or ("", 0.0)
    return Paused(at=at, by=by, why=str(store.settings(PAUSE).get("why", "")))


def pause_all(store: Store, *, by: str, now: float, comment: str = "", address: str = "") -> bool:
    """Stop every automatic action; False if it was stopped already."""
    return _paused(store, True, by, now, comment, address)


def resume_all(store: Store, *, by: str, now: float, comment: str = "", address: str = "") -> bool:
    """Let the engine act by itself again; False if nothing was stopped."""
    return _paused(store, False, by, now, comment, address)


def stopped(store: Store, rebalance: Rebalance) -> str:
    """Why moves of a rebalance that have not begun are given up; empty while they may begin.

    What a person approved goes on, and so does the undoing of what was half done.
    """
    if not engine_settings(store).paused:
        return ""
    found = store.recommendation(rebalance.id)
    return "every automatic action is paused" if found is not None and found.mode else ""


def set_mode(
    store: Store,
    cluster: str,
    mode: Mode | str,
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
) -> Mode:
    """How much a cluster lets the engine do."""
    try:
        wanted = Mode(mode)
    except ValueError:
        raise InvalidInput(
            f"'{mode}' is not one of {', '.join(m.value for m in Mode)}", field="mode"
        ) from None
    _known(store, cluster)
    before = store.modes().get(cluster, Mode.APPROVE)
    if wanted is not before:
        store.set_mode(cluster, wanted)
        store.append_audit(
            AuditEntry(
                at=now, by=by, action="mode.changed", subject=cluster, address=address,
                why=comment, before={"mode": before.value},
                detail=f"{before.value} -> {wanted.value}",
            )
        )  # fmt: skip
    return wanted


def set_settings(
    store: Store,
    group: str,
    values: Mapping[str, Any],
    *,
    by: str,
    now: float,
    comment: str = "",
    address: str = "",
) -> dict[str, Any]:
    """Change settings of a group; None brings one back to its default. What is kept comes back."""
    if ":" in group:
        _known(store, group.split(":")[1])

    def change(kept: dict[str, Any]) -> dict[str, Any]:
        given = {key: value for key, value in {**kept, **values}.items() if value is not None}
        settings = checked(group, given)
        return {key: to_builtins(getattr(settings, key)) for key in given}

    before, after = store.change_settings(group, change, by=by, at=now)
    changes = {k for k in {*before, *after} if before.get(k) != after.get(k)}
    if group == ENGINE and "paused" in changes and after.get("paused"):
        store.save_settings(PAUSE, {"why": comment}, by=by, at=now)
    if changes:
        store.append_audit(
            AuditEntry(
                at=now, by=by, action="settings.changed", subject=group, address=address,
                why=comment,
                before={k: before.get(k) for k in sorted(changes) if k not in SECRET},
                detail="; ".join(_change(k, before, after) for k in sorted(changes)),
            )
        )  # fmt: skip
    return after


def reset_memory(
    store: Store, cluster: str, scaler: str, *, by: str, now: float, comment: str = "",
    address: str = "",
) -> None:  # fmt: skip
    """Let a scaler of a cluster begin anew."""
    _known(store, cluster)
    scaler_type(scaler)
    store.forget_memory(cluster, scaler)
    store.append_audit(
        AuditEntry(
            at=now, by=by, action="memory.reset", subject=cluster, address=address, why=comment,
            detail=scaler,
        )
    )  # fmt: skip


def _paused(store: Store, stop: bool, by: str, now: float, comment: str, address: str) -> bool:
    if engine_settings(store).paused is stop:
        return False
    if stop:
        store.save_settings(PAUSE, {"why": comment}, by=by, at=now)
    before, after = store.change_settings(
        ENGINE, lambda kept: {**kept, "paused": stop}, by=by, at=now
    )
    if before == after:  # somebody else was first
        return False
    action = "engine.paused" if stop else "engine.resumed"
    store.append_audit(AuditEntry(at=now, by=by, action=action, address=address, why=comment))
    return True


def _known(store: Store, cluster: str) -> None:
    known = store.clusters()
    if cluster not in known:
        raise NotFound(f"there is no cluster '{cluster}'; known: {', '.join(known) or 'none'}")


def _change(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if key in SECRET:
        return f"{key} changed"
    return f"{key}: {before.get(key, 'default')} -> {after.get(key, 'default')}"
