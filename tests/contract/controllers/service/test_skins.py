"""Every verb of the service by every skin: the same change, entry, refusal and prediction."""

import random
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.controllers.service.skins import Skins
from tests.support.inside import Inside
from tests.support.models import SLICES, sample_of, sliced
from tests.support.proposals import propose
from weir.commands import control
from weir.controllers.engine.ports import Part
from weir.controllers.model.placement import Placement


@pytest.fixture
def skins(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> Skins:
    # The terminal goes on to watch what becomes of it; that is not what is compared here.
    monkeypatch.setattr(control, "_follow", lambda store, asked: iter([asked]))
    monkeypatch.setattr(control, "_answer", lambda store, command: _told(store, command.id))
    return Skins(inside)


def _told(store: Any, id: str) -> Any:
    return store.command(id)[1]


def _command(verb: str, operator: str = "", cluster: str = "wide") -> dict[str, str]:
    return {"id": uuid.uuid4().hex, "verb": verb, "cluster": cluster, "operator": operator}


def _decide(verb: str, skins: Skins) -> dict[str, str]:
    found = skins.store.recommendations()[0]
    return {"verb": verb, "id": found.id, "hash": found.plan_hash}


def _newest(skins: Skins) -> str:
    return skins.store.recommendations()[0].id


def _sliced(skins: Skins) -> None:
    """topic_count runs in three slices, reported just now."""
    now = time.time()
    for model in sliced():
        assert skins.store.append(sample_of(model, 400.0, now, 2.0, random.Random(1)))
        for operator in model.operators:
            skins.store.place(Placement(operator=operator.name, cluster=model.name))
    assert skins.store.slice_if(SLICES, seen=None)


def _reslice(**wanted: Any) -> dict[str, Any]:
    """What the preview's dialog sends back."""
    return {"id": uuid.uuid4().hex, "operator": "topic_count", **wanted}


def _launching(skins: Skins) -> None:
    """Somebody is there to start and end hosts."""
    skins.store.beat(Part(id="launcher", kind="launcher", name="launcher", at=time.time()))


def _proposed(skins: Skins) -> None:
    propose(skins.store)


Way = Callable[[Skins, str], str]
VERBS: dict[str, tuple[Callable[[Skins], None] | None, Way, Way, Way]] = {
    "scale": (
        None,
        lambda s, why: s.page("command", _command("scale"), why, executors=4),
        lambda s, why: s.api("POST", "/clusters/wide/scale", {"executors": 4, "comment": why}),
        lambda s, why: s.terminal("scale", "wide", "4", "--comment", why),
    ),
    "scale too far": (
        None,
        lambda s, why: s.page("command", _command("scale"), why, executors=60),
        lambda s, why: s.api("POST", "/clusters/wide/scale", {"executors": 60, "comment": why}),
        lambda s, why: s.terminal("scale", "wide", "60", "--comment", why),
    ),
    "one more slice": (
        _sliced,
        lambda s, why: s.page("reslice", _reslice(slices=4), why),
        lambda s, why: s.api(
            "POST", "/operators/topic_count/reslice", {"slices": 4, "comment": why}
        ),
        lambda s, why: s.terminal("reslice", "topic_count", "--slices", "4", "--comment", why),
    ),
    "hand over an arc": (
        _sliced,
        lambda s, why: s.page(
            "reslice", _reslice(groups=[38, 39], to="topic_count.1"), why
        ),
        lambda s, why: s.api(
            "POST", "/operators/topic_count/reslice",
            {"groups": [38, 39], "to": "topic_count.1", "comment": why},
        ),
        lambda s, why: s.terminal(
            "reslice", "topic_count", "--groups", "38-39", "--to", "topic_count.1",
            "--comment", why,
        ),
    ),
    "hand over what is there already": (
        _sliced,
        lambda s, why: s.page("reslice", _reslice(groups=[1], to="topic_count.0"), why),
        lambda s, why: s.api(
            "POST", "/operators/topic_count/reslice",
            {"groups": [1], "to": "topic_count.0", "comment": why},
        ),
        lambda s, why: s.terminal(
            "reslice", "topic_count", "--groups", "1", "--to", "topic_count.0", "--comment", why,
        ),
    ),
    "re-slice what is not sliced": (
        None,
        lambda s, why: s.page("reslice", _reslice(slices=4), why),
        lambda s, why: s.api(
            "POST", "/operators/topic_count/reslice", {"slices": 4, "comment": why}
        ),
        lambda s, why: s.terminal("reslice", "topic_count", "--slices", "4", "--comment", why),
    ),
    "shares": (
        None,
        lambda s, why: s.page(
            "command", _command("share", cluster="narrow"), why, weights="topic_count=4, top_n=1"
        ),
        lambda s, why: s.api(
            "PUT", "/clusters/narrow/shares",
            {"weights": {"topic_count": 4, "top_n": 1}, "comment": why},
        ),
        lambda s, why: s.terminal(
            "shares", "narrow", "topic_count=4", "top_n=1", "--comment", why
        ),
    ),
    "shares of an operator that is elsewhere": (
        None,
        lambda s, why: s.page(
            "command", _command("share", cluster="wide"), why, weights="top_n=4"
        ),
        lambda s, why: s.api(
            "PUT", "/clusters/wide/shares", {"weights": {"top_n": 4}, "comment": why}
        ),
        lambda s, why: s.terminal("shares", "wide", "top_n=4", "--comment", why),
    ),
    "add a cluster": (
        _launching,
        lambda s, why: s.page("command", _command("add", cluster=""), why, name="third"),
        lambda s, why: s.api("POST", "/clusters/third/add", {"comment": why}),
        lambda s, why: s.terminal("add", "third", "--comment", why),
    ),
    "add a cluster while nobody launches": (
        None,
        lambda s, why: s.page("command", _command("add", cluster=""), why, name="third"),
        lambda s, why: s.api("POST", "/clusters/third/add", {"comment": why}),
        lambda s, why: s.terminal("add", "third", "--comment", why),
    ),
    "end a cluster": (
        _launching,
        lambda s, why: s.page("command", _command("end"), why),
        lambda s, why: s.api("POST", "/clusters/wide/end", {"comment": why}),
        lambda s, why: s.terminal("end", "wide", "--comment", why),
    ),
    "stop": (
        None,
        lambda s, why: s.page("command", _command("stop", "top_n", "narrow"), why),
        lambda s, why: s.api("POST", "/operators/top_n/stop", {"comment": why}),
        lambda s, why: s.terminal("operator", "stop", "top_n", "--comment", why),
    ),
    "approve": (
        _proposed,
        lambda s, why: s.page("decision", _decide("approve", s), why),
        lambda s, why: s.api(
            "POST", f"/recommendations/{_newest(s)}/approve",
            {"plan_hash": s.store.recommendations()[0].plan_hash, "comment": why},
        ),
        lambda s, why: s.terminal("approve", _newest(s), "--comment", why),
    ),
    "reject": (
        _proposed,
        lambda s, why: s.page("decision", _decide("reject", s), why),
        lambda s, why: s.api("POST", f"/recommendations/{_newest(s)}/reject", {"comment": why}),
        lambda s, why: s.terminal("reject", _newest(s), "--comment", why),
    ),
    "cancel": (
        _proposed,
        lambda s, why: s.page("decision", _decide("cancel", s), why),
        lambda s, why: s.api("POST", f"/recommendations/{_newest(s)}/cancel", {"comment": why}),
        lambda s, why: s.terminal("cancel", _newest(s), "--comment", why),
    ),
    "roll back what was not done": (
        _proposed,
        lambda s, why: s.page("decision", _decide("rollback", s), why),
        lambda s, why: s.api("POST", f"/recommendations/{_newest(s)}/rollback", {"comment": why}),
        lambda s, why: s.terminal("rollback", _newest(s), "--comment", why),
    ),
    "pause": (
        None,
        lambda s, why: s.page("decision", {"verb": "pause", "id": ""}, why),
        lambda s, why: s.api("PUT", "/pause", {"paused": True, "comment": why}),
        lambda s, why: s.terminal("pause", "--comment", why),
    ),
    "mode": (
        None,
        lambda s, why: s.page("decision", {"verb": "mode", "id": "wide"}, why, mode="auto"),
        lambda s, why: s.api("PUT", "/modes/wide", {"mode": "auto", "comment": why}),
        lambda s, why: s.terminal("mode", "wide", "auto", "--comment", why),
    ),
    "forget a cluster that reports": (
        None,
        lambda s, why: s.page("command", _command("forget"), why),
        lambda s, why: s.api("DELETE", "/clusters/wide", {"comment": why}),
        lambda s, why: s.terminal("forget", "wide", "--comment", why),
    ),
}  # fmt: skip


def _sentence(text: str) -> str:
    """Skins begin with a capital and end with a full stop; the sentence is the same."""
    return text.strip().rstrip(".").lower()


@pytest.mark.parametrize("settings", [{}, {"comment_required": True}, {"four_eyes": True}])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("why", ["", "a drill"])
def test_every_skin_leaves_the_same_behind(
    skins: Skins, verb: str, settings: dict[str, Any], why: str
) -> None:
    prepare, *ways = VERBS[verb]
    found = []
    for way in ways:
        skins.begin(settings)
        if prepare:
            prepare(skins)
        found.append((_sentence(way(skins, why)), skins.left()))
    page, api, terminal = found
    assert page == api
    assert api == terminal


def test_rates_settings_and_tables_too(skins: Skins) -> None:
    """Verbs that the page asks for without its dialog: API and command line leave the same."""
    for api, words in [
        (("PATCH", "/workloads/tweets", {"rows_per_s": 250}), ("rate", "250")),
        (("PATCH", "/workloads/tweets", {"paused": True}), ("rate", "--pause")),
        (("PATCH", "/workloads/tweets", {"rows_per_s": -1}), ("rate", "--", "-1")),
        (("PATCH", "/workloads/tweets", {"skew": 1.5}), ("rate", "--skew", "1.5")),
        (("PATCH", "/workloads/tweets",
          {"profile": {"kind": "burst", "to_rows_per_s": 900, "over_s": 30, "lasts_s": 5}}),
         ("rate", "--profile", "burst", "--to", "900", "--over", "30", "--lasts", "5")),
        (("PATCH", "/workloads/tweets", {"profile": {"kind": "burst", "lasts_s": 90}}),
         ("rate", "--profile", "burst", "--lasts", "90")),
        (("PATCH", "/settings/record", {"values": {"keep_days": 7}}),
         ("settings", "record", "keep_days=7")),
        (("PATCH", "/settings/balance:albic", {"values": {"max_distance": 20}}),
         ("settings", "balance:albic", "max_distance=20")),
        (("PATCH", "/settings/guards:nowhere", {"values": {"largest_step": 1}}),
         ("settings", "guards:nowhere", "largest_step=1")),
        (("POST", "/operators/top_n/move", {"cluster": "wide"}), ("move", "top_n", "wide")),
        (("POST", "/operators/top_n/move", {"cluster": "narrow"}), ("move", "top_n", "narrow")),
        (("DELETE", "/clusters/wide/qtable", None), ("qtable", "reset", "wide")),
    ]:  # fmt: skip
        found = []
        for ask in (lambda a=api: skins.api(*a), lambda w=words: skins.terminal(*w)):
            skins.begin()
            said = ask()
            # The terminal also waits for the move, which nobody carries out here.
            found.append((bool(said) and words[0] != "move", skins.left()))
        assert found[0] == found[1], (api, words)
