"""Who may do what, as one table: every route, callback, socket, dialog and verb, tried by everybody.

The table is written down here and compared with the application, so that a new door, or another
role at an old one, is a change of this file. Then everybody knocks at every door: nobody, people
of each role, programs with tokens of each role, and an agent with the key of its cluster.
"""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from starlette.routing import WebSocketRoute

from tests.support.clicks import click
from tests.support.inside import ORIGIN, SOCKET_PATH, Inside, post, routes
from weir.components.web.security import Role, declared_role
from weir.components.web.security.middleware import ENDED, OPEN
from weir.controllers import service
from weir.controllers.model.errors import InvalidInput
from weir.metrics.store.keyring import Keyring

ALL, VIEWER, APPROVER, ADMIN = None, Role.VIEWER, Role.APPROVER, Role.ADMIN

ROUTES: dict[Role | None, str] = {
    ALL: """
        GET /sign-in | POST /sign-in | POST /sign-in/link | GET /health
    """,
    VIEWER: """
        GET / | GET /session | POST /sign-out | GET /password | POST /password
        GET /api/v1 | GET /openapi.json | GET /api/v1/snapshot | GET /api/v1/deaths
        GET /api/v1/clusters | GET /api/v1/clusters/{cluster}
        GET /api/v1/clusters/{cluster}/samples | GET /api/v1/clusters/{cluster}/qtable
        GET /api/v1/operators | GET /api/v1/operators/{operator}
        GET /api/v1/operators/{operator}/ring | GET /api/v1/workloads
        GET /api/v1/commands | GET /api/v1/commands/{id}
        GET /api/v1/recommendations | GET /api/v1/recommendations/{id}
        GET /api/v1/modes | GET /api/v1/pause | GET /api/v1/settings | GET /api/v1/settings/{group}
        GET /api/v1/clusters/{cluster}/shares
        GET /api/v1/audit | GET /audit/export.csv | GET /audit/export.jsonl
        GET /api/replay/{run}/timeline | GET /api/replay/{run}/moment
        GET /api/replay/{run}/advice | GET /api/import/status
        DELETE /api/{rest:path} | GET /api/{rest:path} | PATCH /api/{rest:path}
        POST /api/{rest:path} | PUT /api/{rest:path}
        GET /vendor/plotly.min.js | GET /vendor/cytoscape.min.js
        GET /_dash-component-suites/{package_name}/{fingerprinted_path:path}
        GET /_dash-layout | GET /_dash-dependencies | POST /_dash-update-component
        GET /_reload-hash | GET /_favicon.ico
    """,
    APPROVER: """
        POST /api/v1/clusters/{cluster}/scale | POST /api/v1/operators/{operator}/move
        POST /api/v1/operators/{operator}/reslice | POST /api/v1/operators/{operator}/{verb}
        POST /api/v1/recommendations/{id}/approve | POST /api/v1/recommendations/{id}/reject
        POST /api/v1/recommendations/{id}/cancel | POST /api/v1/recommendations/{id}/rollback
        PATCH /api/v1/workloads/{workload} | PUT /api/v1/pause
        PUT /api/v1/clusters/{cluster}/shares
        POST /api/import/begin | POST /api/import/part | POST /api/import/done
    """,
    ADMIN: """
        PUT /api/v1/modes/{cluster} | PATCH /api/v1/settings/{group}
        PUT /api/v1/clusters/{cluster}/qtable | DELETE /api/v1/clusters/{cluster}/qtable
        POST /api/v1/clusters/{cluster}/add | POST /api/v1/clusters/{cluster}/end
        DELETE /api/v1/clusters/{cluster}
    """,
}

CALLBACKS: dict[Role, str] = {
    VIEWER: """
        web.router navigate | live.feed push | live.feed poll
        balance.actions of_plan | balance.actions of_choice | balance.actions of_map
        balance.actions predict | balance.actions explain
        balance.ring_actions half | balance.ring_actions by_hand
        scale.actions predict | scale.actions open_ | scale.qtable_actions export
        history.actions show | history.actions choose
        audit.actions fill | audit.actions look | audit.actions check
        settings.actions load | settings.actions search | settings.actions default
        cluster.actions explain | recommendation.actions explain
        what_if.actions form | what_if.actions ask | tune.actions follow
        lab.actions follow
        ui.dialog confirm | ui.dialog other
    """,
    APPROVER: """
        control_room.actions steer | control_room.actions shape | scale.actions apply | cluster.actions ask
        recommendation.actions decide | recommendation.actions pause
        tune.actions search | tune.actions stop
        lab.actions run | lab.actions stop
    """,
    ADMIN: """
        balance.actions follow | scale.actions follow | scale.qtable_actions bring
        scale.qtable_actions ask | history.actions ask | settings.actions save
        recommendation.actions mode | users.actions tables | users.actions add
        users.actions role | users.actions ask | tune.actions use
    """,
}

