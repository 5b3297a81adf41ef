"""What the Lab does: run, stop and follow an experiment."""

import asyncio
from typing import Any

import redis
from dash import Dash, Input, Output, State, ctx, no_update

from weir.components.live.hub import Hub
from weir.components.pages.lab import ids as own
from weir.components.pages.lab.render import result_parts
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.model.errors import WeirError
from weir.metrics.lab.catalogue import experiment
from weir.metrics.lab.lab import Lab


def register(app: Dash, hub: Hub, lab: Lab) -> None:
    """All buttons of the page."""

    @app.callback(
        Output(own.ERROR, "children"),
        Output(own.TICK, "disabled", allow_duplicate=True),
        Input(own.QUICK, "n_clicks"),
        Input(own.FULL, "n_clicks"),
        State(own.LAB, "data"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def run(_quick: Any, _full: Any, name: Any) -> Any:
        only_clicks()
        quick = ctx.triggered_id == own.QUICK
        try:
            await asyncio.to_thread(
                service.run_experiment, hub.store, request(), lab, str(name), quick
            )
        except WeirError as error:
            return str(error), no_update
        except (redis.exceptions.RedisError, OSError):
            return AWAY, no_update
        return "", False

    @app.callback(
        Output(own.ERROR, "children", allow_duplicate=True),
        Input(own.STOP, "n_clicks"),
        State(own.LAB, "data"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def stop(_clicks: Any, name: Any) -> Any:
        only_clicks()
        try:
            await asyncio.to_thread(service.stop_experiment, hub.store, request(), lab, str(name))
        except WeirError as error:
            return str(error)
        except (redis.exceptions.RedisError, OSError):
            return AWAY
        return ""

    @app.callback(
        Output(own.RESULT, "children"),
        Output(own.TICK, "disabled"),
        Input(own.TICK, "n_intervals"),
        State(own.LAB, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def follow(_ticks: Any, name: Any) -> Any:
        try:
            described = experiment(str(name))
        except WeirError:
            return no_update, True
        status, result = await asyncio.to_thread(
            lambda: (lab.status(described.name), lab.result(described.name))
        )
        over = (status is None or status.state != "running") and not lab.running()
        return result_parts(described, status, result), over
