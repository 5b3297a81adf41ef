"""The settings in a replay: the recorded ones. They are text, so there is nothing to save."""

from dash import html
from dash.development.base_component import Component

from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.scale.settings import Field, range_text
from weir.components.pages.settings import ids as own
from weir.components.pages.settings.render import changed_text, scopes
from weir.components.pages.settings.then import SectionsThen, value_words
from weir.components.pages.settings.view import Section
from weir.components.ui.parts import icon, region


def render(world: World, page: Page) -> Component:
    """The frame; the values of each moment come as a panel."""
    name = page.place.name
    return html.Div(
        [
            html.Div(
                html.Div(
                    [
                        html.H1("Settings"),
                        html.Span(name or "for all clusters", className="tag"),
                    ],
                    className="card-title",
                ),
                className="page-head",
            ),
            html.Div(
                [
                    scopes([c.name for c in world.snapshot.clusters], name),
                    region(own.THEN),
                ],
                className="settings",
            ),
        ],
        className="stack",
    )


def panel(then: SectionsThen) -> Component:
    """All groups at one moment."""
    return html.Div(
        [html.P(then.note, className="quiet"), *(_section(s) for s in then.sections)],
        className="stack",
    )


def _section(section: Section) -> Component:
    title = html.H2(section.title)
    body = [
        html.P(section.text, className="quiet"),
        html.P([icon("warn"), section.error], className="proposal-hint") if section.error else None,
        html.Dl([_line(section, field) for field in section.fields], className="facts"),
    ]
    if section.folded:
        head = html.Summary([title, html.Span("not followed", className="tag")])
        return html.Details(
            [head, *body], className="card setting-group", **{"data-group": section.group}
        )
    return html.Section(
        [html.Div(title, className="card-head"), *body],
        className="card setting-group",
        **{"data-group": section.group},
    )


def _line(section: Section, field: Field) -> Component:
    change = section.changes.get(field.key)
    about = html.Div(f"{field.help} ({range_text(field)})", className="quiet")
    return html.Div(
        [
            html.Dt([field.label, about]),
            html.Dd(
                [
                    html.Strong(value_words(field)),
                    html.Div(changed_text(change), className="quiet") if change else None,
                ]
            ),
        ],
        className="fact",
        **{"data-key": field.key},
    )
