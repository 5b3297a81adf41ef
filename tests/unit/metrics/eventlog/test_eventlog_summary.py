"""Events to the summary of a log; broken lines are counted and named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.metrics.eventlog import eventlog_logs as logs
from tests.unit.metrics.eventlog.eventlog_logs import T0, folded, stream_log
from weir.metrics.eventlog.parser import Parser


def test_only_failures_are_failures():
    reasons = [
        "Success",
        "Resubmitted",
        "TaskKilled",
        "TaskCommitDenied",
        "ExceptionFailure",
        "ExecutorLostFailure",
    ]
    summary, _ = folded([logs.task_end(i, reason=r) for i, r in enumerate(reasons)])
    assert (summary.tasks_ended, summary.tasks_failed) == (6, 2)
    assert summary.executor_run_time_ms == 5 * 500  # a resubmitted task repeats its figures


def test_executors_are_told_apart_by_id():
    lines = [logs.executor_added(i, T0) for i in "123"]
    lines += [logs.executor_removed("2", T0 + 1000), logs.executor_removed("2", T0 + 1500)]
    lines += [logs.executor_added("4", T0 + 2000), logs.executor_added("5", T0 + 2000)]
    summary, _ = folded(lines)
    assert (summary.executors_added, summary.executors_removed, summary.executors_peak) == (5, 1, 4)


def test_streaming_figures():
    summary, _ = folded(stream_log())
    assert (summary.queries, summary.progress_events, summary.input_rows) == (1, 12, 1200)


def test_a_name_that_is_not_first_and_spaces_are_read():
    parser = Parser()
    event = parser.parse(b'{ "Timestamp" : 5, "Event" : "SparkListenerApplicationEnd" }')
    assert event.at_ms == 5
    assert parser.broken == 0


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b'{"Event":"SparkListenerJobEnd","Job ID":',  # cut off, of an event nobody reads
        b'{"Event":"SparkListenerJobEnd","Job ID":1}}',
        b'{"Event":"SparkListenerTaskEnd"}',  # nothing of what a task's end has
        b'{"Event":"Spark',
        b'{"no event":1}',
        b"[1,2]",
        b'\xff\xfe{"Event":"X"}',
        b"[" * 100_000,
        b'{"Event":"SparkListenerApplicationEnd","Timestamp":1' + b"0" * 40 + b"}",
    ],
)
def test_broken_lines_are_counted_and_named(line):
    parser = Parser()
    assert parser.parse(line, "part", 7) is None
    assert parser.broken == 1
    assert (parser.faults[0].part, parser.faults[0].line) == ("part", 7)
    assert parser.faults[0].reason


@given(st.integers(0, 400))
@settings(max_examples=examples(40))
def test_a_line_cut_anywhere_is_broken(at):
    line = logs.task_end(1)
    parser = Parser()
    parser.parse(line[: at % len(line)] or b"{")
    assert parser.broken == 1
