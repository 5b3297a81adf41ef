"""What the History pages do: search, sort, choose and delete runs. By HTTP, like all buttons."""

import asyncio
import time
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update

from weir.components.live.hub import Hub
from weir.components.pages.history import ids as own
from weir.components.pages.history.render_list import runs_table
from weir.components.pages.history.view import changed, compare_path, listing, query_of, sorted_by
from weir.components.pages.replay.library import Library
from weir.components.pages.tune import actions as history_tune
from weir.components.pages.what_if import actions as history_what_if
from weir.components.ui import ids
from weir.components.ui.actions import only_clicks
from weir.components.ui.dialog import toast
from weir.components.web.security import Role, require
from weir.controllers.model.errors import WeirError
from weir.metrics.runs.library import delete_run


def register(app: Dash, hub: Hub, library: Library) -> None:
    """Everything on the list of runs."""
    _register_list(app, library)
    _register_choice(app)
    _register_delete(app, library)
    history_what_if.register(app, library)
    history_tune.register(app, hub, library)


def _register_list(app: Dash, library: Library) -> None:
    @app.callback(
        Output(own.TABLE, "children"),
        Output(own.QUERY, "data"),
        Input(own.SEARCH, "value"),
        Input(own.KIND, "value"),
        Input(own.sort(ALL), "n_clicks"),  # type: ignore[arg-type]
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
                query = sorted_by(query, asked["key"])
            else:
                query = changed(query, page=query.page + (1 if asked["to"] == "after" else -1))
        else:
            query = changed(query, words=str(words or ""), kind=str(kind or "all"))
        found = listing(await asyncio.to_thread(library.runs), query, time.time())
        return runs_table(found, chosen or []), {
            f: getattr(found.query, f) for f in found.query.__struct_fields__
        }


def _register_choice(app: Dash) -> None:
    @app.callback(
        Output(own.CHOSEN, "data"),
        Output(own.COMPARE, "href"),
        Output(own.COMPARE, "className"),
        Input(own.tick(ALL), "value"),  # type: ignore[arg-type]
        State(own.tick(ALL), "id"),  # type: ignore[arg-type]
        State(own.CHOSEN, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def choose(values: list[list[str]], shown: list[dict[str, str]], before: Any) -> Any:
        ticked = [name["run"] for name, value in zip(shown, values, strict=True) if value]
        here = {name["run"] for name in shown}
        past = [run for run in before if isinstance(run, str)] if isinstance(before, list) else []
        kept = [run for run in past if run not in here or run in ticked]
        chosen = kept + [run for run in ticked if run not in kept]
        if len(chosen) != 2:
            return chosen, "/history", "button is-off"
        return chosen, compare_path(*chosen), "button button-primary"


def _register_delete(app: Dash, library: Library) -> None:
    @app.callback(
        Output(own.DELETE, "opened"),
        Output(own.DELETE_TEXT, "children"),
        Output(own.DELETE_ERROR, "children"),
        Output(own.DELETING, "data"),
        Input(own.delete(ALL), "n_clicks"),  # type: ignore[arg-type]
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def ask(_clicks: Any) -> Any:
        only_clicks()
        run = ctx.triggered_id["run"]
        text = f"{run} goes from the disk of the web server, and cannot be brought back."
        return True, text, "", run

    @app.callback(
        Output(own.DELETE, "opened", allow_duplicate=True),
        Output(own.DELETE_ERROR, "children", allow_duplicate=True),
        Output(own.IMPORTED, "data", allow_duplicate=True),
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(own.DELETE_YES, "n_clicks"),
        State(own.DELETING, "data"),
        running=[(Output(own.DELETE_YES, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def delete(_clicks: int, run: Any) -> Any:
        try:
            await asyncio.to_thread(delete_run, library.root, str(run), time.time())
        except WeirError as error:
            return no_update, str(error), no_update, no_update
        return False, "", time.time(), toast(f"{run} is deleted.")

    app.clientside_callback(
        ClientsideFunction("weir", "close"),
        Output(own.DELETE, "opened", allow_duplicate=True),
        Input(own.DELETE_NO, "n_clicks"),
        prevent_initial_call=True,
    )
