"""The audit trail: its filter, its entries, and whether it is whole."""

import dash_mantine_components as dmc
import msgspec
from dash import dcc, html
from dash.development.base_component import Component

from weir.components.live.page import Page
from weir.components.live.world import World
from weir.components.pages.audit import ids as audit_ids
from weir.components.pages.audit.view import LOOKED_AT_MOST, TrailPage
from weir.components.pages.settings.view import group_words
from weir.components.ui.parts import card, fact, icon, stamp
from weir.components.ui.path import recommendation_path
from weir.components.ui.states import loading
from weir.components.ui.surface import page_link
from weir.components.ui.text import plural, who
from weir.controllers.engine.audit import AuditEntry, Chain

LIMITS = (
    "Each check remembers the newest entry outside Redis. Whoever can write to Redis could still "
    "rewrite what came after the last check, so check often: weir audit --verify does the same."
)


def render(world: World, page: Page) -> Component:
    """The frame; the entries come by a callback."""
    del world, page
    return html.Div(
        [
            html.Div(
                [html.Div(html.H1("Audit"), className="card-title"), export_links()],
                className="page-head",
            ),
            chain_card(),
            card(
                filter_form(),
                dcc.Store(id=audit_ids.AUDIT_TIMES),
                dcc.Store(id=audit_ids.AUDIT_PAGES, data=[]),
                dcc.Store(id=audit_ids.AUDIT_OPENED, data=True),
                html.Div(loading(), id=audit_ids.AUDIT_LIST, className="audit-list"),
                paging(),
                title="Entries",
            ),
        ],
        className="stack",
    )


def filter_form() -> Component:
    """Every part narrows it down; the address of the page carries the filter."""
    return html.Div(
        [
            _text(audit_ids.AUDIT_SEARCH, "Search", "any word"),
            _text(audit_ids.AUDIT_WHO, "Who", "name, or engine"),
            dmc.Autocomplete(
                id=audit_ids.AUDIT_ACTION, label="Action", placeholder="e.g. approved", data=[],
                debounce=300,
            ),
            _text(audit_ids.AUDIT_SUBJECT, "Subject", "cluster, group, id"),
            _time(audit_ids.AUDIT_FROM, "From"),
            _time(audit_ids.AUDIT_TO, "To"),
            html.Button("Clear", id=audit_ids.AUDIT_CLEAR, className="button", type="button"),
        ],
        className="audit-form",
        id=audit_ids.AUDIT_FORM,
        role="search",
    )  # fmt: skip


def paging() -> Component:
    """To the newest, and back and forth."""
    return html.Div(
        [
            html.Button("Newest", id=audit_ids.AUDIT_NEWEST, className="button", type="button"),
            html.Button("Newer", id=audit_ids.AUDIT_NEWER, className="button", type="button"),
            html.Button("Older", id=audit_ids.AUDIT_OLDER, className="button", type="button"),
        ],
        className="audit-paging",
    )


def entries_list(found: TrailPage, *, filtered: bool) -> Component:
    """One page of entries, or why there are none."""
    parts: list[Component] = []
    if found.entries:
        parts.append(html.Ol([_entry(e) for e in found.entries], className="trail"))
    elif not found.gave_up:
        said = "No entry fits this filter." if filtered else "Nothing has been done yet."
        parts.append(html.P(said, className="quiet"))
    if found.gave_up:
        parts.append(
            html.P(
                f"Looked through {LOOKED_AT_MOST:,} entries; “Older” looks further back.",
                className="quiet",
            )
        )
    return html.Div(parts)


