"""The HTTP API: what it answers and does, and that nothing sent to it breaks the server."""

import time

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from schemathesis import GenerationMode

from tests.support.examples import examples
from tests.support.inside import ORIGIN, Inside
from weir.components.web.security import Role
from weir.components.web.security.tokens import new_token
from weir.controllers.engine.ports import Workload
from weir.controllers.model.command import StopOperator
from weir.controllers.model.profile import Profile
from weir.controllers.model.sample import Mode

RAMP = Profile(kind="ramp", to_rows_per_s=900, over_s=60)
FUZZED = examples(25)
"""Requests per operation."""


@pytest.fixture
def api(inside):
    def ask(method, path, body=None, role=Role.ADMIN):
        return inside.ask(method, f"/api/v1{path}", headers=inside.bearer(role), json=body)

    return ask


def test_looking(api):
    assert {c["name"] for c in api("GET", "/clusters").json()} == {"wide", "narrow"}
    assert api("GET", "/clusters/wide").json()["executors"] == 3
    assert api("GET", "/operators/top_n").json()["cluster"] == "narrow"
    assert len(api("GET", "/clusters/wide/samples").json()) > 5
    assert api("GET", "/workloads", role=Role.VIEWER).status_code == 200
    assert api("GET", "/modes").json() == {"narrow": "approve", "wide": "approve"}
    missing = api("GET", "/clusters/nowhere")
    assert (missing.status_code, missing.json()) == (
        404, {"error": "There is no cluster 'nowhere'."},
    )  # fmt: skip
    assert api("GET", "/nothing").status_code == 404


def test_scaling_is_a_recommendation_and_the_same_id_twice_is_one(api, inside):
    body = {"executors": 4, "comment": "more room", "id": "scale-once-1"}
    first = api("POST", "/clusters/wide/scale", body, Role.APPROVER)
    assert first.status_code == 202
    found = first.json()["recommendation"]
    assert found["status"] == "approved"
    assert found["by"] == "token/approver"
    assert found["comment"] == "more room"
    again = api("POST", "/clusters/wide/scale", body, Role.APPROVER)
    assert again.json()["recommendation"]["id"] == found["id"]
    listed = api("GET", "/recommendations?cluster=wide").json()
    assert [r["recommendation"]["id"] for r in listed] == [found["id"]]
    assert inside.store.audit(1)[0].address == "10.1.1.1"
    outside = api("POST", "/clusters/wide/scale", {"executors": 400})
    assert outside.status_code == 400
    assert outside.json()["error"] == "400 executors are outside the limits 1 to 6."


def test_an_id_is_its_callers_own_and_stands_for_one_plan(api, inside):
    body = {"executors": 5, "id": "mine-0001"}
    mine = api("POST", "/clusters/wide/scale", body, Role.APPROVER).json()["recommendation"]
    other = api("POST", "/clusters/wide/scale", {**body, "executors": 4}, Role.APPROVER)
    assert other.status_code == 409
    assert other.json()["error"] == "Something else was asked for under this id. Ask anew."
    theirs = api("POST", "/clusters/wide/scale", {"executors": 4, "id": mine["id"]}).json()
    assert theirs["recommendation"]["id"] not in (mine["id"], body["id"])
    undo = api("POST", "/clusters/wide/scale", {"executors": 4, "id": f"{mine['id']}-undo"}).json()
    assert inside.store.recommendation(f"{mine['id']}-undo") is None
    for made in (mine, theirs["recommendation"], undo["recommendation"]):
        assert api("POST", f"/recommendations/{made['id']}/cancel", {}).status_code == 200


def test_a_move_that_is_asked_for_again_is_the_same_though_it_is_done(api, inside):
    body = {"cluster": "wide", "id": "move-once-1"}
    first = api("POST", "/operators/top_n/move", body).json()["recommendation"]
    placed = inside.store.placements()["top_n"]
    inside.store.place(replace(placed, cluster="wide"))
    try:
        again = api("POST", "/operators/top_n/move", body)
        assert again.json()["recommendation"]["id"] == first["id"]
        assert api("POST", "/operators/top_n/move", {"cluster": "wide"}).status_code == 400
    finally:
        inside.store.place(placed)
        api("POST", f"/recommendations/{first['id']}/cancel", {})


