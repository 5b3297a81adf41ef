"""A scaler's settings as a form, generated from where they are declared, and read back."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from weir.components.live.recommendation_words import source_title
from weir.components.live.world import World
from weir.components.pages.scale.view import own_settings, title_of
from weir.controllers.engine.propose.scaling import ScaleSettings, scale_group, scaler_group
from weir.controllers.model.errors import UNREADABLE, InvalidInput
from weir.controllers.model.settings import SettingInfo, build, describe
from weir.controllers.model.words import quantity
from weir.controllers.scaling.facts import Scope
from weir.controllers.scaling.qlearning.settings import QSettings
from weir.controllers.scaling.registry import create, scaler_type

LIMITS = "limits"
"""The form of the cluster's own limits, in place of a scaler's name."""
Kind = Literal["number", "whole", "switch", "choice", "text", "plain"]
SHARES = ("load", "load per core", "share")
"""Units that forms show in per cent, as all pages do."""
_LIMIT_KEYS = ("min_executors", "max_executors")


class Field(Struct, frozen=True, kw_only=True):
    """One line of the form."""

    key: str
    label: str
    kind: Kind
    value: Any
    default: Any
    help: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    times: float = 1.0  # what is shown is so many times what is kept


class Form(Struct, frozen=True, kw_only=True):
    """All of a dialog."""

    cluster: str
    of: str  # a scaler, or LIMITS
    title: str
    text: str
    group: str  # under which it is kept
    fields: tuple[Field, ...]


def form(world: World, cluster: str, of: str) -> Form:
    """The settings of a scaler here (or the limits), with the values that hold now."""
    if of == LIMITS:
        kept = world.scale_settings.get(scale_group(cluster), {})
        found = [i for i in describe(ScaleSettings) if i.key in _LIMIT_KEYS]
        return Form(
            cluster=cluster,
            of=of,
            title=f"Limits of {cluster}",
            text="No scaler asks for more or fewer executors than this, "
            "and never beyond what the cluster itself allows.",
            group=scale_group(cluster),
            fields=tuple(field_of(info, kept) for info in found),
        )
    kept = own_settings(world, cluster, of)
    kind = scaler_type(of)
    said = (
        "Another width or number of latency bins begins a new table: export the old one first."
        if kind.settings_type is QSettings
        else "They hold from the next time the engine asks it."
    )
    return Form(
        cluster=cluster,
        of=of,
        title=f"{title_of(of)} on {cluster}",
        text=said,
        group=scaler_group(cluster, of),
        fields=tuple(field_of(info, kept) for info in describe(kind.settings_type)),
    )


def read(form: Form, given: Mapping[str, Any]) -> dict[str, Any]:
    """What to set: a value for each field, None for its default. An error names its field."""
    shown = {f.key: f for f in form.fields}
    values = {key: value_of(field, given.get(key)) for key, field in shown.items()}
    changes = {
        key: None if v == as_kept(shown[key], shown[key].default) else v
        for key, v in values.items()
    }
    chosen = {key: value for key, value in changes.items() if value is not None}
    try:
        if form.of == LIMITS:
            limits = build(ScaleSettings, chosen)
            if limits.max_executors and limits.min_executors > limits.max_executors:
                raise InvalidInput("min_executors must not be above max_executors", "min_executors")
        else:
            create(form.of, chosen, Scope(cluster=form.cluster))
    except InvalidInput as error:
        raise in_words(error, shown) from None
    return changes


def field_of(info: SettingInfo, kept: Mapping[str, Any]) -> Field:
    """A setting as a line of a form, with the value that holds now."""
    value = kept.get(info.key, info.default)
    kinds: dict[str, Kind] = {"integer": "whole", "number": "number", "boolean": "switch"}
    kind: Kind = "choice" if info.choices else kinds.get(info.type, "text")
    if info.type in ("object", "array"):
        kind = "plain"
    shares = kind == "number" and info.unit in SHARES
    times = 100.0 if shares else 1.0

    def shown(number: Any) -> Any:
        return _times(number, times) if shares else number

    return Field(
        key=info.key,
        label=re.sub(r"\burl\b", "URL", info.label),
        kind=kind,
        value=_plain(value) if kind == "plain" else shown(value),
        default=_plain(info.default) if kind == "plain" else shown(info.default),
        help=info.help.replace("load per core", "load") if shares else info.help,
        unit="%" if shares else info.unit,
        minimum=shown(info.minimum),
        maximum=shown(info.maximum),
        choices=info.choices,
        times=times,
    )


def as_kept(field: Field, shown: Any) -> Any:
    """A value as the setting has it, of what a form shows.

    >>> load = Field(key="a", label="A", kind="number", value=80.0, default=80.0, help="", times=100.0)
    >>> as_kept(load, 57.0), as_kept(load, None)
    (0.57, None)
    """
    return _times(shown, 1.0 / field.times) if field.times != 1.0 else shown


def _times(number: Any, times: float) -> Any:
    if not isinstance(number, int | float) or isinstance(number, bool):
        return number
    return round(number * times, 9)


def range_text(field: Field) -> str:
    """Default and range in a few words.

    >>> range_text(Field(key="a", label="A", kind="number", value=3, default=2.0, help="",
    ...                  unit="s", minimum=0.1))
    'default 2 s, at least 0.1'
    >>> range_text(Field(key="b", label="B", kind="whole", value=3, default=5, help="",
    ...                  minimum=1, maximum=10000))
    'default 5, 1 to 10,000'
    """
    unit = f" {field.unit}" if field.unit else ""
    default = field.default
    if field.kind == "switch":
        return f"default {'on' if default else 'off'}"
    if field.kind == "choice":
        said = source_title(str(default))
    elif isinstance(default, int | float):
        said = quantity(default)
    else:
        said = str(default)
    parts = [f"default {said}{unit}" if said else f"default empty{unit and ','}{unit}"]
    low, high = field.minimum, field.maximum
    if low is not None and high is not None:
        parts.append(f"{quantity(low)} to {quantity(high)}")
    elif low is not None:
        parts.append(f"at least {quantity(low)}")
    elif high is not None:
        parts.append(f"at most {quantity(high)}")
    return ", ".join(parts)


def _plain(value: Any) -> str:
    return msgspec.json.encode(value or {}).decode()


def value_of(field: Field, given: Any) -> Any:
    """What a control holds, as the setting's type; an empty one means the default."""
    if field.kind == "plain":
        text = str(given or "{}").strip()
        try:
            read = msgspec.json.decode(text)
        except UNREADABLE:
            raise InvalidInput(f'{field.label} is written like {{"a": 1}}.', field.key) from None
        return field.default if _plain(read) == field.default else read
    if given is None or given == "":
        return as_kept(field, field.default)
    if field.kind == "whole" and isinstance(given, float) and given != int(given):
        raise InvalidInput(f"{field.label} is a whole number.", field=field.key)
    return as_kept(field, given)


def in_words(error: InvalidInput, shown: Mapping[str, Field]) -> InvalidInput:
    """The same error in the words of the form."""
    text = str(error)
    key = (error.field or "").split(".")[0]
    if key not in shown:  # a rule on two settings begins with the name of the first
        key = next((k for k in text.removeprefix("settings: ").split() if k in shown), "")
    if key not in shown:
        return error
    field = shown[key]
    low, high = field.minimum, field.maximum
    if "Expected" in text and field.kind != "plain":  # of which the error is about a part
        unit = f" {field.unit}" if field.unit else ""
        kind = {"whole": "a whole number", "number": "a number"}.get(field.kind, "another value")
        wanted = (
            f"from {low:g} to {high:g}" if low is not None and high is not None
            else f"of at least {low:g}" if low is not None
            else f"of at most {high:g}" if high is not None else ""
        )  # fmt: skip
        return InvalidInput(f"{field.label} must be {kind} {wanted}{unit}".rstrip() + ".", key)
    for name, other in shown.items():
        text = re.sub(rf"\b{name}\b", f'"{other.label}"', text)
    return InvalidInput(text.removeprefix("settings: ").rstrip(".") + ".", key)
