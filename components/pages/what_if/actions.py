"""What the what-if page does: ask the simulator, in a process of its own."""

from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, no_update

from weir.components.pages.replay.library import Library
from weir.components.pages.scale.settings import read
from weir.components.pages.what_if import child as history_child
from weir.components.pages.what_if import ids as own
from weir.components.pages.what_if.child import Policy
from weir.components.pages.what_if.choices import Choices, choices_in, query_of
from weir.components.pages.what_if.render import own_form, render_refusal, result
from weir.components.pages.what_if.render_form import form_of
from weir.components.ui import ids
from weir.components.web.security import Role, require
from weir.controllers.model.errors import Busy, InvalidInput, WeirError
from weir.controllers.scaling.registry import scaler_type

SIMULATE_S = 240.0
POLICIES_MOST = 6


def register(app: Dash, library: Library) -> None:
    """The form, and the button."""

    @app.callback(
        Output(own.WI_FORM, "children"), Input(own.WI_SCALER, "value"), prevent_initial_call=True
    )
    @require(Role.VIEWER)
    async def form(scaler: Any) -> Any:
        return own_form(str(scaler or ""))

    @app.callback(
        Output(own.WI_RESULT, "children"),
        Output(own.WI_ADDRESS, "data"),
        Input(own.WHAT_IF, "data"),
        Input(own.WI_GO, "n_clicks"),
        State(own.WI_CLUSTER, "value"),
        State(own.WI_TARGET, "value"),
        State(own.WI_POLICIES, "value"),
        State(own.WI_SCALER, "value"),
        State(own.field(ALL, ALL), "value"),
        State(own.field(ALL, ALL), "id"),
        State(own.switch(ALL, ALL), "checked"),
        State(own.switch(ALL, ALL), "id"),
        State(ids.URL, "search"),
        running=[
            (Output(own.WI_GO, "disabled"), True, False),
            (Output(own.WI_GO, "children"), "Simulating …", "Simulate"),
        ],
    )
    @require(Role.VIEWER)
    async def ask(
        run: Any, _clicks: Any, cluster: Any, target: Any, chosen: Any, scaler: Any,
        values: Any, names: Any, checked: Any, switches: Any, search: str | None,
    ) -> Any:  # fmt: skip
        if not run:
            return no_update, no_update
        address: Any = no_update
        try:
            target_s = target_of(target)
            policies: list[Policy] = []
            # A page that is opened shows what its address asks for, and else only what was done.
            if ctx.triggered_id == own.WI_GO or choices_in(search).policies is not None:
                given = given_values(scaler, values, names) | given_values(
                    scaler, checked, switches
                )
                policies = policies_of(chosen, scaler, given)
                address = query_of(
                    Choices(
                        cluster=str(cluster or ""),
                        target_latency_s=target_s,
                        policies=tuple(str(name) for name in chosen or []),
                        scaler=str(scaler or ""),
                        settings=policies[-1].settings if scaler else {},
                    )
                )
            answer = await library.simulating(
                library.ask, library.simulator, SIMULATE_S, history_child.what_if_of,
                str(run), str(cluster) or None, target_s, tuple(policies),
            )  # fmt: skip
        except Busy:
            raise
        except WeirError as error:
            return render_refusal(str(error)), no_update
        return result(answer), address

    app.clientside_callback(
        ClientsideFunction("weir", "address"),
        Output(own.WI_KEPT, "data"),
        Input(own.WI_ADDRESS, "data"),
        prevent_initial_call=True,
    )


def policies_of(chosen: Any, scaler: Any, given: dict[str, Any]) -> list[Policy]:
    """The policies that a person asked about; wrong settings are said with their field."""
    names = [str(name) for name in chosen or []][:POLICIES_MOST]
    found = [Policy(label=scaler_type(name).title, scaler=name) for name in names]
    if scaler:
        values = read(form_of(str(scaler)), given)
        settings = {key: value for key, value in values.items() if value is not None}
        label = f"{scaler_type(str(scaler)).title}, own settings"
        found.append(Policy(label=label, scaler=str(scaler), settings=settings))
    return found


def given_values(scaler: Any, values: Any, names: Any) -> dict[str, Any]:
    """Values by their keys, of the scaler that is chosen now."""
    return {
        name["key"]: value
        for value, name in zip(values or [], names or [], strict=True)
        if name["of"] == scaler
    }


def target_of(target: Any) -> float:
    """The target as a number of seconds."""
    if not isinstance(target, int | float) or not 0 < target < 86_400:
        raise InvalidInput("The target latency is a number of seconds above 0.", field="target")
    return float(target)