DIALOGS: dict[str, Role] = {
    "plan": APPROVER, "reslice": APPROVER, "command": APPROVER, "decision": APPROVER,
    "scaler settings": ADMIN, "table reset": ADMIN, "run": ADMIN, "users": ADMIN,
}  # fmt: skip
"""What is confirmed in a dialog; one callback serves them all, so each is checked by itself."""

VERBS: dict[str, str] = {
    "scale": "POST /api/v1/clusters/{cluster}/scale | scale.actions apply | dialog command",
    "move": "POST /api/v1/operators/{operator}/move | dialog command",
    "rebalance": "dialog plan",
    "reslice": "POST /api/v1/operators/{operator}/reslice | dialog reslice",
    "approve": "POST /api/v1/recommendations/{id}/approve | dialog decision",
    "reject": "POST /api/v1/recommendations/{id}/reject | dialog decision",
    "cancel": "POST /api/v1/recommendations/{id}/cancel | dialog decision",
    "rollback": "POST /api/v1/recommendations/{id}/rollback | dialog decision",
    "tell_operator": "POST /api/v1/operators/{operator}/{verb} | dialog command",
    "set_rate": "PATCH /api/v1/workloads/{workload} | control_room.actions steer",
    "pause_all": "PUT /api/v1/pause | recommendation.actions pause",
    "resume_all": "PUT /api/v1/pause | recommendation.actions pause",
    "set_mode": "PUT /api/v1/modes/{cluster} | recommendation.actions mode",
    "set_settings": "PATCH /api/v1/settings/{group} | settings.actions save | tune.actions use | "
    "dialog scaler settings",
    "set_shares": "PUT /api/v1/clusters/{cluster}/shares | dialog command",
    "import_qtable": "PUT /api/v1/clusters/{cluster}/qtable | scale.qtable_actions bring",
    "reset_qtable": "DELETE /api/v1/clusters/{cluster}/qtable | dialog table reset",
    "add_cluster": "POST /api/v1/clusters/{cluster}/add",
    "end_cluster": "POST /api/v1/clusters/{cluster}/end",
    "run_experiment": "lab.actions run",
    "stop_experiment": "lab.actions stop",
    "forget_cluster": "DELETE /api/v1/clusters/{cluster}",
}
"""The doors of each verb of the service; all of one verb ask for the same role."""

Headers = Callable[[Inside], dict[str, str]]


def _session(role: Role) -> Headers:
    return lambda inside: inside.session(role)[0]


def _bearer(role: Role) -> Headers:
    return lambda inside: {**inside.bearer(role), "origin": ORIGIN}


WHO: dict[str, tuple[Role | None, Headers]] = {
    "nobody": (None, lambda _: {"origin": ORIGIN}),
    "an agent's key": (None, lambda _: {"origin": ORIGIN, "authorization": _agent_key()}),
    "a session's cookie on another site": (
        None, lambda i: {"origin": ORIGIN, "cookie": "weir-0000=" + i.session()[1]},
    ),
    **{f"{r} by session": (r, _session(r)) for r in Role},
    **{f"{r} by token": (r, _bearer(r)) for r in Role},
}  # fmt: skip


def _listed(text: str) -> list[str]:
    return [
        " ".join(part.split())
        for line in text.splitlines()
        for part in line.split("|")
        if part.strip()
    ]


def _by_door(table: dict[Any, str]) -> dict[str, Role | None]:
    return {door: role for role, text in table.items() for door in _listed(text)}


def _agent_key() -> str:
    return f"Bearer {Keyring({'WEIR_KEY': '0' * 64}).agent_line('wide').rpartition(' ')[2]}"


def _callback_name(known: dict[str, Any]) -> str:
    function = known["callback"]
    where = ".".join(function.__module__.removesuffix(".__init__").split(".")[-2:])
    return f"{where} {function.__qualname__.rpartition('.')[2]}"


# -- the table is the application's


def test_every_route_stands_in_the_table_with_its_role(inside: Inside) -> None:
    table = _by_door(ROUTES)
    found = {f"{m} {route.path}": route for m, _path, route in routes(inside)}
    assert sorted(found) == sorted(table)
    open_ = {door for door, role in table.items() if role is None}
    assert open_ == {f"{m} {p}" for m, p in OPEN if not p.startswith("/assets/")}
    for door, route in found.items():
        declared = declared_role(route.endpoint)
        # What Dash hands out is the same for everybody who has signed in: it declares nothing.
        assert declared == table[door] or (declared is None and table[door] is VIEWER), door


