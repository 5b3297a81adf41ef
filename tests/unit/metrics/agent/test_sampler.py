"""The sampler: figures per batch become figures per period."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from weir.controllers.model.sample import BATCHES_MOST, Cluster, OperatorStatus
from weir.metrics.agent.listener import (
    ExecutorWork,
    Poll,
    Progress,
    SourceProgress,
    Started,
    StateProgress,
    TaskWork,
    Terminated,
)
from weir.metrics.agent.sampler import Sampler
from weir.metrics.agent.track import Backlog, OperatorFacts

CLUSTER = Cluster(name="a", cores_per_executor=1)


def batch(
    number: int,
    began: float,
    seconds: float,
    rows: int,
    end: int,
    latest: int | None = None,
    **more,
) -> Progress:
    return Progress(
        id="q",
        run_id=more.pop("run", "r1"),
        timestamp=datetime.fromtimestamp(began, UTC).isoformat().replace("+00:00", "Z"),
        batch_id=number,
        name="count",
        num_input_rows=rows,
        duration_ms={"addBatch": 1, "triggerExecution": int(seconds * 1000)},
        sources=[
            SourceProgress(
                end_offset={"0": end}, latest_offset={"0": end if latest is None else latest}
            )
        ],
        **more,
    )


def poll(at: float, *progress: Progress, work: TaskWork | None = None, **more) -> Poll:
    return Poll(
        at_ms=int(at * 1000),
        since_ms=int((at - 2) * 1000),
        progress=list(progress),
        queries={"q": work} if work else {},
        executors={"1": ExecutorWork("h", 1, 0, busy_ms=work.busy_ms if work else 0)},
        **more,
    )


def test_rates_cost_and_load_in_a_steady_state() -> None:
    sampler = Sampler()
    fact = OperatorFacts(name="count", query_id="q", trigger_s=2.0)
    for i in range(8):
        at = 100.0 + 2 * i
        sample = sampler.sample(
            poll(
                at,
                batch(i, at - 2, 1.0, 200, 200 * (i + 1)),
                work=TaskWork(run_ms=400, busy_ms=420),
            ),
            CLUSTER,
            [
                OperatorFacts(
                    name="count",
                    query_id="q",
                    trigger_s=2.0,
                    backlog=Backlog(200 * (i + 1) + 50, 20 * (200 * (i + 1) + 50)),
                )
            ],
        )
    (operator,) = sample.operators
    assert fact.name == operator.name
    assert operator.arrival_rows_per_s == pytest.approx(100)
    assert operator.processed_rows_per_s == pytest.approx(100)
    assert operator.cost_s_per_row == pytest.approx(0.002)
    assert operator.load == pytest.approx(0.2)
    assert operator.busy_cores == pytest.approx(0.21)
    assert operator.queue_rows == 50
    assert operator.row_bytes == pytest.approx(20)
    assert (operator.rows, operator.batches, operator.batch_id) == (200, 1, 7)


def test_the_first_batch_of_a_run_does_not_set_the_cost() -> None:
    sampler = Sampler()
    cold = sampler.sample(
        poll(100, batch(0, 90, 10, 10, 10), work=TaskWork(run_ms=9000, busy_ms=2000)), CLUSTER
    ).operators[0]
    assert cold.cost_s_per_row is None
    assert cold.load == pytest.approx(1.0)  # the busy cores
    for i in range(1, 4):
        warm = sampler.sample(
            poll(100 + 2 * i, batch(i, 99 + 2 * i, 1, 100, 100 * i), work=TaskWork(run_ms=100)),
            CLUSTER,
        ).operators[0]
    assert warm.cost_s_per_row == pytest.approx(0.001)
    again = sampler.sample(
        poll(110, batch(4, 100, 9, 10, 400, run="r2"), work=TaskWork(run_ms=9000)), CLUSTER
    ).operators[0]
    assert again.cost_s_per_row is None


def test_latency_is_measured_from_event_time_to_commit() -> None:
    progress = batch(0, 100, 1.5, 10, 10, observed_metrics={
        "weir": {"event_p50_s": 98.0, "event_first_s": 96.0}
    })  # fmt: skip
    (operator,) = Sampler().sample(poll(102, progress), CLUSTER).operators
    assert operator.scheduling_s == pytest.approx(2.0)
    assert operator.processing_s == pytest.approx(1.5)
    assert operator.latency_p50_s == pytest.approx(3.5)
    assert operator.latency_max_s == pytest.approx(5.5)
    assert operator.batch_at == pytest.approx(101.5)


def test_without_event_times_latency_is_the_batch_and_what_waited_before_it() -> None:
    sampler = Sampler()
    sampler.sample(poll(104, batch(0, 100, 4.0, 10, 10)), CLUSTER)
    (operator,) = sampler.sample(poll(108, batch(1, 104, 3.0, 10, 20)), CLUSTER).operators
    assert operator.latency_p50_s is None
    assert operator.scheduling_s == pytest.approx(2.0)  # half of the batch before it
    assert operator.latency_s == operator.own_latency_s == pytest.approx(5.0)


def test_delay_upstream_is_not_waiting_here() -> None:
    """Rows that come 40 s late wait half a trigger here; a queue adds what it means in time."""
    sampler = Sampler()
    late = {"weir": {"event_p50_s": 60.0, "event_first_s": 50.0}}
    for number, latest in ((0, 100), (1, 200), (2, 800)):
        began = 100.0 + 10.0 * number
        progress = batch(
            number, began, 1.0, 100, 100 * (number + 1), latest=latest, observed_metrics=late
        )
        (operator,) = sampler.sample(poll(began + 2.0, progress), CLUSTER).operators
        if number == 1:
            assert operator.scheduling_s == pytest.approx(5.0)
            assert operator.own_latency_s == pytest.approx(6.0)
            assert operator.latency_s == pytest.approx(51.0)
    assert operator.scheduling_s == pytest.approx(5.0 + 500.0 / 60.0)


def test_a_row_after_idle_triggers_has_not_waited_since_the_last_batch() -> None:
    sampler = Sampler()
    fact = OperatorFacts(name="count", query_id="q", trigger_s=2.0)
    sampler.sample(poll(102, batch(0, 100, 1, 10, 10)), CLUSTER, [fact])
    (operator,) = sampler.sample(poll(202, batch(1, 200, 1, 10, 20)), CLUSTER, [fact]).operators
    assert operator.scheduling_s == pytest.approx(1.0)


def test_the_queue_follows_the_source_where_the_host_cannot_look() -> None:
    sampler = Sampler()
    sampler.sample(poll(102, batch(0, 100, 1, 10, 10, latest=40)), CLUSTER)
    (operator,) = sampler.sample(poll(104, batch(1, 102, 1, 10, 20, latest=100)), CLUSTER).operators
    assert operator.queue_rows == 80
    assert operator.arrival_rows_per_s == pytest.approx(30)


def test_offsets_that_do_not_count_rows_give_no_queue() -> None:
    progress = batch(0, 100, 1, 10, 10)
    opaque = Progress(
        id="q", run_id="r1", timestamp=progress.timestamp, batch_id=0, name="count",
        num_input_rows=10, duration_ms=progress.duration_ms,
        sources=[SourceProgress(end_offset={"logOffset": 3}, latest_offset={"logOffset": 4})],
    )  # fmt: skip
    (operator,) = Sampler().sample(poll(102, opaque), CLUSTER).operators
    assert operator.queue_rows is None
    assert operator.arrival_rows_per_s == operator.processed_rows_per_s == pytest.approx(10)


def test_an_overdue_commit_lowers_the_processed_rate() -> None:
    sampler = Sampler()
    for i in range(3):
        sampler.sample(poll(102 + 2 * i, batch(i, 100 + 2 * i, 2, 100, 100 * i)), CLUSTER)
    assert sampler.sample(poll(108), CLUSTER).operators[0].processed_rows_per_s == pytest.approx(50)
    late = sampler.sample(poll(126), CLUSTER).operators[0]
    assert late.processed_rows_per_s == pytest.approx(100 / 20)


def test_a_query_that_ends_leaves_and_one_of_the_hosts_own_is_hidden() -> None:
    sampler = Sampler()
    sampler.sample(
        poll(102, batch(0, 100, 1, 1, 1), started=[Started("w", "rw", "_warm")]), CLUSTER
    )
    ended = sampler.sample(poll(104, terminated=[Terminated("q", "r1")]), CLUSTER)
    assert ended.operators == ()


def restarted_at(at: float) -> OperatorFacts:
    """What the host says of a run whose predecessor committed last at that time."""
    return OperatorFacts(name="count", query_id="q", last_commit_at=at)


def test_a_run_that_began_in_place_has_no_batch_before_its_own_first() -> None:
    sampler = Sampler()
    first = sampler.sample(poll(102, batch(0, 100, 1, 10, 10)), CLUSTER).operators[0]
    assert (first.run_id, first.first_batch_at) == ("r1", pytest.approx(101))
    fact = restarted_at(105.0)
    begun = sampler.sample(
        poll(106, started=[Started("q", "r2", "count")]), CLUSTER, [fact]
    ).operators[0]
    assert (begun.run_id, begun.first_batch_at, begun.pause_s) == ("r2", None, None)
    # Spark tells of a start at once and of batches later: this one is of the old run.
    late = sampler.sample(poll(108, batch(1, 104, 1, 5, 15)), CLUSTER, [fact]).operators[0]
    assert (late.run_id, late.first_batch_at, late.pause_s) == ("r2", None, None)
    assert (late.rows, late.batches) == (5, 1)
    last = poll(112, batch(2, 109, 2, 10, 25, run="r2"))
    (done,) = sampler.sample(last, CLUSTER, [fact]).operators
    assert done.first_batch_at == pytest.approx(111)
    assert done.pause_s == pytest.approx(6.0)


def test_every_batch_is_handed_over_once_with_its_own_run() -> None:
    sampler = Sampler()
    fact = OperatorFacts(name="count here", query_id="q")
    seen = {"weir": {"event_p50_s": 99.0}}
    two = poll(104, batch(0, 100, 1, 10, 10, observed_metrics=seen), batch(1, 102, 1.5, 0, 10))
    found = sampler.sample(two, CLUSTER, [fact]).batches
    assert [(b.operator, b.id, b.run_id, b.rows) for b in found] == [
        ("count here", 0, "r1", 10), ("count here", 1, "r1", 0),
    ]  # fmt: skip
    assert [(b.committed_at, b.processing_s) for b in found] == [(101.0, 1.0), (103.5, 1.5)]
    assert [b.latency_p50_s for b in found] == [2.0, None]
    nothing = poll(106, idle(105, 10), started=[Started("q", "r2", "count")])
    assert sampler.sample(nothing, CLUSTER, [fact]).batches == ()
    (late,) = sampler.sample(poll(108, batch(2, 104, 1, 5, 15)), CLUSTER, [fact]).batches
    assert (late.id, late.run_id, late.rows) == (2, "r1", 5)


def test_batches_of_the_host_itself_are_not_reported_and_many_are_bounded() -> None:
    sampler = Sampler()
    own = [replace(batch(i, 100, 0.001, 1, 1), id="w", name="_warm") for i in range(9)]
    many = [batch(i, 100, 0.001, 1, i) for i in range(BATCHES_MOST + 9)]
    sample = sampler.sample(poll(102, *own, *many), CLUSTER)
    assert [b.id for b in sample.batches] == list(range(9, BATCHES_MOST + 9))
    assert {b.operator for b in sample.batches} == {"count"}


def idle(began: float, end: int, run: str = "r1") -> Progress:
    """A trigger that found nothing to do."""
    found = batch(3, began, 0.1, 0, end, run=run)
    return replace(found, duration_ms={"triggerExecution": 100})


def test_a_trigger_without_a_batch_shows_that_nothing_waits() -> None:
    sampler = Sampler()
    backlog = Backlog(40, 400, committed_rows=30)  # told to the source with the next batch only
    fact = OperatorFacts(name="count", query_id="q", backlog=backlog, idle=idle(101, 40))
    started = [Started("q", "r1", "count")]
    found = sampler.sample(poll(102, started=started), CLUSTER, [fact]).operators[0]
    assert (found.idle, found.queue_rows, found.first_batch_at) == (True, 0, None)
    more = replace(fact, backlog=Backlog(45, 450, committed_rows=30))
    found = sampler.sample(poll(104), CLUSTER, [more]).operators[0]
    assert (found.queue_rows, found.arrival_rows_per_s) == (5, pytest.approx(2.5))
    busy = OperatorFacts(name="count", query_id="q")
    found = sampler.sample(poll(106, batch(4, 104, 1, 5, 45)), CLUSTER, [busy]).operators[0]
    assert (found.idle, found.first_batch_at) == (False, pytest.approx(105))


def test_what_a_run_before_found_says_nothing_of_this_one() -> None:
    sampler = Sampler()
    fact = OperatorFacts(name="count", query_id="q", idle=idle(101, 40))
    sampler.sample(poll(102, batch(0, 100, 1, 10, 10)), CLUSTER, [fact])
    begun = poll(104, started=[Started("q", "r2", "count")])
    found = sampler.sample(begun, CLUSTER, [fact]).operators[0]
    assert (found.idle, found.run_id) == (False, "r2")


def test_a_failed_operator_is_reported_without_any_batch() -> None:
    fact = OperatorFacts(name="broken", status=OperatorStatus.FAILED, message="no such table")
    (operator,) = Sampler().sample(poll(102), CLUSTER, [fact]).operators
    assert (operator.status, operator.message, operator.load) == ("failed", "no such table", 0.0)


def test_state_and_skew_and_executors() -> None:
    progress = batch(
        0, 100, 1, 10, 10, state_operators=[StateProgress(5, 1000), StateProgress(1, 24)]
    )
    work = TaskWork(run_ms=300, busy_ms=1000, tasks=3, failed=1, median_ms=50, longest_ms=200)
    sample = Sampler().sample(poll(102, progress, work=work, dropped_events=4), CLUSTER)
    (operator,) = sample.operators
    assert (operator.stateful, operator.state_rows, operator.state_bytes) == (True, 6, 1024)
    assert (operator.skew, operator.tasks, operator.failed_tasks) == (4.0, 3, 1)
    assert sample.executors[0].busy_share == pytest.approx(0.5)
    assert (sample.cluster.executors, sample.cluster.dropped_events) == (1, 4)
