"""What the tuning page does: start, follow and stop a search, and take settings over."""

import asyncio
from typing import Any

import redis
from dash import ALL, Dash, Input, Output, State, ctx, no_update

from weir.components.live.hub import Hub
from weir.components.pages.replay.library import Library
from weir.components.pages.scale.view import title_of
from weir.components.pages.tune import ids as own
from weir.components.pages.tune.render import result
from weir.components.pages.what_if.actions import target_of
from weir.components.ui import ids
from weir.components.ui.asking import request
from weir.components.ui.clicks import AWAY, only_clicks
from weir.components.ui.dialog import toast
from weir.components.web.security import Role, require
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.engine.propose.scaling import scaler_group
from weir.controllers.model.errors import InvalidInput, NotFound, WeirError
from weir.controllers.simulator.tuning import Tuning
from weir.metrics.runs.tuning import TuneRequest, TuneStatus, Tunings


def register(app: Dash, hub: Hub, library: Library) -> None:
    """All buttons of the page."""
    tunings = Tunings(library.root)
    _register_search(app, tunings)

    @app.callback(
        Output(ids.TOAST, "children", allow_duplicate=True),
        Input(own.use(ALL), "n_clicks"),
        State(own.TUNE, "data"),
        prevent_initial_call=True,
    )
    @require(Role.ADMIN)
    async def use(_clicks: Any, run: Any) -> Any:
        only_clicks()
        try:
            number = ctx.triggered_id["number"]
            if not isinstance(number, int):
                raise InvalidInput("There are no such settings.", field="number")
            said = await asyncio.to_thread(take_over, hub.store, tunings, str(run), number)
        except WeirError as error:
            return toast(str(error), "bad")
        except (redis.exceptions.RedisError, OSError):
            return toast(AWAY, "bad")
        await hub.refresh()
        return toast(said)


def _register_search(app: Dash, tunings: Tunings) -> None:
    @app.callback(
        Output(own.TUNE_ERROR, "children"),
        Output(own.TUNE_TICK, "disabled", allow_duplicate=True),
        Input(own.TUNE_GO, "n_clicks"),
        State(own.TUNE, "data"),
        State(own.TUNE_SCALER, "value"),
        State(own.TUNE_CLUSTER, "value"),
        State(own.TUNE_TARGET, "value"),
        State(own.TUNE_TRIALS, "value"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def search(
        _clicks: Any, run: Any, scaler: Any, cluster: Any, target: Any, trials: Any
    ) -> Any:
        only_clicks()
        try:
            if not isinstance(trials, int):
                raise InvalidInput("The number of trials is a whole number.", field="trials")
            request = TuneRequest(
                run=str(run), scaler=str(scaler), cluster=str(cluster or ""), trials=trials,
                target_latency_s=target_of(target),
            )  # fmt: skip
            await asyncio.to_thread(tunings.start, request)
        except WeirError as error:
            return str(error), no_update
        return "", False

    @app.callback(
        Output(own.TUNE_ERROR, "children", allow_duplicate=True),
        Input(own.TUNE_STOP, "n_clicks"),
        State(own.TUNE, "data"),
        prevent_initial_call=True,
    )
    @require(Role.APPROVER)
    async def stop(_clicks: Any, run: Any) -> Any:
        only_clicks()
        try:
            await asyncio.to_thread(tunings.stop, str(run))
        except WeirError as error:
            return str(error)
        return ""

    @app.callback(
        Output(own.TUNE_RESULT, "children"),
        Output(own.TUNE_TICK, "disabled"),
        Input(own.TUNE_TICK, "n_intervals"),
        State(own.TUNE, "data"),
        prevent_initial_call=True,
    )
    @require(Role.VIEWER)
    async def follow(_ticks: Any, run: Any) -> Any:
        try:
            status, found = await asyncio.to_thread(newest, tunings, str(run))
        except WeirError:
            return no_update, True
        return result(status, found), status is None or status.state != "running"


def newest(tunings: Tunings, run: str) -> tuple[TuneStatus | None, Tuning | None]:
    """The newest search on a run, and its result once there is one."""
    status = tunings.status(run)
    if status is None or status.state != "done":
        return status, None
    try:
        return status, tunings.result(run)
    except NotFound:
        return status, None


def take_over(store: Store, tunings: Tunings, run: str, number: int) -> str:
    """Use the settings of a point of the front, through validation and audit."""
    status = tunings.status(run)
    found = tunings.result(run)
    if status is None or not 0 <= number < len(found.front):
        raise NotFound("There are no such settings any more.")
    point = found.front[number]
    group = scaler_group(status.cluster, point.scaler)
    reset: dict[str, Any] = dict.fromkeys(store.settings(group))
    ask = request(f"tuned on {run}, {point.label}")
    service.set_settings(store, ask, group, {**reset, **point.settings})
    return (
        f"{title_of(point.scaler)} on {status.cluster} uses these settings from now on; "
        "which scaler the engine follows there is chosen on the Scale page."
    )
