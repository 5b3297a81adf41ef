"""What dialogs send back: the reason where one is required, one plan per click, the plan shown."""

import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from tests.support.clicks import click
from tests.support.inside import Inside, _flat
from tests.support.proposals import advance, propose
from tests.support.waiting import wait_until
from weir.components.ui import ids
from weir.components.web.security.limits import CALLBACK_PATH
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Workload
from weir.controllers.engine.propose.make import undoing_decision
from weir.controllers.engine.recommendation import Status, hash_of
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.store.users import Role


@pytest.fixture
def comments(inside: Inside) -> Iterator[None]:
    """A comment is required."""
    inside.store.save_settings(ENGINE, {"comment_required": True})
    yield
    inside.store.save_settings(ENGINE, {})


@pytest.fixture(autouse=True)
def fresh(inside: Inside) -> None:
    """The clusters have reported just now, and the pages know it."""
    now = time.time()
    for sample in inside.store.latest():
        inside.store.append(replace(sample, at=now))

    def known() -> bool:
        health = inside.ask("GET", "/health", headers=inside.bearer())
        clusters = health.json()["clusters"]
        return all(found["data_age_s"] < 2 for found in clusters.values())

    wait_until(known, 10, "the pages know it")


def told(answer: httpx.Response) -> str:
    """What the dialog says of it."""
    assert answer.status_code == 200, answer.text
    return answer.text


def scaling(**more: str) -> dict[str, str]:
    return {"id": uuid.uuid4().hex, "verb": "scale", "cluster": "wide", "operator": "", **more}


def asked(inside: Inside, pending: Any, comment: str = "", executors: int = 4) -> str:
    return told(click(inside, "command", pending, comment, executors=executors))


@pytest.mark.usefixtures("comments")
def test_the_dialog_takes_the_comment_that_is_required(inside: Inside) -> None:
    stop = scaling(verb="stop", cluster="narrow", operator="top_n")
    for pending in (scaling(), stop):
        assert "Say why" in asked(inside, pending)
        before = len(inside.store.audit(500))
        assert "Say why" not in asked(inside, pending, "too loud")
        newest = inside.store.audit(500)
        assert len(newest) > before
        assert newest[0].why == "too loud"


@pytest.mark.usefixtures("comments")
def test_a_rate_takes_it_too(inside: Inside) -> None:
    inside.store.set_workload(Workload(name="x", rows_per_s=100))
    output = next(
        o
        for o, k in inside.callbacks.items()
        if any("workload-set" in i["id"] for i in k["inputs"])
    )
    for why, told in (("", "Say why"), ("too loud", "now sends")):
        body = inside.callback(output, 1)
        for one in _flat(body["state"]):
            if one["property"] == "value":
                one["value"] = 250 if one["id"]["type"] == "workload-rate" else why
        headers, _ = inside.session()
        assert told in inside.ask("POST", CALLBACK_PATH, headers=headers, json=body).text
    assert inside.store.audit(1)[0].why == "too loud"


def test_a_click_is_one_action_and_its_id_is_nobody_elses(inside: Inside) -> None:
    pending = scaling()
    asked(inside, pending)
    made = inside.store.recommendations()[0]
    assert made.id != pending["id"]
    asked(inside, pending)
    assert inside.store.recommendations()[0] == made
    assert "Something else was asked for" in asked(inside, pending, executors=5)
    stop = scaling(verb="stop", cluster="narrow", operator="top_n", id=made.id)
    asked(inside, stop)
    assert inside.store.command(made.id) is None, "the engine's own command has this id"


def test_a_rollback_does_what_was_shown_or_says_what_it_would_do_now(inside: Inside) -> None:
    found = propose(inside.store, "wide", 5)
    done = advance(
        inside.store, found, Status.APPROVED, Status.APPLYING, Status.APPLIED,
        applied_at=time.time(), decision=replace(found.decision, before=2),
    )  # fmt: skip
    snapshot = Snapshot.of(inside.store.latest(), time.time())
    back = undoing_decision(done, snapshot, inside.store.placements(), "")
    assert back is not None
    for shown in ("", found.plan_hash):
        deciding = {"verb": "rollback", "id": done.id, "hash": shown}
        said = told(click(inside, "decision", deciding))
        assert "The plan has changed since you saw it. Now it is: wide" in said
    assert not [r for r in inside.store.recommendations() if r.rollback_of == done.id]
    deciding = {"verb": "rollback", "id": done.id, "hash": hash_of(back)}
    assert "To be undone" in told(click(inside, "decision", deciding))
    assert [r.by for r in inside.store.recommendations() if r.rollback_of == done.id] == ["admin"]


@pytest.mark.parametrize(
    ("asker", "about"),
    [
        ("users", {"verb": "end", "name": "viewer"}),
        ("run", "live-1"),
        ("table reset", "wide"),
        ("scaler settings", {"cluster": "wide", "of": "limits"}),
        ("decision", {"verb": "mode", "id": "wide"}),
    ],
)
def test_who_may_only_approve_confirms_nothing_of_an_admins(
    inside: Inside, asker: str, about: Any
) -> None:
    """One button confirms everything; each question has the role of its own."""
    before = inside.everything()
    said = click(inside, asker, about, role=Role.APPROVER, mode=Mode.AUTO.value)
    assert "needs the role admin" in said.text
    assert inside.everything() == before


@pytest.mark.parametrize("pending", [None, 1, {}, {"asker": "nobody", "about": 1}, {"asker": []}])
def test_a_question_that_nobody_asked_is_refused(inside: Inside, pending: Any) -> None:
    output = next(
        o for o, k in inside.callbacks.items()
        if [i["id"] for i in k["inputs"]] == [ids.DIALOG_CONFIRM]
    )  # fmt: skip
    body = inside.callback(output, 1)
    body["state"][0]["value"] = pending
    headers, _ = inside.session()
    answer = inside.ask("POST", CALLBACK_PATH, headers=headers, json=body)
    assert "Open the dialog again; nothing was done." in told(answer)
