"""A scaler's settings as a form, and the choice of scaler and target above it."""

from collections.abc import Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.live.recommendation_words import source_title
from weir.components.live.world import World
from weir.components.pages.scale.settings import Field, Form, form, range_text
from weir.components.pages.what_if import ids as own
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.scaling.registry import scalers

TUNABLE_FIRST = "rate_based"


def scaler_choices() -> list[dict[str, str]]:
    """Every scaler, for a list to choose from."""
    return [{"value": name, "label": kind.title} for name, kind in scalers().items()]


def form_of(scaler: str, given: Mapping[str, Any] | None = None) -> Form:
    """The form of a scaler with its defaults, or with what was given."""
    kept = {scaler_group("", scaler): dict(given or {})}
    return form(World(at=0.0, scale_settings=kept), "", scaler)


def fields_of(shown: Form) -> Component:
    """The controls of a form."""
    if not shown.fields:
        return html.P("There is nothing to set about it.", className="quiet")
    return html.Div([_control(shown.of, field) for field in shown.fields], className="form-grid")


def _control(of: str, field: Field) -> Component:
    make = own.switch if field.kind == "switch" else own.field
    common: dict[str, Any] = {
        "id": make(of, field.key),
        "label": field.label,
        "description": f"{field.help} ({range_text(field)})",
        "size": "sm",
    }
    if field.kind == "switch":
        return dmc.Switch(checked=bool(field.value), **common)
    if field.kind == "choice":
        data = [{"value": c, "label": source_title(c)} for c in field.choices]
        return dmc.Select(data=data, value=field.value, allowDeselect=False, **common)
    if field.kind in ("number", "whole"):
        suffix = f" {field.unit}" if field.unit else ""
        return dmc.NumberInput(value=field.value, clampBehavior="none", suffix=suffix, **common)
    if field.kind == "plain":
        return dmc.Textarea(value=field.value, autosize=True, minRows=1, **common)
    return dmc.TextInput(value=field.value, **common)
