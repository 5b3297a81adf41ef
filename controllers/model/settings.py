"""Settings declared once, as fields of a frozen Struct; everything else is generated.

A field carries default, range, unit and help:

    max_load: Annotated[float, setting("Scale out above this load per core", ge=0, unit="load")] = 0.8

`describe` turns such a Struct into rows for the settings page, the command line
and the documentation; `build` makes one from a person's input and names the
field that is wrong. Settings are kept as JSON, which has no infinity.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from weir.controllers.model.errors import InvalidInput

S = TypeVar("S", bound=Struct)

LARGEST = 1e15
"""No setting is larger: beyond it products of settings and figures overflow."""


class SettingInfo(Struct, frozen=True, kw_only=True):
    """One setting, ready to be shown."""

    key: str
    type: str
    default: Any
    help: str
    label: str = ""  # what a form calls it
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()


def setting(
    help: str,
    *,
    label: str = "",
    unit: str = "",
    ge: float | None = None,
    le: float | None = None,
) -> Meta:
    """The annotation of one settings field; the range includes both ends.

    `label` is for a key that makes no good words by itself.
    """
    return Meta(description=help, ge=ge, le=le, extra={"unit": unit, "label": label})


def describe(settings: type[Struct]) -> list[SettingInfo]:
    """Every field of a settings Struct with its default, range, unit and help."""
    schema = msgspec.json.schema(settings)
    name = schema["$ref"].rsplit("/", 1)[-1]
    properties = schema["$defs"][name]["properties"]
    extras = {
        field.name: getattr(field.type, "extra", None) or {}
        for field in msgspec.inspect.type_info(settings).fields  # type: ignore[attr-defined]
    }
    rows = []
    for key, spec in properties.items():
        target = schema["$defs"].get(spec.get("$ref", "").rsplit("/", 1)[-1], {})
        merged = {**target, **spec}
        rows.append(
            SettingInfo(
                key=key,
                type=str(merged.get("type", "string")),
                default=spec.get("default"),
                help=spec.get("description", ""),
                label=extras[key].get("label") or _words(key, extras[key].get("unit", "")),
                unit=extras[key].get("unit", ""),
                minimum=spec.get("minimum"),
                maximum=spec.get("maximum"),
                choices=tuple(str(c) for c in merged.get("enum", ())),
            )
        )
    return rows


def build(settings: type[S], values: Mapping[str, Any]) -> S:
    """Make settings from input; text is read as the field's type.

    >>> class Demo(Struct, frozen=True):
    ...     most: int = 3
    >>> build(Demo, {"most": "5"}).most
    5
    >>> build(Demo, {"least": 1})
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: there is no setting 'least'; known: most
    >>> build(Demo, {"most": 10**30})
    Traceback (most recent call last):
    weir.controllers.model.errors.InvalidInput: most: it must be a number of at most 1e+15
    """
    known = _names(settings)
    for key in values:
        if key not in known:
            raise InvalidInput(
                f"there is no setting '{key}'; known: {', '.join(sorted(known))}", field=key
            )
    try:
        made = msgspec.convert(dict(values), settings, strict=False)
    except msgspec.ValidationError as error:
        message = str(error)
        at = message.rsplit("`$.", 1)[-1].rstrip("`") if "`$." in message else None
        text = message.split(" - at ")[0]
        raise InvalidInput(f"{at or 'settings'}: {text}", field=at) from None
    for key in known:
        value = getattr(made, key)
        # Also NaN, which a range lets pass.
        if isinstance(value, int | float) and not abs(value) <= LARGEST:
            raise InvalidInput(f"{key}: it must be a number of at most {LARGEST:g}", field=key)
    return made


@cache
def _names(settings: type[Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(settings))


def _words(key: str, unit: str) -> str:
    """A key as a form says it; the unit stands beside the field.

    >>> _words("settle_s", "s"), _words("least_periods", "")
    ('Settle', 'Least periods')
    """
    return key.removesuffix("_s" if unit == "s" else "").replace("_", " ").capitalize()
