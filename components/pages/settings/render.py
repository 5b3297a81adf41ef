"""Groups of settings as forms: range, unit, help, who changed what, defaults."""

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.live.page import Page
from weir.components.live.recommendation_words import source_title
from weir.components.live.world import World
from weir.components.pages.scale.settings import Field, range_text
from weir.components.pages.settings import ids as settings_ids
from weir.components.pages.settings.view import HITS, Change, Hit, Section, anchor, values
from weir.components.ui.parts import folded_choice, icon, stamp
from weir.components.ui.path import settings_path
from weir.components.ui.states import loading
from weir.components.ui.surface import page_link
from weir.components.ui.text import plural, who
from weir.controllers.model.words import by_number


def render(world: World, page: Page) -> Component:
    """The frame; the values come by a callback, so that what is typed is never drawn over."""
    clusters = sorted((c.name for c in world.snapshot.clusters), key=by_number)
    return html.Div(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.H1("Settings"),
                            html.Span(page.place.name or "for all clusters", className="tag"),
                        ],
                        className="card-title",
                    ),
                    dmc.TextInput(
                        id=settings_ids.SETTINGS_SEARCH,
                        placeholder="Search all settings",
                        debounce=250,
                        **{"aria-label": "Search all settings"},
                    ),
                ],
                className="page-head",
            ),
            html.Div(id=settings_ids.SETTINGS_HITS, role="status"),
            html.Div(
                [
                    scopes(clusters, page.place.name),
                    html.Div(
                        [
                            dcc.Store(id=settings_ids.SETTINGS_SCOPE, data=page.place.name),
                            html.Div(loading(), id=settings_ids.SETTINGS_BODY),
                        ]
                    ),
                ],
                className="settings",
            ),
        ],
        className="stack",
    )


def settings_body(sections: Sequence[Section]) -> Component:
    """All groups of one scope."""
    shown = {s.group: values(s) for s in sections}
    return html.Div(
        [dcc.Store(id=settings_ids.SETTINGS_SHOWN, data=shown), *(_section(s) for s in sections)],
        className="stack",
    )


def scopes(clusters: Sequence[str], chosen: str) -> Component:
    """Where to go: the general settings, and those of each cluster."""
    entries = [("", "For all clusters"), *((name, name) for name in clusters)]
    return folded_choice(
        [
            html.Span(label, className="scope", **{"aria-current": "page"})
            if name == chosen
            else page_link(label, settings_path(name), className="scope")
            for name, label in entries
        ],
        className="scopes",
        label="Whose settings",
        said=f"{chosen or 'For all clusters'}; {plural(len(clusters), 'cluster')} of their own",
    )


def hits(found: Sequence[Hit]) -> Component:
    """What a search found, each with a way to it."""
    if not found:
        return html.P("No setting has these words.", className="quiet")
    lines = [
        html.Li(
            [
                page_link(hit.label, f"{settings_path(hit.cluster)}#{anchor(hit.group, hit.key)}"),
                html.Span(f"{hit.cluster or 'all clusters'}, {hit.title}", className="tag"),
                html.Span(hit.help, className="quiet"),
            ]
        )
        for hit in found[:HITS]
    ]  # fmt: skip
    more = len(found) - HITS
    if more > 0:
        lines.append(html.Li(f"and {more} more; add a word", className="quiet"))
    return html.Ul(lines, className="hits")


def changed_text(change: Change | None) -> list[Component | str]:
    """Who changed it last, and when."""
    if change is None or not change.at:
        return ["never changed"]
    return [f"last changed by {who(change.by)}, ", stamp(change.at)]


def _section(section: Section) -> Component:
    body: list[Component | None] = [
        html.P(section.text, className="quiet"),
        html.P([icon("warn"), section.error], className="proposal-hint") if section.error else None,
        html.Div([_line(section, f) for f in section.fields], className="setting-lines")
        if section.fields
        else html.P("There is nothing to set about it."),
        html.Div(
            [
                html.Button(
                    "Save",
                    id=settings_ids.settings_save(section.group),
                    className="button button-primary",
                    type="button",
                    **{"data-needs": "admin", "aria-label": f"Save {section.title}"},
                ),
                html.Span(
                    changed_text(section.changed),
                    id=settings_ids.settings_part("changed", section.group),
                    className="quiet",
                ),
                html.Span(
                    id=settings_ids.settings_part("error", section.group),
                    className="dialog-error",
                    role="alert",
                ),
            ],
            className="setting-foot",
        )
        if section.fields
        else None,
    ]
    title = html.H2(section.title)
    if section.folded:
        return html.Details(
            [html.Summary([title, html.Span("not followed", className="tag")]), *body],
            className="card setting-group",
            **{"data-group": section.group},
        )
    return html.Section(
        [html.Div(title, className="card-head"), *body],
        className="card setting-group",
        **{"data-group": section.group},
    )


def _line(section: Section, field: Field) -> Component:
    change = section.changes.get(field.key)
    differs = field.value != field.default
    notes: list[Component | str] = []
    if differs:
        notes.append(html.Span("changed", className="tag"))
    if change is not None:
        notes.append(html.Span(changed_text(change), className="quiet"))
    return html.Div(
        [
            _control(section.group, field),
            html.Div(
                [
                    html.Button(
                        "Default",
                        id=settings_ids.setting_default(field.key, section.group),
                        className="button button-small",
                        type="button",
                        title=f"Put the default back into the field; {range_text(field)}",
                        **{
                            "aria-label": f"Default of {field.label}, {section.title}",
                            "data-needs": "admin",
                        },
                    ),
                    *notes,
                ],
                className="setting-notes",
            ),
        ],
        className="setting-line",
        id=anchor(section.group, field.key).replace(".", "-"),
        **{"data-anchor": anchor(section.group, field.key), "data-key": field.key},
    )


def _control(group: str, field: Field) -> Component:
    common: dict[str, Any] = {
        "label": field.label,
        "description": f"{field.help} ({range_text(field)})",
    }
    name = settings_ids.setting(field.key, group)
    match field.kind:
        case "switch":
            return dmc.Switch(
                id=settings_ids.setting_switch(field.key, group),
                checked=bool(field.value),
                **common,
            )
        case "choice":
            data = [{"value": c, "label": source_title(c)} for c in field.choices]
            return dmc.Select(id=name, data=data, value=field.value, allowDeselect=False, **common)
        case "number" | "whole":
            # What is out of range is refused in words: a number that changes by itself when
            # the cursor leaves would be kept unseen.
            return dmc.NumberInput(
                id=name,
                value=field.value,
                clampBehavior="none",
                allowDecimal=field.kind == "number",
                thousandSeparator=",",
                suffix=f" {field.unit}" if field.unit else "",
                **common,
            )
        case "plain":
            return dmc.Textarea(id=name, value=field.value, autosize=True, minRows=1, **common)
    return dmc.TextInput(id=name, value=field.value, **common)
