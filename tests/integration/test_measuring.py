"""Real Spark, real Redis: what is shown is what Spark did."""

import time

import pytest

from tests.support.system import System
from tests.support.waiting import wait_until
from weir.controllers import service
from weir.controllers.engine.ports import Tier
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.hosts.warm import QUERY as WARM_UP
from weir.pipeline.workloads.top_n import SHARDS, TWEETS

PLACE = 1


def test_two_clusters_are_placed_as_in_the_extreme_case(system: System) -> None:
    snapshot = system.snapshot()
    placed = {o.name: o.cluster for o in snapshot.operators}
    assert placed == {"extractor": "wide", "topic_count": "narrow", "top_n": "narrow"}
    wide, narrow = snapshot.cluster("wide"), snapshot.cluster("narrow")
    assert (wide.executors, wide.capacity, narrow.executors, narrow.capacity) == (2, 4, 1, 1)
    assert wide.declared == narrow.declared == ("extractor", "top_n", "topic_count")
    assert {(e.source, e.target) for e in snapshot.edges} == {
        ("tweets", "extractor"),
        ("extractor", "topic_count"),
        ("topic_count", "top_n"),
    }


def test_every_operator_is_measured(system: System) -> None:
    def measured() -> bool:
        operators = system.snapshot().operators
        return all(
            o.batch_id is not None
            and o.latency_p50_s is not None
            and o.cost_s_per_row
            and o.row_bytes
            and o.load > 0
            for o in operators
        )

    wait_until(measured, 90, "every operator has batches, latency, cost and load")
    count = system.operator("topic_count")
    assert count.stateful
    assert count.state_rows
    assert 0 < count.latency_p50_s <= count.latency_max_s
    assert count.lease_token >= 1


def test_health_and_snapshot_answer(system: System) -> None:
    health = wait_until(
        lambda: (h := system.health())["status"] == "ok" and h, 20, "all parts are up"
    )
    assert health["redis"]["up"]
    assert {p["kind"] for p in health["parts"]} >= {"engine", "host", "generator", "web"}
    assert set(health["clusters"]) >= {"wide", "narrow"}
    assert {c["name"] for c in system.get("/api/v1/snapshot")["clusters"]} >= {"wide", "narrow"}


def test_figures_agree_with_spark_to_the_task(system: System) -> None:
    system.rate(paused=True)
    wait_until(system.drained, 120, "the pipeline is drained")
    try:
        for cluster in ("wide", "narrow"):

            def agree(cluster: str = cluster) -> bool:
                samples = system.store.samples(cluster, 0.0, float("inf"))
                spark = system.spark_executors(cluster, "allexecutors")
                ours = sum(e.tasks for s in samples for e in s.executors)
                return ours == sum(e["totalTasks"] for e in spark)

            wait_until(agree, 20, f"the tasks of {cluster}")
            samples = system.store.samples(cluster, 0.0, float("inf"))
            spark = system.spark_executors(cluster, "allexecutors")
            stages = [  # the query that warms an application up is no operator's
                s for s in system.spark_says(cluster, "stages")
                if WARM_UP not in (s.get("description") or "")
            ]  # fmt: skip
            run_s = sum(o.run_time_s for s in samples for o in s.operators)
            busy_s = sum(s.cluster.busy_cores * s.period_s for s in samples)
            assert run_s == pytest.approx(sum(s["executorRunTime"] for s in stages) / 1e3, rel=0.01)
            assert busy_s == pytest.approx(sum(e["totalDuration"] for e in spark) / 1e3, rel=0.01)
            assert samples[-1].cluster.dropped_events == 0
            assert samples[-1].cluster.dropped_samples == 0
        with connect(system.redis_url) as client:
            generated = EdgeStream(client, TWEETS, SHARDS).totals()[0]
        samples = system.store.samples("wide", 0.0, float("inf"))
        assert sum(o.rows for s in samples for o in s.operators) == generated
    finally:
        system.rate(paused=False)


def test_minutes_are_kept(system: System) -> None:
    minutes = wait_until(
        lambda: system.store.samples("narrow", 0, float("inf"), Tier.MINUTE), 90, "a minute is over"
    )
    assert minutes[0].at % 60 == 0


def test_executors_really_come_and_go(system: System) -> None:
    def processes() -> int:
        return len(system.children("org.apache.spark.executor.CoarseGrainedExecutorBackend"))

    before = processes()
    done = system.command("scale", "narrow", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 to 2 executors, granted after" in done.stdout
    assert len(system.spark_executors("narrow")) == 2
    wait_until(lambda: processes() == before + 1, 10, "one more process")
    wait_until(
        lambda: system.snapshot().cluster("narrow").executors_granted == 2, 10, "what was granted"
    )
    wait_until(lambda: system.snapshot().cluster("narrow").executors == 2, 10, "the page's figure")
    done = system.command("scale", "narrow", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    wait_until(lambda: processes() == before, 30, "it has gone")
    wait_until(lambda: system.snapshot().cluster("narrow").executors == 1, 10, "the page's figure")
    assert len([e for e in system.spark_executors("narrow") if e["isActive"]]) == 1
    assert system.snapshot().cluster("narrow").executors_lost == 0


def test_a_command_that_cannot_be_carried_out_is_one_sentence(system: System) -> None:
    done = system.command("scale", "narrow", "99")
    assert (done.returncode, done.stderr.strip()) == (
        2,
        "99 executors are outside the limits 1 to 4",
    )
    done = system.command("operator", "stop", "nobody")
    assert done.returncode == 2
    assert "there is no operator 'nobody'" in done.stderr


def test_an_operator_stops_at_a_batch_boundary_and_starts_again(system: System) -> None:
    done = system.command("operator", "stop", "top_n")
    assert done.returncode == 0, done.stdout + done.stderr
    wait_until(lambda: system.operator("top_n").status == "stopped", 10, "it is stopped")
    assert system.operator("top_n").lease_token is None
    last = system.operator("top_n").batch_id
    done = system.command("operator", "start", "top_n")
    assert done.returncode == 0, done.stdout + done.stderr
    wait_until(lambda: system.operator("top_n").batch_id > last, 60, "it goes on where it was")


def test_shares_of_the_cores_take_hold_while_queries_run(system: System) -> None:
    def in_force(weight: int) -> bool:
        return system.operator("topic_count").weight == weight

    run = system.operator("topic_count").run_id
    wait_until(lambda: in_force(1), 30, "all alike at first")
    ask = service.Request(by="test", at=time.time())
    service.set_shares(system.store, ask, "narrow", {"topic_count": 4})
    wait_until(lambda: in_force(4), 30, "the weight is set in Spark")
    # Of the one core nothing comes first to either: the other would wait for it always.
    assert {system.operator(name).first_cores for name in ("topic_count", "top_n")} == {0}
    service.set_shares(system.store, ask, "narrow", {})
    wait_until(lambda: in_force(1), 30, "all alike again")
    assert system.operator("topic_count").run_id == run, "nothing was restarted"