def test_a_move_can_be_taken_back_but_not_twice(api):
    made = api("POST", "/operators/top_n/move", {"cluster": "wide"}).json()
    id = made["recommendation"]["id"]
    assert made["kind"] == "rebalance"
    wrong = api("POST", f"/recommendations/{id}/approve", {"plan_hash": made["plan_hash"]})
    assert wrong.status_code == 409
    assert wrong.json()["error"] == "It was approved already by token/admin."
    taken = api("POST", f"/recommendations/{id}/cancel", {"comment": "changed my mind"})
    assert taken.json()["recommendation"]["status"] == "cancelled"
    again = api("POST", f"/recommendations/{id}/cancel", {})
    assert again.status_code == 409
    assert api("POST", f"/recommendations/{id}/rollback", {}).status_code == 409
    assert api("POST", "/recommendations/none/reject", {}).status_code == 404


def test_four_eyes_hold_for_tokens_too(api):
    api("PATCH", "/settings/engine", {"values": {"four_eyes": True}})
    try:
        body = {"executors": 2}
        asked = api("POST", "/clusters/narrow/scale", body, Role.APPROVER).json()
        assert asked["recommendation"]["status"] == "proposed"
        path = f"/recommendations/{asked['recommendation']['id']}/approve"
        body = {"plan_hash": asked["plan_hash"]}
        own = api("POST", path, body, Role.APPROVER)
        assert own.status_code == 409
        assert own.json()["error"] == "Somebody else has to approve what you asked for yourself."
        stale = api("POST", path, {"plan_hash": "0" * 16})
        assert stale.status_code == 409
        assert api("POST", path, body).json()["recommendation"]["status"] == "approved"
    finally:
        api("PATCH", "/settings/engine", {"values": {"four_eyes": None}})


def test_operators_are_told_by_command(api, inside):
    answer = api("POST", "/operators/top_n/stop", role=Role.APPROVER)
    assert answer.status_code == 202
    command = answer.json()["command"]
    assert inside.store.open_commands("narrow")[-1].action == StopOperator(operator="top_n")
    assert command["by"] == "token/approver"
    assert api("GET", f"/commands/{command['id']}").json()["result"]["status"] == "pending"
    assert api("GET", "/commands").json()[0]["command"]["id"] == command["id"]
    assert api("POST", "/operators/nobody/stop").status_code == 404
    assert api("POST", "/operators/top_n/explode").status_code == 422


def test_operators_and_rates_follow_the_rules_for_people(api, inside):
    inside.store.set_workload(Workload(name="tweets", rows_per_s=100))
    api("PATCH", "/settings/engine", {"values": {"comment_required": True, "four_eyes": True}})
    try:
        alone = api("POST", "/operators/top_n/stop", {"comment": "too loud"})
        assert alone.status_code == 409
        assert alone.json()["error"].startswith("With four eyes on nobody can stop an operator")
        api("PATCH", "/settings/engine", {"values": {"four_eyes": None}, "comment": "alone here"})
        before = len(inside.store.open_commands("narrow"))
        for body in (None, {}, {"comment": " "}):
            assert api("POST", "/operators/top_n/stop", body).status_code == 400
        assert api("PATCH", "/workloads/tweets", {"paused": True}).status_code == 400
        assert len(inside.store.open_commands("narrow")) == before
        assert not inside.store.workloads()[0].paused
        why = {"comment": "too loud"}
        assert api("POST", "/operators/top_n/stop", why).status_code == 202
        assert api("PATCH", "/workloads/tweets", {"paused": True, **why}).status_code == 200
        told = [(e.action, e.why, e.address) for e in inside.store.audit(2)]
        assert told == [
            ("workload.changed", "too loud", "10.1.1.1"), ("operator.stop", "too loud", "10.1.1.1"),
        ]  # fmt: skip
    finally:
        values = {"comment_required": None, "four_eyes": None}
        api("PATCH", "/settings/engine", {"values": values})


