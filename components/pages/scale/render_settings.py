"""A scaler's settings in the dialog, generated from where they are declared."""

from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component
from msgspec.structs import replace

from weir.components.live.recommendation_words import source_title
from weir.components.pages.scale.settings import Field, Form, range_text
from weir.components.ui import ids


def form_body(form: Form, *, defaults: bool = False) -> Component:
    """All fields of a form, with the values that hold or with their defaults."""
    if defaults:
        form = replace(form, fields=tuple(replace(f, value=f.default) for f in form.fields))
    fields = [_control(form, field) for field in form.fields]
    return html.Div(
        [
            html.P(form.text, className="quiet"),
            html.Div(fields, className="form")
            if fields
            else html.P("There is nothing to set about it."),
        ]
    )


def _control(form: Form, field: Field) -> Component:
    name = ids.switch if field.kind == "switch" else ids.field
    common: dict[str, Any] = {
        "id": name(field.key, form.of),
        "label": field.label,
        "description": f"{field.help} ({range_text(field)})",
    }
    match field.kind:
        case "switch":
            return dmc.Switch(checked=bool(field.value), **common)
        case "choice":
            data = [{"value": c, "label": source_title(c)} for c in field.choices]
            return dmc.Select(data=data, value=field.value, allowDeselect=False, **common)
        case "number" | "whole":
            # What is out of range is refused in words: a number that changes by itself when
            # the cursor leaves would be kept unseen.
            return dmc.NumberInput(
                value=field.value,
                clampBehavior="none",
                allowDecimal=field.kind == "number",
                suffix=f" {field.unit}" if field.unit else "",
                **common,
            )
        case "plain":
            return dmc.Textarea(value=field.value, autosize=True, minRows=1, **common)
    return dmc.TextInput(value=field.value, **common)
