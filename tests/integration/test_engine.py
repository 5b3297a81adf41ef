"""The engine on real Spark: it proposes, people approve or it acts alone, and it checks itself.

That no row was lost or doubled is checked once for all of it, at the end of the faults.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from tests.support import people
from tests.support.processes import start, stop, weir
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.commands import control
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.command import CommandStatus
from weir.controllers.model.decision import Scale
from weir.controllers.model.errors import Refused

PLACE = 5


def command(system: System, *args: str) -> str:
    done = system.command(*args)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def found(
    system: System, since: float, fits: Callable[[Recommendation], bool]
) -> Recommendation | None:
    return next((r for r in system.store.recommendations() if r.at >= since and fits(r)), None)


def measured(system: System, seconds: float) -> None:
    """Wait for so many seconds of reports, by the clock of the clusters."""
    newest = lambda: min(s.at for s in system.store.latest())  # noqa: E731
    since = newest()
    wait_until(lambda: newest() >= since + seconds, 2 * seconds, f"{seconds} s of reports")


def wants_fewer(system: System) -> bool:
    """Whether the scaler that narrow follows asks for fewer executors than there are."""
    answer = system.store.scale_outlooks()["narrow"].answer("rate_based")
    cluster = system.snapshot().cluster("narrow")
    return isinstance(answer.decision, Scale) and answer.decision.executors < cluster.executors


def begun(system: System, kind: str, since: float) -> Recommendation | None:
    """What the engine has begun by itself since then, whenever it was proposed."""
    return found(
        system,
        0,
        lambda r: (
            r.kind == kind
            and bool(r.mode)
            and any(e.status is Status.APPLYING and e.at >= since for e in r.history)
        ),
    )


@pytest.fixture(autouse=True)
def at_rest(system: System) -> Iterator[None]:
    """Around each test: nothing open, little work, everything where it began.

    The engine judges soon, and waits little between actions.
    """
    change(system, "engine", settle_s=20, reconsider_s=0)
    for cluster in ("wide", "narrow"):
        guards = {
            "stabilisation_s": 5, "scale_in_delay_s": 5, "most_flips": 99, "warm_up_s": 5,
        }  # fmt: skip
        change(system, f"guards:{cluster}", **guards)
    _calm(system)
    yield
    _calm(system)


def change(system: System, group: str, **values: Any) -> None:
    people.set_settings(system.store, group, values, by="test", now=time.time())


def give_mode(system: System, cluster: str, mode: str) -> None:
    people.set_mode(system.store, cluster, mode, by="test", now=time.time())


def _calm(system: System) -> None:
    people.resume_all(system.store, by="test", now=time.time())
    change(system, "balance", planner="no_op")
    change(system, "scale:narrow", scaler="no_op")
    for cluster in ("wide", "narrow"):
        give_mode(system, cluster, "approve")
    system.rate(60)
    wait_until(lambda: _closed(system), 90, "everything open is ended, and judged")
    for operator in ("topic_count", "top_n"):
        if system.store.placements()[operator].cluster != "narrow":
            control.move(system.store, operator, "narrow")
    if system.snapshot().cluster("narrow").executors_wanted != 1:
        control.scale(system.store, "narrow", 1)
    wait_until(lambda: _closed(system), 90, "what was put back is judged")


def _closed(system: System) -> bool:
    """Reject what nobody has decided on; whether nothing is under way any more."""
    for recommendation in system.store.recommendations():
        if recommendation.status is Status.PROPOSED:
            with suppress(Refused):  # the engine was first
                people.reject(system.store, recommendation.id, by="test", now=time.time())
    return found(system, 0, lambda r: not r.status.final) is None


def test_an_overload_is_recognised_explained_approved_and_cured(system: System) -> None:
    system.rate(600)
    measured(system, 30)  # what is judged later should have been measured before
    began = time.time()
    change(system, "balance", planner="milp", window_s=20)
    done = wait_until(lambda: _tried(system, began), 200, "an approved proposal has helped")
    assert done.effectiveness > 0.5
    assert done.measured.load["narrow"] < done.before.load["narrow"]
    assert done.verdict
    audited = [e for e in system.store.audit() if e.subject == done.id]
    assert {"recommendation.proposed", "recommendation.approved", "recommendation.effective"} <= {
        e.action for e in audited
    }
    approval = next(e for e in audited if e.action == "recommendation.approved")
    assert approval.why == "the load is real"
    assert approval.plan_hash == done.plan_hash
    assert "whole" in command(system, "audit", "--verify")


def _tried(system: System, since: float) -> Recommendation | None:
    """Approve what is proposed; returned once the engine finds that it has helped.

    It may find that it has not: others use the machine as well, and their work counts in
    the loads. Then there is more to propose.
    """
    proposed = found(
        system,
        since,
        lambda r: r.status is Status.PROPOSED and r.by == "engine" and r.rollback_of is None,
    )
    if proposed is None:
        return None
    reason = proposed.decision.reason
    assert "narrow" in proposed.clusters
    assert reason.text
    assert reason.rule
    assert reason.numbers
    assert proposed.predicted.load["narrow"] < proposed.before.load["narrow"]
    listed = json.loads(command(system, "recommendations", "--json"))
    assert proposed.id in {r["id"] for r in listed}
    if system.command("approve", proposed.id, "--comment", "the load is real").returncode:
        return None  # the world has changed since
    judged = wait_until(
        lambda: (r := system.store.recommendation(proposed.id)) and r.status.final and r,
        150,
        "the verdict",
    )
    if judged.status is Status.INEFFECTIVE:
        assert judged.effectiveness < 0.5, judged.verdict
        assert found(system, since, lambda r: r.rollback_of == judged.id), "it offers the way back"
    return judged if judged.status is Status.EFFECTIVE else None


def test_in_auto_it_scales_alone_and_pause_all_stops_it(system: System) -> None:
    began = time.time()
    change(system, "scale:narrow", scaler="rate_based")
    give_mode(system, "narrow", "auto")
    system.rate(900)
    out = wait_until(lambda: begun(system, "scale_out", began), 150, "it has scaled out by itself")
    assert [e.by for e in out.history if e.status is Status.APPROVED] == ["engine"]
    wait_until(lambda: system.snapshot().cluster("narrow").executors >= 2, 30, "they are there")

    command(system, "pause")
    paused_at = time.time()
    system.rate(20)
    wait_until(lambda: wants_fewer(system), 60, "it would scale in")
    measured(system, 15)  # longer than its guards would keep it from that
    assert begun(system, "scale_in", paused_at + 1) is None
    assert begun(system, "scale_out", paused_at + 1) is None
    command(system, "resume")
    command(system, "mode", "narrow", "auto")  # it may have lost trust in itself meanwhile
    wait_until(lambda: begun(system, "scale_in", paused_at), 120, "it scales in by itself")


def test_restarts_keep_what_scalers_have_learned(system: System) -> None:
    def learned() -> dict[str, int]:
        memory = msgspec.json.decode(system.store.memories("narrow")["qlearning"])
        return {"draws": memory["draws"], "rewards": len(memory["rewards"])}

    before = wait_until(lambda: (n := learned())["rewards"] and n, 120, "something was learned")
    leader = system.store.lease("engine")
    for word in ("engine", "narrow"):
        next(p for p in system.children(word) if "-m weir" in " ".join(p.cmdline())).kill()
    wait_until(
        lambda: (lease := system.store.lease("engine")) and lease.token > leader.token,
        40,
        "another engine leads",
    )
    wait_until(lambda: learned()["draws"] > before["draws"], 120, "it goes on learning")
    assert learned()["rewards"] >= before["rewards"]
    wait_until(lambda: system.health()["status"] == "ok", 120, "everything is up again")


def test_a_leader_that_was_away_does_nothing_twice(system: System) -> None:
    leader = next(p for p in system.children("engine") if "-m weir" in " ".join(p.cmdline()))
    token = system.store.lease("engine").token
    second = start(weir("engine", "--redis", system.redis_url), env={"TMPDIR": str(system.folder)})
    try:
        wait_until(
            lambda: sum(p.kind == "engine" for p in system.store.parts()) >= 2, 60, "two engines"
        )
        # Only now: it might act before there are two of them.
        began = time.time()
        change(system, "scale:narrow", scaler="rate_based")
        give_mode(system, "narrow", "auto")
        system.rate(900)
        out = wait_until(lambda: begun(system, "scale_out", began), 150, "it acts by itself")
        leader.suspend()  # executors take seconds to come: it is away while they do
        wait_until(lambda: system.store.lease("engine").token > token, 30, "the other one leads")
        led_at = time.time()
        wait_until(
            lambda: system.store.recommendation(out.id).status.final, 150, "the other one ends it"
        )
        leader.resume()
        back_at = time.time()
        wait_until(
            lambda: any(p.pid == leader.pid and p.at > back_at + 5 for p in system.store.parts()),
            60,
            "it is back for a while",
        )
        told = [t for t in system.store.recent_commands(limit=200) if t[0].issued_at >= began]
        done = Counter(c.id.split("~")[0] for c, r in told if r.status is CommandStatus.DONE)
        assert done[out.id] == 1, told
        assert max(done.values()) == 1, told
        assert all(c.fence > token for c, _ in told if c.issued_at > led_at and c.fence is not None)
        for recommendation in (r for r in system.store.recommendations() if r.at >= began):
            steps = [e.status for e in recommendation.history]
            assert len(steps) == len(set(steps)), recommendation
    finally:
        leader.resume()
        stop(second)