def test_rates_modes_pause_and_settings(api, inside):
    inside.store.set_workload(Workload(name="tweets", rows_per_s=100, profile=RAMP))
    changed = api("PATCH", "/workloads/tweets", {"rows_per_s": 250}).json()
    assert (changed["rows_per_s"], changed["profile"]["kind"]) == (250, "constant")
    assert api("PATCH", "/workloads/tweets", {"paused": True}).json()["paused"] is True
    assert api("PATCH", "/workloads/tweets", {"rows_per_s": -1}).status_code == 422
    lines = "".join(f"{60 * i},{i % 7}\n" for i in range(3000))
    trace = {"kind": "trace", "trace": f"time,rate\n{lines}", "speed_up": 60}
    changed = api("PATCH", "/workloads/tweets", {"profile": trace, "skew": 1.5}).json()
    assert (changed["skew"], changed["paused"], len(changed["profile"]["points"])) == (
        1.5, False, 1000,
    )  # fmt: skip
    assert api("PATCH", "/workloads/tweets", {"profile": {"kind": "magic"}}).status_code == 422
    assert api("PUT", "/modes/wide", {"mode": "auto"}).json() == {"wide": "auto"}
    assert inside.store.modes()["wide"] is Mode.AUTO
    assert api("PUT", "/modes/wide", {"mode": "auto"}, Role.APPROVER).status_code == 403
    assert api("PUT", "/pause", {"paused": True, "comment": "stop"}).json()["why"] == "stop"
    assert api("PUT", "/pause", {"paused": False}, Role.APPROVER).json()["paused"] is False
    wrong = api("PATCH", "/settings/engine", {"values": {"ttl_s": 1}})
    assert wrong.status_code == 400
    url = "https://hook.example/key"
    set_ = api("PATCH", "/settings/engine", {"values": {"webhook_url": url}}).json()
    assert set_["values"]["webhook_url"] == "set"  # it may hold a key
    assert api("PATCH", "/settings/nothing", {"values": {}}).status_code == 404
    actions = {e["action"] for e in api("GET", "/audit").json()}
    assert actions >= {"mode.changed", "engine.paused", "settings.changed", "workload.changed"}


def test_the_description_and_its_page(api, inside):
    document = inside.ask("GET", "/openapi.json", headers=inside.bearer(Role.VIEWER)).json()
    assert document["paths"]["/api/v1/modes/{cluster}"]["put"]["x-role"] == "admin"
    assert {"Recommendation", "Cluster", "ApiProblem"} <= set(document["components"]["schemas"])
    page = api("GET", "").text
    for path in document["paths"]:
        assert path in page
    assert "<script>" not in page
    assert "http:" not in page


def test_expired_and_revoked_tokens_open_nothing(inside):
    text, kept = new_token("old", Role.VIEWER, time.time() - 100, days=50 / 86400)
    inside.users.add_token(kept)
    headers = {"authorization": f"Bearer {text}"}
    assert inside.ask("GET", "/api/v1/snapshot", headers=headers).status_code == 401
    text, kept = new_token("new", Role.VIEWER, time.time())
    inside.users.add_token(kept)
    headers = {"authorization": f"Bearer {text}"}
    assert inside.ask("GET", "/api/v1/snapshot", headers=headers).status_code == 200
    inside.users.revoke_token(kept.id)
    assert inside.ask("GET", "/api/v1/snapshot", headers=headers).status_code == 401


def test_no_request_that_the_description_allows_or_forbids_breaks_the_server(inside):
    """Schemathesis makes requests from the description, valid and not; none may end in 5xx."""
    described = inside.ask("GET", "/openapi.json", headers=inside.bearer()).json()
    schema = schemathesis.openapi.from_dict(described)
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/health":  # 503 is its business
            continue
        tried += 1
        _fuzz(inside, operation)
    assert tried > 25


def _fuzz(inside: Inside, operation) -> None:
    """Requests as the description wants them, and as it does not."""
    right, wrong = GenerationMode.POSITIVE, GenerationMode.NEGATIVE

    @given(
        operation.as_strategy(generation_mode=right) | operation.as_strategy(generation_mode=wrong)
    )
    @settings(
        max_examples=FUZZED, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def send(case) -> None:
        sent = case.as_transport_kwargs(base_url=ORIGIN)
        headers = {**dict(sent.get("headers") or {}), **inside.bearer()}
        more = {k: sent[k] for k in ("params", "json") if sent.get(k) is not None}
        if sent.get("data") is not None:
            more["content"] = sent["data"] if isinstance(sent["data"], bytes) else str(sent["data"])
        try:
            answer = inside.ask(sent["method"], sent["url"], headers=headers, **more)
        except (httpx.InvalidURL, UnicodeEncodeError, ValueError, TypeError):
            return  # nothing that could be sent by HTTP
        # No launcher runs here, and to say so is what 503 is for.
        said_so = answer.status_code == 503 and "no launcher is at work" in answer.text
        assert answer.status_code < 500 or said_so, (sent, answer.text)
        if answer.status_code >= 400:
            assert set(answer.json()) == {"error"}, answer.text

    send()
