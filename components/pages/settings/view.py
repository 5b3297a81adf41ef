"""Every group of settings as a form, generated from where it is declared, and read back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weir.components.pages.scale.settings import Field, as_kept, field_of, in_words, value_of
from weir.controllers.balancing.base import planners
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.groups import Group, check_settings, groups, settings_type
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings, planner_group
from weir.controllers.engine.propose.rings import ResliceSettings
from weir.controllers.engine.propose.scaling import ScaleSettings, scale_group, scaler_group
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import describe
from weir.controllers.placement.base import ring_planners
from weir.controllers.scaling.registry import scalers
from weir.controllers.service.steering import SECRET

HITS = 30
HIDDEN = {(ENGINE, "paused")}
"""Settings that have a switch of their own: pause-all stands in the header of every page."""


class Change(Struct, frozen=True, kw_only=True):
    """Who changed a setting last."""

    by: str
    at: float


class Section(Struct, frozen=True, kw_only=True):
    """One group of settings."""

    group: str
    title: str
    cluster: str
    text: str  # what it is about
    fields: tuple[Field, ...]
    changed: Change | None = None
    changes: Mapping[str, Change] = {}  # of single settings, as far as the trail tells
    folded: bool = False
    error: str = ""  # the values that are kept do not fit any more


class Hit(Struct, frozen=True, kw_only=True):
    """A setting that a search found."""

    group: str
    key: str
    label: str
    title: str
    cluster: str
    help: str


def sections(
    cluster: str,
    kept: Mapping[str, Mapping[str, Any]],
    changed: Mapping[str, tuple[str, float]],
    trail: Iterable[AuditEntry] = (),
) -> list[Section]:
    """The groups of one cluster, or without one the general ones."""
    single = last_changes(trail)
    if cluster:
        chosen = kept.get(scale_group(cluster), {}).get("scaler", ScaleSettings().scaler)
        others = {scaler_group(cluster, name) for name in scalers() if name != chosen}
    else:
        chosen = kept.get(BALANCE, {}).get("planner", BalanceSettings().planner)
        others = {planner_group(name) for name in planners() if name != chosen}
    return [
        _section(
            found,
            kept.get(found.name, {}),
            changed.get(found.name),
            {key: c for (name, key), c in single.items() if name == found.name},
            folded=found.name in others,
        )
        for found in groups([cluster] if cluster else [])
        if found.cluster == cluster
    ]


def without_secrets(section: Section) -> Section:
    """As people see it who may not change it: whether a secret is set, not what it is."""
    hidden = [replace(f, value=public_value(f.key, f.value)) for f in section.fields]
    return replace(section, fields=tuple(hidden))


def public_value(key: str, value: Any) -> Any:
    """A setting's value for everybody's eyes.

    >>> public_value("webhook_url", "https://hook/key"), public_value("webhook_url", ""), public_value("ttl_s", 60.0)
    ('set', '', 60.0)
    """
    return "set" if key in SECRET and value else value


def changes(section: Section, given: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """What a person has changed, ready to be kept; None: back to the default.

    Only what differs from what the form was drawn with counts, so that what somebody else
    changed meanwhile stays.
    """
    found: dict[str, Any] = {}
    for field in section.fields:
        if field.key not in given:
            continue
        value = value_of(field, given[field.key])
        if value != as_kept(field, shown.get(field.key, field.default)):
            default = as_kept(field, field.default)
            found[field.key] = None if value == default else value
    return found


def explain_error(section: Section, error: InvalidInput) -> InvalidInput:
    """An error in the words of the form, with the field that it is about."""
    return in_words(error, {f.key: f for f in section.fields})


def values(section: Section) -> dict[str, Any]:
    """What the form is drawn with."""
    return {f.key: f.value for f in section.fields}


def last_changes(trail: Iterable[AuditEntry]) -> dict[tuple[str, str], Change]:
    """Who changed each setting last; the trail comes newest first.

    >>> entry = AuditEntry(at=5.0, by="ada", action="settings.changed", subject="engine",
    ...                    before={"ttl_s": 300.0})
    >>> last_changes([entry])[("engine", "ttl_s")].by
    'ada'
    """
    found: dict[tuple[str, str], Change] = {}
    for entry in trail:
        if entry.action == "settings.changed":
            for key in entry.before:
                found.setdefault((entry.subject, key), Change(by=entry.by, at=entry.at))
    return found


def search(clusters: Sequence[str], words: str) -> list[Hit]:
    """Settings whose name, help or group has every word.

    >>> [(h.title, h.label) for h in search(["wide"], "approve asks")]
    [('Engine', 'Four eyes')]
    """
    wanted = words.lower().split()
    if not wanted:
        return []
    found = []
    for one in groups(clusters):
        for info in describe(one.kind):
            if (one.name, info.key) in HIDDEN:
                continue
            field = field_of(info, {})
            text = f"{one.cluster} {one.title} {info.key} {field.label} {info.help}".lower()
            if all(word in text for word in wanted):
                found.append(
                    Hit(
                        group=one.name,
                        key=info.key,
                        label=field.label,
                        title=one.title,
                        cluster=one.cluster,
                        help=info.help,
                    )
                )
    return found


def anchor(group_name: str, key: str) -> str:
    """Where a setting stands on its page."""
    return f"{group_name}.{key}"


def _section(
    found: Group,
    kept: Mapping[str, Any],
    changed: tuple[str, float] | None,
    single: Mapping[str, Change],
    *,
    folded: bool,
) -> Section:
    fields = fields_of(found.name, kept)
    error = ""
    try:
        check_settings(found.name, kept)
    except InvalidInput as wrong:
        error = f"What is kept does not fit, so the defaults hold: {wrong}."
    text = (found.kind.__doc__ or "").split("\n")[0].split(";")[0].rstrip(".") + "."
    return Section(
        group=found.name,
        title=found.title,
        cluster=found.cluster,
        text=text,
        fields=fields,
        changed=Change(by=changed[0], at=changed[1]) if changed else None,
        changes=single,
        folded=folded,
        error=error,
    )


def fields_of(group: str, kept: Mapping[str, Any]) -> tuple[Field, ...]:
    """The settings of a group with the values that are kept."""
    kind = settings_type(group)
    return tuple(
        _with_choices(kind, field_of(info, kept))
        for info in describe(kind)
        if (group, info.key) not in HIDDEN
    )


def group_words(group: str) -> str:
    """A group of settings as people know it.

    >>> group_words("scale:wide"), group_words("scale:wide:drs"), group_words("engine")
    ('Scaling of wide', 'DRS queueing model of wide', 'Engine')
    >>> group_words("gone:a")
    'gone:a'
    """
    cluster = group.split(":")[1] if ":" in group else ""
    found = next((g for g in groups([cluster]) if g.name == group), None)
    if found is None:
        return group
    return f"{found.title} of {found.cluster}" if found.cluster else found.title


def _with_choices(kind: type[Struct], field: Field) -> Field:
    """Names of scalers and planners are chosen, not typed."""
    if kind is ScaleSettings and field.key == "scaler":
        return replace(field, kind="choice", choices=tuple(scalers()))
    if kind is BalanceSettings and field.key == "planner":
        return replace(field, kind="choice", choices=tuple(planners()))
    if kind is ResliceSettings and field.key == "planner":
        return replace(field, kind="choice", choices=tuple(ring_planners()))
    return field


def default_of(group_name: str, key: str) -> Any:
    """The default of one setting, as its control shows it."""
    info = next(i for i in describe(settings_type(group_name)) if i.key == key)
    return field_of(info, {}).default
