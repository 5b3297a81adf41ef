"""Settings and modes over a run: what was in force at any moment of it.

They stand among the actions of a run: one version of a group per row, at the moment from
which it held. A run begins with everything that was in force then, so each run can be
read alone; a group that is absent had its defaults. Older runs have none of this.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from weir.controllers.engine.groups import settings_type
from weir.controllers.engine.guard.rules import ENGINE, EngineSettings
from weir.controllers.engine.ports import Rules
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings
from weir.controllers.engine.propose.scaling import ScaleSettings, scale_group, scaler_group
from weir.controllers.engine.stored import read_leniently
from weir.controllers.model.errors import WeirError
from weir.controllers.model.sample import Mode
from weir.controllers.scaling.registry import scalers
from weir.controllers.service.steering import SECRET
from weir.controllers.simulator.policy import InForce
from weir.metrics.eventlog.tables import read_meta
from weir.metrics.runs.actions import SETTINGS, RecordedAction, read_actions

MODES = "modes"  # the group that holds every cluster's mode
_LEFT = (Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA)
"""Modes in which a scaler's answer is carried out without a person."""


class SettingsThen(Struct, frozen=True, kw_only=True):
    """Everything in force at one moment."""

    recorded: bool = False  # False: nobody wrote it down, so these are the defaults
    groups: Mapping[str, Mapping[str, Any]] = {}  # as people gave them

    @property
    def modes(self) -> dict[str, Mode]:
        """Of the clusters for which one was set."""
        return {cluster: Mode(mode) for cluster, mode in self.groups.get(MODES, {}).items()}

    @property
    def engine(self) -> EngineSettings:
        """What held for all clusters."""
        return read_leniently(EngineSettings, self.groups.get(ENGINE, {}))

    @property
    def balance(self) -> BalanceSettings:
        """How load was balanced."""
        return read_leniently(BalanceSettings, self.groups.get(BALANCE, {}))

    @property
    def of_scaling(self) -> dict[str, Mapping[str, Any]]:
        """The groups that the Scale page knows."""
        return {name: values for name, values in self.groups.items() if name.startswith("scale:")}

    def scale(self, cluster: str) -> ScaleSettings:
        """How a cluster was scaled."""
        return read_leniently(ScaleSettings, self.groups.get(scale_group(cluster), {}))

    def scalers(self, cluster: str) -> dict[str, Mapping[str, Any]]:
        """The settings of each scaler in a cluster, where some were set."""
        own = {name: self.groups.get(scaler_group(cluster, name)) for name in scalers()}
        return {name: values for name, values in own.items() if values}


class SettingsChange(Struct, frozen=True, kw_only=True):
    """One group from one moment on."""

    at: float
    group: str
    values: dict[str, Any]
    before: dict[str, Any]
    first: bool  # as the run began, not a change


class SettingsLog:
    """All changes of a run, ready to be asked for any moment."""

    def __init__(self, actions: Sequence[RecordedAction], began_at: float) -> None:
        self.changes: list[SettingsChange] = []
        known: dict[str, dict[str, Any]] = {}
        for action in sorted((a for a in actions if a.kind == SETTINGS), key=lambda a: a.at):
            values = dict(msgspec.json.decode(action.data))
            self.changes.append(
                SettingsChange(
                    at=action.at,
                    group=action.id,
                    values=values,
                    before=known.get(action.id, {}),
                    first=action.at <= began_at,
                )
            )
            known[action.id] = values

    def then(self, at: float) -> SettingsThen:
        """What was in force at a moment."""
        held = {c.group: c.values for c in self.changes if c.at <= at}
        return SettingsThen(recorded=bool(self.changes), groups=held)

    @classmethod
    def of_run(cls, folder: Path) -> "SettingsLog":
        """Of a run on disk."""
        return cls(read_actions(folder), read_meta(folder).get("first_at") or 0.0)

    def policy(self, cluster: str) -> tuple[InForce, ...]:
        """How a cluster was scaled over the run; empty where it was not recorded."""
        found: list[InForce] = []
        for at in sorted({c.at for c in self.changes}):
            now = _in_force(self.then(at), cluster, at)
            if not found or msgspec.structs.replace(now, since=found[-1].since) != found[-1]:
                found.append(now)
        return tuple(found)


def settings_of(
    store: Rules, known: Mapping[tuple[str, str], int], began_at: float, now: float
) -> list[RecordedAction]:
    """Versions of settings that differ from the known ones (their hashes), from when they held.

    What was set before the run began is in force from its beginning.
    """
    kept = {
        name: _plain_values(values) for name, values in store.all_settings().items() if _ours(name)
    }
    kept[MODES] = {cluster: mode.value for cluster, mode in sorted(store.modes().items())}
    found = []
    for name, values in sorted(kept.items()):
        data = msgspec.json.encode(values, order="sorted").decode()
        before = known.get((SETTINGS, name))
        if hash(data) == before:
            continue
        _, changed_at = store.settings_changed(name) or ("", 0.0)
        if not changed_at and (before is not None or (SETTINGS, MODES) in known):
            changed_at = now  # of modes the store keeps no time
        found.append(
            RecordedAction(at=max(changed_at, began_at), kind=SETTINGS, id=name, data=data)
        )
    return found


def change_words(change: SettingsChange) -> str:
    """A change for people.

    >>> change_words(SettingsChange(at=1.0, group="scale:wide", values={"scaler": "drs"}, before={}, first=False))
    'scale:wide: scaler default → drs'
    """
    keys = sorted({*change.before, *change.values})
    told = [
        f"{key} {change.before.get(key, 'default')} → {change.values.get(key, 'default')}"
        for key in keys
        if change.before.get(key) != change.values.get(key)
    ]
    return f"{change.group}: {', '.join(told) or 'as before'}"


def _in_force(then: SettingsThen, cluster: str, at: float) -> InForce:
    scale = then.scale(cluster)
    mode = then.modes.get(cluster, Mode.APPROVE)
    return InForce(
        since=at,
        scaler=scale.scaler,
        settings=dict(then.scalers(cluster).get(scale.scaler, {})),
        min_executors=scale.min_executors,
        max_executors=scale.max_executors or None,
        mode=mode,
        acts=mode in _LEFT and not then.engine.paused,
    )


def _ours(name: str) -> bool:
    try:
        settings_type(name)
    except WeirError:
        return False
    return True


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in SECRET}