def chain_note(chain: Chain, anchor_path: str = "") -> Component:
    """Whether every seal and link fits and both ends are there, and where not."""
    if not chain.checked and not chain.lost:
        return html.P("There is no entry to check yet.", className="quiet")
    first = chain.first.number if chain.first else 0
    last = chain.last.number if chain.last else 0
    checked = f"{plural(chain.checked, 'entry')} checked, {first} to {last}"
    if chain.whole:
        told = (
            f"Entry {chain.anchor.number} is still the one that the last check saw."
            if chain.anchor
            else "This is the first check: what happened to the trail before it cannot be seen."
        )
        return _chain(
            "whole", f"{checked}: every seal fits, none is missing or changed. {told}", LIMITS
        )
    if chain.broken is not None:
        return _chain(
            "broken",
            f"The chain is broken at entry {chain.broken}: it was changed, or the one before "
            f"it was changed or taken out. {checked}.",
        )
    return _chain(
        "broken",
        f"{chain.lost[0].upper()}{chain.lost[1:]}. {checked}.",
        "If Redis was emptied or replaced on purpose, weir audit --verify --anew starts afresh; "
        f"the last check is remembered in {anchor_path}.",
    )


def _chain(state: str, said: str, more: str = "") -> Component:
    picture, look = ("check", "ok") if state == "whole" else ("cross", "bad")
    return html.Div(
        [
            html.Span([icon(picture), state], className="chip", **{"data-state": look}),
            html.Span([said, html.Br(), html.Span(more, className="quiet")] if more else said),
        ],
        className="chain",
        **{"data-chain": state},
    )


def _entry(entry: AuditEntry) -> Component:
    return html.Li(
        html.Details(
            [
                html.Summary(
                    [
                        stamp(entry.at),
                        html.Strong(who(entry.by), className="trail-who"),
                        html.Span(_action(entry.action), className="trail-action"),
                        html.Span(_short(entry), className="trail-subject"),
                        html.Span(entry.detail, className="trail-detail"),
                        html.Span(entry.why, className="trail-why quiet"),
                    ]
                ),
                html.Dl(
                    [
                        fact("Number", f"{entry.number}"),
                        fact("From", entry.address or "–"),
                        fact("Why", entry.why or "–"),
                        fact("What", entry.detail or "–"),
                        fact("Subject", _subject(entry)),
                        fact("Plan", html.Code(entry.plan_hash)) if entry.plan_hash else None,
                        *(
                            fact(name, html.Code(msgspec.json.encode(values).decode()))
                            for name, values in (
                                ("Before", entry.before),
                                ("Predicted", entry.predicted),
                                ("Measured", entry.measured),
                            )
                            if values
                        ),
                        fact("Seal", html.Code(entry.seal)),
                    ],
                    className="facts trail-facts",
                ),
            ]
        ),
        **{"data-entry": entry.number},
    )


def _action(action: str) -> str:
    """recommendation.approved -> recommendation approved."""
    return action.replace(".", " ").replace("_", " ")


def _short(entry: AuditEntry) -> str:
    """What it was about, in one line with others."""
    if entry.action.startswith("recommendation."):
        return entry.subject[:8]
    return group_words(entry.subject) if entry.action.startswith("settings.") else entry.subject


def _subject(entry: AuditEntry) -> Component | str:
    """What it was about; the way there, which a summary that opens cannot hold."""
    if entry.action.startswith("recommendation.") and entry.subject:
        return page_link(entry.subject, recommendation_path(entry.subject))
    return entry.subject or "–"


def _text(name: str, label: str, hint: str) -> Component:
    return dmc.TextInput(id=name, label=label, placeholder=hint, debounce=300, value="")


def _time(name: str, label: str) -> Component:
    # The browser's own picker: it knows the viewer's language and zone.
    return dmc.TextInput(
        id=name, label=label, value="", attributes={"input": {"type": "datetime-local"}}
    )


def export_links() -> Component:
    """What fits the filter, as a file; the browser saves it while it comes."""
    return html.Div(
        [
            html.A("Export CSV", id=audit_ids.AUDIT_CSV, href="/audit/export.csv", className="button"),
            html.A(
                "Export JSON lines", id=audit_ids.AUDIT_JSON, href="/audit/export.jsonl",
                className="button",
            ),
        ],
        className="card-actions",
    )  # fmt: skip


def chain_card() -> Component:
    """The check of the whole trail."""
    return card(
        html.Div(html.P("Checking every entry …", className="quiet"), id=audit_ids.AUDIT_CHAIN),
        title="Is the trail whole?",
        right=html.Button(
            "Check again", id=audit_ids.AUDIT_CHECK, className="button", type="button"
        ),
    )