def test_every_callback_stands_in_the_table_with_its_role(inside: Inside) -> None:
    found = {_callback_name(k): declared_role(k["callback"]) for k in inside.callbacks.values()}
    assert found == _by_door(CALLBACKS)
    assert len(found) == len(inside.callbacks)


def test_the_feeds_socket_is_the_only_one(inside: Inside) -> None:
    sockets = [r.path for r in inside.server.routes if isinstance(r, WebSocketRoute)]
    assert sockets == [SOCKET_PATH]


def test_every_verb_has_its_doors_and_they_ask_for_one_role() -> None:
    verbs = {
        name for name in service.__all__
        if inspect.isfunction(verb := getattr(service, name))
        and "request" in inspect.signature(verb).parameters
    } - {"predict_reslice"}  # fmt: skip
    assert verbs == set(VERBS)
    doors = {
        **_by_door(ROUTES), **_by_door(CALLBACKS), **{f"dialog {d}": r for d, r in DIALOGS.items()}
    }  # fmt: skip
    for verb, text in VERBS.items():
        roles = {doors[door] for door in _listed(text)}
        assert len(roles) == 1, (verb, roles)
        assert roles <= {APPROVER, ADMIN}, verb


# -- everybody knocks at every door


def _expected(needed: Role | None, role: Role | None) -> int | None:
    """The status of a refusal; None: let in."""
    if needed is None:
        return None
    if role is None:
        return 401
    return None if role.may(needed) else 403


def _wrong(status: int, expected: int | None) -> bool:
    if expected is None:  # let in: whatever it then says of what was sent
        return status in (401, 403) or (status >= 500 and status != 503)  # 503: nobody launches
    return status != expected


@pytest.mark.parametrize("who", WHO)
def test_routes(inside: Inside, who: str) -> None:
    table, (role, headers) = _by_door(ROUTES), WHO[who]
    before, wrong = inside.everything(), []
    for method, path, route in routes(inside):
        door = f"{method} {route.path}"
        expected = _expected(table[door], role)
        if door in ("POST /sign-in", "POST /sign-in/link"):
            continue  # they answer 401 to everybody who has no password: see test_security_sign_in
        if method == "DELETE":
            path = path.replace("wide", "nowhere")  # who may would do it
        answer = inside.ask(method, path, headers=headers(inside))
        if _wrong(answer.status_code, expected):
            wrong.append((door, answer.status_code, expected))
        if expected is not None and inside.everything() != before:
            wrong.append((door, "has changed something", expected))
    assert wrong == []


@pytest.mark.parametrize("who", WHO)
def test_callbacks(inside: Inside, who: str) -> None:
    table, (role, headers) = _by_door(CALLBACKS), WHO[who]
    before, wrong, shown = inside.everything(), [], headers(inside)
    for output, known in inside.callbacks.items():
        name = _callback_name(known)
        expected = _expected(table[name], role)
        if name == "live.feed push":
            continue  # by socket: see below
        answer = post(inside, output, shown)
        if _wrong(answer.status_code, expected):
            wrong.append((name, answer.status_code, expected))
    assert wrong == []
    assert inside.everything() == before


@pytest.mark.parametrize("who", WHO)
def test_the_socket(inside: Inside, who: str) -> None:
    role, headers = WHO[who]
    sent = inside.socket(headers(inside), '{"type": "heartbeat"}')
    if role is None:
        assert [(m["type"], m["code"]) for m in sent] == [("websocket.close", ENDED)]
    else:
        assert "heartbeat_ack" in sent[1]["text"]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("asker", DIALOGS)
def test_dialogs(inside: Inside, asker: str, role: Role) -> None:
    before = inside.everything()
    said = click(inside, asker, {"verb": "nothing"}, role=role).text
    assert ("needs the role" in said) == (not role.may(DIALOGS[asker])), said
    assert inside.everything() == before


def test_an_agents_key_speaks_for_its_cluster_alone() -> None:
    master = Keyring({"WEIR_KEY": "0" * 64})
    agent = Keyring({"WEIR_KEY": master.agent_line("wide")})
    told = master.signature("wide", b"command")
    assert agent.why_not("wide", b"command", told) == ""
    assert agent.why_not("wide", b"another", told)
    assert agent.why_not("narrow", b"command", master.signature("narrow", b"command"))
    for power in (agent.audit_key, lambda: agent.signature("narrow", b"command"),
                  lambda: agent.agent_line("narrow")):  # fmt: skip
        with pytest.raises(InvalidInput):
            power()
