"""The audit trail: who did what, when, from where and why; looked through, checked, exported."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import redis
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from weir.components.live.hub import Hub
from weir.components.pages.audit import ids as audit_ids
from weir.components.pages.audit import view
from weir.components.pages.audit.export import csv_lines, json_lines
from weir.components.pages.audit.render import chain_note, entries_list
from weir.components.ui import ids
from weir.components.ui.clicks import AWAY
from weir.components.ui.text import sentence
from weir.components.web.security import Role, require
from weir.controllers.engine.audit import AuditEntry, read_entries
from weir.controllers.model.errors import WeirError
from weir.metrics.store.anchor import AnchorFile

_FAILURES = (redis.exceptions.RedisError, OSError)
_TEXTS = (
    audit_ids.AUDIT_SEARCH,
    audit_ids.AUDIT_WHO,
    audit_ids.AUDIT_ACTION,
    audit_ids.AUDIT_SUBJECT,
)
_LINES = 200
"""Lines per piece of an export."""


def register(app: Dash, hub: Hub, anchor: AnchorFile) -> None:
    """Look, page, check."""
    _register_look(app, hub)

    @app.callback(
        Output(audit_ids.AUDIT_CHAIN, "children"), Input(audit_ids.AUDIT_CHECK, "n_clicks")
    )
    @require(Role.VIEWER)
    async def check(_clicks: Any) -> Component:
        try:
            key = hub.store.keyring.audit_key()
            chain = await asyncio.to_thread(anchor.check, hub.store.audit, key=key)
            return chain_note(chain, str(anchor.path))
        except WeirError as error:
            return html.P(sentence(str(error)), className="dialog-error")
        except _FAILURES:
            return html.P(AWAY, className="dialog-error")

    app.clientside_callback(
        ClientsideFunction("weir", "times"),
        Output(audit_ids.AUDIT_TIMES, "data"),
        Input(audit_ids.AUDIT_FROM, "value"),
        Input(audit_ids.AUDIT_TO, "value"),
        prevent_initial_call=True,
    )


def _register_look(app: Dash, hub: Hub) -> None:
    @app.callback(
        [Output(name, "value") for name in (*_TEXTS, audit_ids.AUDIT_FROM, audit_ids.AUDIT_TO)],
        Input(audit_ids.AUDIT_OPENED, "data"),
        Input(audit_ids.AUDIT_CLEAR, "n_clicks"),
        State(ids.URL, "search"),
    )
    @require(Role.VIEWER)
    async def fill(_opened: Any, _clear: Any, address: str | None) -> list[Any]:
        """The form from the address when the page opens, and empty when it is cleared."""
        cleared = ctx.triggered_id == audit_ids.AUDIT_CLEAR
        chosen = view.Filter() if cleared else view.filter_in(address)
        times = ["", ""] if cleared else [no_update, no_update]
        return [chosen.search, chosen.who, chosen.action, chosen.subject, *times]

    @app.callback(
        output={
            "list": Output(audit_ids.AUDIT_LIST, "children"),
            "pages": Output(audit_ids.AUDIT_PAGES, "data"),
            "older": Output(audit_ids.AUDIT_OLDER, "disabled"),
            "newer": Output(audit_ids.AUDIT_NEWER, "disabled"),
            "csv": Output(audit_ids.AUDIT_CSV, "href"),
            "json": Output(audit_ids.AUDIT_JSON, "href"),
            "actions": Output(audit_ids.AUDIT_ACTION, "data"),
        },
        inputs={
            "texts": [Input(name, "value") for name in _TEXTS],
            "times": Input(audit_ids.AUDIT_TIMES, "data"),
            "clicks": [
                Input(name, "n_clicks")
                for name in (audit_ids.AUDIT_NEWEST, audit_ids.AUDIT_NEWER, audit_ids.AUDIT_OLDER)
            ],
        },
        state={"pages": State(audit_ids.AUDIT_PAGES, "data")},
    )
    @require(Role.VIEWER)
    async def look(texts: list[Any], times: Any, clicks: Any, pages: Any) -> dict[str, Any]:
        del clicks
        stack = _pages(pages, str(ctx.triggered_id))
        try:
            chosen = _chosen_filter(texts, times)
            found = await asyncio.to_thread(
                view.look, hub.store.audit, chosen, stack[-1] if stack else None
            )
        except (*_FAILURES, WeirError) as error:
            said = sentence(str(error)) if isinstance(error, WeirError) else AWAY
            names = ("pages", "older", "newer", "csv", "json", "actions")
            wrong = html.P(said, className="dialog-error")
            return {"list": wrong, **dict.fromkeys(names, no_update)}
        query = view.query_of(chosen)
        return {
            "list": entries_list(found, filtered=bool(query)),
            # The number to go on below lies on top, for the button "Older".
            "pages": [stack, found.older],
            "older": found.older is None,
            "newer": not stack,
            "csv": f"/audit/export.csv{query}",
            "json": f"/audit/export.jsonl{query}",
            "actions": view.actions_of(found.entries),
        }

    app.clientside_callback(
        ClientsideFunction("weir", "address"),
        Output(audit_ids.AUDIT_OPENED, "modified_timestamp"),
        Input(audit_ids.AUDIT_CSV, "href"),
        prevent_initial_call=True,
    )


def _chosen_filter(texts: list[Any], times: Any) -> view.Filter:
    """The filter that stands in the form."""
    since, until = times if isinstance(times, list) and len(times) == 2 else (None, None)
    names = ("search", "who", "action", "subject")
    return view.filter_of({**dict(zip(names, texts, strict=True)), "since": since, "until": until})


def _pages(pages: Any, clicked: str) -> list[int]:
    """Numbers below which the pages so far began; a new filter starts over."""
    stack, older = pages if isinstance(pages, list) and len(pages) == 2 else ([], None)
    stack = [n for n in stack if isinstance(n, int)]
    if clicked == audit_ids.AUDIT_OLDER and isinstance(older, int):
        return [*stack, older]
    if clicked == audit_ids.AUDIT_NEWER:
        return stack[:-1]
    return []


def routes(server: FastAPI, hub: Hub) -> None:
    """The export, streamed: a trail of any length takes no memory."""

    def export(
        request: Request,
        lines: Callable[[Iterable[AuditEntry]], Iterator[str]],
        name: str,
        kind: str,
    ) -> StreamingResponse:
        chosen = view.filter_of(dict(request.query_params))
        found = (e for e in read_entries(hub.store.audit) if chosen.fits(e))
        headers = {
            "content-disposition": f'attachment; filename="{name}"',
            "cache-control": "no-store",
        }
        return StreamingResponse(_pieces(lines(found)), media_type=kind, headers=headers)

    @server.get("/audit/export.csv", include_in_schema=False)
    @require(Role.VIEWER)
    async def export_csv(request: Request) -> StreamingResponse:
        return export(request, csv_lines, "weir-audit.csv", "text/csv; charset=utf-8")

    @server.get("/audit/export.jsonl", include_in_schema=False)
    @require(Role.VIEWER)
    async def export_json(request: Request) -> StreamingResponse:
        return export(request, json_lines, "weir-audit.jsonl", "application/x-ndjson")


async def _pieces(lines: Iterator[str]) -> AsyncIterator[str]:
    """Lines in pieces, read in a thread so that nobody else waits."""

    def piece() -> str:
        return "".join(islice(lines, _LINES))

    while text := await asyncio.to_thread(piece):
        yield text
