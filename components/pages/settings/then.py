"""What was set at a moment of a recorded run, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from weir.components.live.recommendation_words import source_title
from weir.components.pages.scale.settings import Field
from weir.components.pages.scale.view import title_of
from weir.components.pages.settings.view import Section, fields_of, sections
from weir.controllers.engine.propose.balance import BALANCE
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.model.sample import Mode
from weir.controllers.model.words import number_of
from weir.controllers.service.steering import SECRET
from weir.metrics.runs.actions import as_of
from weir.metrics.runs.replay import RecordedRun
from weir.metrics.runs.settings import SettingsThen

RECORDED = "The answers below are given with the settings that were in force at this moment."
NOT_RECORDED = (
    "This run was recorded without its settings: the answers below are given with the defaults."
)


class SettingsShown(Struct, frozen=True, kw_only=True):
    """The settings that the answers of a moment are given with."""

    recorded: bool
    note: str
    rows: tuple[tuple[str, str], ...]  # balancing, and each cluster


def settings_then(then: SettingsThen, clusters: Sequence[str]) -> SettingsShown:
    """Planner, modes and scalers with what differs from their defaults."""
    if not then.recorded:
        return SettingsShown(recorded=False, note=NOT_RECORDED, rows=())
    planner = source_title(then.balance.planner)
    rows = [("Balance", f"{planner}{_others(BALANCE, then.groups.get(BALANCE, {}))}")]
    for cluster in clusters:
        scale = then.scale(cluster)
        mode = then.modes.get(cluster, Mode.APPROVE).value.replace("_", " ")
        limits = f", {scale.min_executors} to " + (
            number_of(scale.max_executors, "executor")
            if scale.max_executors
            else "as many as it may"
        )
        group = scaler_group(cluster, scale.scaler)
        own = then.scalers(cluster).get(scale.scaler, {})
        limited = scale.min_executors or scale.max_executors
        told = (
            f"mode {mode}, {title_of(scale.scaler)}{limits if limited else ''}{_others(group, own)}"
        )
        rows.append((cluster, told))
    if then.engine.paused:
        rows.append(("Engine", "paused: nothing was done without a person"))
    return SettingsShown(recorded=True, note=RECORDED, rows=tuple(rows))


class SectionsThen(Struct, frozen=True, kw_only=True):
    """The page of the settings at a moment."""

    note: str
    sections: tuple[Section, ...] = ()


def sections_then(run: RecordedRun, at: float, cluster: str) -> SectionsThen:
    """The groups of one cluster, or without one the general ones, as they were set."""
    then = run.settings.then(at)
    if cluster and cluster not in run.names:
        return SectionsThen(note=f"There is no cluster {cluster} in this run.")
    if not then.recorded:
        return SectionsThen(note="This run was recorded without its settings.")
    note = "As they were at this moment; nothing can be changed here."
    if then.engine.paused:
        note = f"{note} Everything automatic was paused."
    trail = as_of(run.actions, "audit", at)
    return SectionsThen(note=note, sections=tuple(sections(cluster, then.groups, {}, trail)))


def value_words(field: Field) -> str:
    """What was set, for people; secrets are never recorded.

    >>> value_words(Field(key="ttl_s", label="Time to decide", kind="number", value=60, default=300.0,
    ...                   help="", unit="s"))
    '60 s'
    >>> value_words(Field(key="hours", label="Hours", kind="text", value="", default="",
    ...                   help="", unit="UTC"))
    'empty'
    """
    if field.key in SECRET:
        return "not recorded"
    value, unit = field.value, f" {field.unit}" if field.unit else ""
    if field.kind == "switch":
        return "on" if value else "off"
    if field.kind == "choice":
        return source_title(str(value))
    if isinstance(value, int | float):
        return (f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:g}") + unit
    return f"{value}{unit}" if value else "empty"


def _others(group: str, values: Mapping[str, Any]) -> str:
    told = ", ".join(
        _named(field)
        for field in fields_of(group, values)
        if field.key in values and field.key != "planner"
    )
    return f" ({told})" if told else ""


def _named(field: Field) -> str:
    label, value = field.label[0].lower() + field.label[1:], value_words(field)
    return f"{label} {value.removesuffix(f' {field.unit}') if field.unit in label else value}"
