"""Events to the samples that a live agent would have reported."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.metrics.eventlog import eventlog_logs as logs
from tests.unit.metrics.eventlog.eventlog_logs import QUERY, T0, folded, stream_log
from weir.controllers.model.sample import BATCHES_MOST, OperatorStatus
from weir.controllers.model.snapshot import Snapshot


def test_a_streaming_query_becomes_an_operator():
    _, samples = folded(stream_log())
    assert [s.at for s in samples] == [T0 / 1000 + 10 * n for n in range(1, 8)]
    middle = samples[2]
    (operator,) = middle.operators
    assert (operator.name, operator.query_id, operator.reads) == ("words", QUERY, ("tweets",))
    assert operator.writes == ("file:/out",)
    assert operator.arrival_rows_per_s == pytest.approx(20.0)
    assert operator.processed_rows_per_s == pytest.approx(20.0)
    assert operator.cost_s_per_row == pytest.approx(0.02)
    assert operator.load == pytest.approx(0.4)
    assert operator.busy_cores == pytest.approx(0.4)
    assert (operator.processing_s, operator.scheduling_s) == (2.0, 2.5)
    assert (operator.batches, operator.batch_rows, operator.tasks) == (2, 100, 2)
    assert (operator.state_rows, operator.state_bytes, operator.stateful) == (7, 900, True)
    assert middle.cluster.executors == 1
    assert middle.executors[0].busy_share == pytest.approx(0.2)  # 0.4 of 2 cores


def test_the_samples_make_a_snapshot():
    _, samples = folded(stream_log())
    snapshot = Snapshot.of([samples[2]], at=samples[2].at)
    assert snapshot.load("demo") == pytest.approx(0.2)
    assert [e.dataset for e in snapshot.edges] == ["tweets"]


def test_a_growing_queue_counts_as_arrivals():
    _, samples = folded(stream_log(queue=50))
    operator = samples[3].operators[0]
    assert operator.processed_rows_per_s == pytest.approx(20.0)
    assert operator.arrival_rows_per_s == pytest.approx(30.0)
    assert operator.queue_rows == 50 * 7


@given(
    st.lists(
        st.tuples(st.integers(0, 300_000), st.integers(1, 900_000), st.booleans()), max_size=40
    ),
    st.sampled_from([10.0, 600.0]),
)
@settings(max_examples=examples(60))
def test_no_task_time_is_lost_or_counted_twice(tasks, lateness_s):
    """Whatever their length and order: run time in = busy time out, where starts are known."""
    lines = [(T0 + a, logs.task_start(i, launch=T0 + a)) for i, (a, _, _) in enumerate(tasks)]
    lines += [
        (T0 + a + d, logs.task_end(i, launch=T0 + a, run=d)) for i, (a, d, _) in enumerate(tasks)
    ]
    ordered = [line for _, line in sorted(lines)]
    summary, samples = folded([logs.app_start(), *ordered], lateness_s=lateness_s)
    busy_ms = sum(s.cluster.busy_cores * s.period_s for s in samples) * 1000
    assert busy_ms == pytest.approx(summary.executor_run_time_ms, abs=1e-3)
    by_stage = sum(o.busy_cores * s.period_s for s in samples for o in s.operators) * 1000
    assert by_stage == pytest.approx(busy_ms, abs=1e-3)
    assert sum(s.operators[0].tasks for s in samples if s.operators) == len(tasks)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 1000)), min_size=1, max_size=20))
@settings(max_examples=examples(40))
def test_no_row_is_lost(batches):
    second, lines = 0, [logs.app_start()]
    for n, (gap, rows) in enumerate(batches):
        second += gap + 1
        # Another query's task ends first, so that the periods of the batch may have closed.
        lines.append(logs.task_end(n, launch=T0 + 1000 * second + 500))
        lines.append(logs.progress(n, second, rows))
    summary, samples = folded(lines, lateness_s=10)
    rows = sum(o.processed_rows_per_s * s.period_s for s in samples for o in s.operators)
    assert rows == pytest.approx(summary.input_rows)
    came = sum(o.arrival_rows_per_s * s.period_s for s in samples for o in s.operators)
    assert came == pytest.approx(summary.input_rows)
    whole = [b for s in samples for b in s.batches]
    assert [b.id for b in whole] == [n for n, (_, rows) in enumerate(batches) if rows]
    assert sum(b.rows for b in whole) == summary.input_rows
    for s in samples:
        assert sum(b.rows for b in s.batches) == sum(o.rows for o in s.operators)


def test_a_batch_once_a_minute_is_a_steady_flow():
    lines = [logs.app_start()]
    lines += [logs.progress(n, 60 * n, 600 if n else 0) for n in range(5)]
    _, samples = folded(lines)
    steady = [o.processed_rows_per_s for s in samples[2:-1] for o in s.operators]
    assert len(steady) > 18
    assert steady == pytest.approx([10.0] * len(steady))


def test_an_idle_trigger_is_no_batch():
    lines = [logs.app_start(), logs.progress(0, 1, 50), logs.progress(1, 5, 0, took=10)]
    _, (sample,) = folded(lines)
    (operator,) = sample.operators
    assert (operator.batches, operator.batch_id, operator.batch_rows) == (1, 0, 50)
    (batch,) = sample.batches
    assert (batch.operator, batch.id, batch.run_id, batch.rows) == ("words", 0, "run-1", 50)
    assert (batch.committed_at, batch.processing_s) == (T0 / 1000 + 2, 1.0)
    assert batch.latency_p50_s is None


def test_of_too_many_batches_in_a_period_the_newest_are_kept():
    lines = [logs.progress(n, 1, 1, took=1) for n in range(BATCHES_MOST + 9)]
    _, (sample,) = folded([logs.app_start(), *lines])
    assert [b.id for b in sample.batches] == list(range(9, BATCHES_MOST + 9))
    assert sample.operators[0].rows == BATCHES_MOST + 9


def test_event_times_give_the_latency_where_they_are_observed():
    seen = {"weir": {"event_p50_s": T0 / 1000 + 1.0, "event_first_s": T0 / 1000}}
    _, (sample,) = folded([logs.app_start(), logs.progress(0, 4, 5, took=2000, observed=seen)])
    (operator,) = sample.operators
    assert (operator.latency_p50_s, operator.latency_max_s, operator.scheduling_s) == (
        5.0,
        6.0,
        3.0,
    )
    assert sample.batches[0].latency_p50_s == 5.0


def test_the_queries_of_the_host_itself_are_no_operators():
    lines = [logs.app_start(), logs.progress(0, 1, 5, name="_warm", id="w"), logs.progress(0, 1, 5)]
    summary, (sample,) = folded(lines)
    assert [o.name for o in sample.operators] == ["words"]
    assert [b.operator for b in sample.batches] == ["words"]
    assert summary.queries == 2


def test_batch_jobs_become_one_operator_per_line_of_code():
    lines = [logs.app_start(), logs.executor_added("1")]
    for n in range(6):
        name = "count at A.scala:1" if n % 2 else "save at B.scala:2"
        lines += [logs.stage(n, name=name), logs.task_end(n, n, launch=T0 + 1000 * n, rows=10)]
    _, (sample,) = folded(lines)
    assert [(o.name, o.tasks, o.arrival_rows_per_s) for o in sample.operators] == [
        ("count at A.scala:1", 3, 3.0),
        ("save at B.scala:2", 3, 3.0),
    ]


def test_stage_families_are_bounded():
    lines = [logs.app_start()]
    for n in range(500):
        lines += [logs.stage(n, name=f"job {n}"), logs.task_end(n, n)]
    _, (sample,) = folded(lines)
    assert len(sample.operators) == 201
    assert sum(o.tasks for o in sample.operators) == 500


@pytest.mark.parametrize("lateness_s", [10, 600])
def test_executors_are_there_from_added_to_removed(lateness_s):
    lines = [logs.app_start(), logs.executor_added("1"), logs.executor_added("2", T0 + 15_000)]
    lines += [
        logs.executor_removed("1", T0 + 35_000),
        logs.executor_removed("2", T0 + 45_000, "Worker lost"),
    ]
    lines.append(logs.event("SparkListenerJobStart", **{"Submission Time": T0 + 55_000}))
    lines.append(logs.task_end(9, executor="1", launch=T0 + 56_000))  # late news of a gone one
    _, samples = folded([*lines, logs.app_end()], lateness_s=lateness_s)
    assert [s.cluster.executors for s in samples] == [1, 2, 2, 1, 0, 0, 0]
    assert [s.cluster.executors_lost for s in samples] == [0, 0, 0, 0, 1, 1, 1]


def test_before_spark_1_3_tasks_tell_of_executors_and_cores():
    lines = [logs.app_start()]
    lines += [logs.task_start(i, executor="driver", launch=T0) for i in range(3)]
    lines += [logs.task_end(i, executor="driver", launch=T0) for i in range(3)]
    summary, (sample,) = folded(lines)
    assert (sample.cluster.executors, sample.cluster.capacity) == (1, 3)
    assert summary.executors_added == 0


def test_a_query_that_ends_is_shown_once_more_and_then_gone():
    lines = stream_log()[:-1]
    failed = [
        *lines,
        logs.query_terminated(exception="java.lang.Boom\n at x"),
        logs.app_end(T0 + 200_000),
    ]
    _, samples = folded(failed)
    shown = [(s.operators[0].status, s.operators[0].message) for s in samples if s.operators]
    assert shown[-1] == (OperatorStatus.FAILED, "java.lang.Boom")
    assert all(status == OperatorStatus.RUNNING for status, _ in shown[:-1])
    assert not samples[-1].operators


def test_a_restart_is_counted():
    lines = [*stream_log(4)[:-1], logs.query_terminated(), logs.query_started(run="run-2")]
    lines.append(logs.progress(4, 25, 100, run="run-2"))
    _, samples = folded(lines)
    assert (samples[-1].operators[0].restarts, samples[-1].operators[0].run_id) == (1, "run-2")


def test_two_queries_of_one_name_stay_two_operators():
    lines = [logs.app_start(), logs.progress(0, 1, 5), logs.progress(0, 2, 7, id="other-id-123")]
    _, (sample,) = folded(lines)
    assert [o.name for o in sample.operators] == ["words", "words-other-id"]
    assert [(b.operator, b.rows) for b in sample.batches] == [("words", 5), ("words-other-id", 7)]
