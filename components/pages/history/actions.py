"""What the History pages do: search, sort, choose and delete runs. By HTTP, like all buttons."""

import asyncio
import time
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, html

from weir.components.pages.history import ids as own
from weir.components.pages.history.render_list import runs_table
from weir.components.pages.history.view import (
    change_query,
    compare_path,
    listing,
    query_of,
    sort_by,
)
from weir.components.pages.replay.library import Library
from weir.components.ui.clicks import only_clicks
from weir.components.ui.dialog import Ask, Dialog, Done, Said, outputs
from weir.components.web.security import Role, require
from weir.metrics.runs.library import delete_run

ASKER = "run"


def register(app: Dash, library: Library, dialog: Dialog) -> None:
    """Everything on the list of runs."""
    _register_list(app, library)
    _register_choice(app)
    _register_delete(app, library, dialog)


def _register_list(app: Dash, library: Library) -> None:
    @app.callback(
        Output(own.TABLE, "children"),
        Output(own.QUERY, "data"),
        Input(own.SEARCH, "value"),
        Input(own.KIND, "value"),
        Input(own.sort(ALL), "n_clicks"),
        Input(own.turn(ALL), "n_clicks"),
        Input(own.IMPORTED, "data"),
        State(own.QUERY, "data"),
        State(own.CHOSEN, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def show(
        words: Any, kind: Any, _sorts: Any, _pages: Any, _imported: Any, before: Any, chosen: Any
    ) -> Any:
        query, asked = query_of(before), ctx.triggered_id
        if isinstance(asked, dict):
            only_clicks()
            if asked["type"] == "runs-sort":
                query = sort_by(query, asked["key"])
            else:
                query = change_query(query, page=query.page + (1 if asked["to"] == "after" else -1))
        else:
            query = change_query(query, words=str(words or ""), kind=str(kind or "all"))
        found = listing(await asyncio.to_thread(library.runs), query, time.time())
        return runs_table(found, chosen or []), {
            f: getattr(found.query, f) for f in found.query.__struct_fields__
        }


def _register_choice(app: Dash) -> None:
    @app.callback(
        Output(own.CHOSEN, "data"),
        Output(own.COMPARE, "href"),
        Output(own.COMPARE, "className"),
        Input(own.tick(ALL), "checked"),
        State(own.tick(ALL), "id"),
        State(own.CHOSEN, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def choose(ticks: list[bool], shown: list[dict[str, str]], before: Any) -> Any:
        ticked = [name["run"] for name, tick in zip(shown, ticks, strict=True) if tick]
        here = {name["run"] for name in shown}
        past = [run for run in before if isinstance(run, str)] if isinstance(before, list) else []
        kept = [run for run in past if run not in here or run in ticked]
        chosen = kept + [run for run in ticked if run not in kept]
        if len(chosen) != 2:
            return chosen, "/history", "button is-off"
        return chosen, compare_path(*chosen), "button button-primary"


def _register_delete(app: Dash, library: Library, dialog: Dialog) -> None:
    @app.callback(outputs(), Input(own.delete(ALL), "n_clicks"), prevent_initial_call=True)
    @require(Role.ADMIN)
    async def ask(_clicks: Any) -> Any:
        only_clicks()
        run = ctx.triggered_id["run"]
        ask = Ask(
            title="Delete this run?",
            body=html.P(f"{run} goes from the disk of the web server, and cannot be brought back."),
            confirm="Delete run",
            danger=True,
            pending=run,
        )
        return dialog.open_outputs(ASKER, ask)

    async def delete(said: Said) -> Done:
        run = str(said.pending)
        await asyncio.to_thread(delete_run, library.root, run, time.time())
        return Done(said=f"{run} is deleted.", shown={own.IMPORTED: {"data": time.time()}})

    dialog.on(ASKER, Role.ADMIN, delete)
