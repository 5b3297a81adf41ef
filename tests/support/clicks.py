"""Clicks as a browser sends them, without a browser."""

from typing import Any

import httpx

from tests.support.inside import Inside
from weir.components.ui import ids
from weir.components.web.security.limits import CALLBACK_PATH
from weir.metrics.store.users import Role


def click(
    inside: Inside,
    asker: str,
    about: Any,
    comment: str = "",
    role: Role = Role.ADMIN,
    **fields: Any,
) -> httpx.Response:
    """Confirm what the dialog asked, with these values in it; what the server answers."""
    output = next(
        o for o, k in inside.callbacks.items()
        if [i["id"] for i in k["inputs"]] == [ids.DIALOG_CONFIRM]
    )  # fmt: skip
    body = inside.callback(output, 1)
    values = {
        ids.DIALOG_PENDING: {"asker": asker, "about": about},
        ids.DIALOG_COMMENT: comment,
        ids.URL: "",
    }
    state: list[Any] = []
    for one in body["state"]:
        if isinstance(one, dict):
            state.append({**one, "value": values[one["id"]]})
            continue
        kind, prop = one[0]["id"]["type"], one[0]["property"]
        names = [ids.field(key, "x") for key in fields] if kind == "field" else []
        shown = names if prop == "id" else list(fields.values())
        state.append(
            [{"id": n, "property": prop, "value": v} for n, v in zip(names, shown, strict=False)]
        )
    body["state"] = state
    body["outputs"] = [
        one if isinstance(one, dict) else [{**one[0], "id": ids.field(key, "x")} for key in fields]
        for one in body["outputs"]
    ]
    headers, _ = inside.session(role)
    return inside.ask("POST", CALLBACK_PATH, headers=headers, json=body)
