"""The sampler: figures per batch become figures per period."""

from datetime import UTC, datetime

import pytest

from controllers.model.snapshot import Cluster, OperatorStatus
from metrics.listener import (
    ExecutorWork,
    Poll,
    Progress,
    SourceProgress,
    Started,
    StateProgress,
    Terminated,
    Work,
)
from metrics.sampler import Backlog, OperatorFacts, Sampler

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


def poll(at: float, *progress: Progress, work: Work | None = None, **more) -> Poll:
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
            poll(at, batch(i, at - 2, 1.0, 200, 200 * (i + 1)), work=Work(run_ms=400, busy_ms=420)),
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
        poll(100, batch(0, 90, 10, 10, 10), work=Work(run_ms=9000, busy_ms=2000)), CLUSTER
    ).operators[0]
    assert cold.cost_s_per_row is None
    assert cold.load == pytest.approx(1.0)  # the busy cores
    for i in range(1, 4):
        warm = sampler.sample(
            poll(100 + 2 * i, batch(i, 99 + 2 * i, 1, 100, 100 * i), work=Work(run_ms=100)), CLUSTER
        ).operators[0]
    assert warm.cost_s_per_row == pytest.approx(0.001)
    again = sampler.sample(
        poll(110, batch(4, 100, 9, 10, 400, run="r2"), work=Work(run_ms=9000)), CLUSTER
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
    assert operator.latency_s == pytest.approx(7.0)


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


def test_a_failed_operator_is_reported_without_any_batch() -> None:
    fact = OperatorFacts(name="broken", status=OperatorStatus.FAILED, message="no such table")
    (operator,) = Sampler().sample(poll(102), CLUSTER, [fact]).operators
    assert (operator.status, operator.message, operator.load) == ("failed", "no such table", 0.0)


def test_state_and_skew_and_executors() -> None:
    progress = batch(
        0, 100, 1, 10, 10, state_operators=[StateProgress(5, 1000), StateProgress(1, 24)]
    )
    work = Work(run_ms=300, busy_ms=1000, tasks=3, failed=1, median_ms=50, longest_ms=200)
    sample = Sampler().sample(poll(102, progress, work=work, dropped_events=4), CLUSTER)
    (operator,) = sample.operators
    assert (operator.stateful, operator.state_rows, operator.state_bytes) == (True, 6, 1024)
    assert (operator.skew, operator.tasks, operator.failed_tasks) == (4.0, 3, 1)
    assert sample.executors[0].busy_share == pytest.approx(0.5)
    assert (sample.cluster.executors, sample.cluster.dropped_events) == (1, 4)
