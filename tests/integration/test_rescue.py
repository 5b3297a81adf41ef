"""A cluster falls silent: what it ran goes on elsewhere, and when it wakes up it writes nothing."""

import os
import signal
import time

import psutil

from tests.support.long import only_long
from tests.support.system import System
from tests.support.waiting import wait_until
from weir.commands.control import move
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.model.placement import operator_lease

PLACE = 6.5
pytestmark = only_long("it suspends a cluster of the shared system, and has not passed there yet")


def driver(system: System, cluster: str) -> psutil.Process:
    """The host of a cluster; it leads its own process group."""
    return next(p for p in system.children("host") if cluster in p.cmdline())


def rescued(system: System) -> Recommendation | None:
    found = [r for r in system.store.recommendations() if r.kind == "rescue"]
    return found[0] if found and found[0].status is Status.EFFECTIVE else None


def test_what_a_suspended_cluster_ran_goes_on_elsewhere_and_it_wakes_up_fenced(
    system: System,
) -> None:
    system.store.save_settings("failover", {"rescue_by_itself": True})
    lost = sorted(p.operator for p in system.store.placements().values() if p.cluster == "narrow")
    assert lost
    group = driver(system, "narrow").pid
    os.killpg(group, signal.SIGSTOP)
    try:
        found = wait_until(lambda: rescued(system), 180, "it is rescued and judged")
        assert {m.operator for m in found.decision.moves} == set(lost)
        assert {m.target for m in found.decision.moves} == {"wide"}
        assert found.measured.outage_s is not None
        leases = {name: system.store.lease(operator_lease(name)) for name in lost}
        assert [d.cluster for d in system.store.deaths()] == ["narrow"]
        assert system.get("/api/v1/deaths")[0]["cluster"] == "narrow"
    finally:
        os.killpg(group, signal.SIGCONT)
    wait_until(lambda: not system.store.deaths(), 120, "narrow is back")
    woke_at = time.time()
    wait_until(
        lambda: all((system.operator(n).batch_at or 0.0) > woke_at + 3.0 for n in lost),
        120,
        "they commit in wide",
    )
    assert {n: system.store.lease(operator_lease(n)) for n in lost} == leases
    assert {system.operator(n).cluster for n in lost} == {"wide"}
    system.store.save_settings("failover", {"rescue_by_itself": False})
    for name in lost:  # counts are compared by the last file
        assert move(system.store, name, "narrow").moves[0].paused_s is not None
