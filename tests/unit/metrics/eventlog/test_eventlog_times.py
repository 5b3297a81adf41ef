"""Times and numbers in a log that cannot be: the samples stay bounded."""

import re
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.unit.metrics.eventlog import eventlog_logs as logs
from tests.unit.metrics.eventlog.eventlog_logs import T0, folded, stream_log
from weir.metrics.eventlog.tables import RunWriter, read_samples
from weir.metrics.eventlog.timeline import LogTimeline


def test_a_task_from_years_before_does_not_make_years_of_samples():
    old = logs.task_end(1, launch=1_532_512_561_948)
    summary, samples = folded([logs.app_start(), old, logs.app_end(T0 + 30_000)])
    assert len(samples) == 4
    assert samples[0].cluster.busy_cores == pytest.approx(0.05)
    assert summary.executor_run_time_ms == 500


@pytest.mark.parametrize("wild", [T0 + 10**11, 2**52, -5, 0])
def test_one_wild_time_does_not_move_the_clock(wild):
    lines = [logs.app_start(), logs.task_end(1, launch=wild)]
    lines += [logs.task_end(2 + n, launch=T0 + 1000 * n) for n in range(5)]
    _, samples = folded([*lines, logs.app_end(T0 + 30_000)])
    assert [s.at for s in samples] == [T0 / 1000 + 10 * n for n in range(1, 5)]


def test_of_a_long_silence_the_ends_are_kept():
    week = 7 * 86_400_000
    late = [logs.task_end(n, launch=T0 + week + n) for n in (1, 2)]
    _, samples = folded([logs.app_start(), logs.task_end(0), *late])
    assert len(samples) < 130
    assert samples[-1].at == T0 / 1000 + week / 1000 + 10
    assert sum(o.tasks for s in samples for o in s.operators) == 3


EXTREME = st.sampled_from([b"-1", b"0", b"9007199254740992", b"-9007199254740992", b"1e3", b"null"])


@given(st.lists(st.tuples(st.integers(0, 10_000), EXTREME), min_size=1, max_size=8), st.booleans())
@settings(max_examples=examples(25))
def test_no_number_in_a_log_is_trusted(changes, streaming):
    """Any number replaced by an extreme one: never an error, never samples without end."""
    data = logs.text(stream_log(4) if streaming else logs.batch_log(6))
    for where, value in changes:
        numbers = list(re.finditer(rb"(?<=[:\[])-?\d+(?=[,}\]])", data))
        spot = numbers[where % len(numbers)]
        data = data[: spot.start()] + value + data[spot.end() :]
    _, samples = folded(data.splitlines())
    assert len(samples) < 1000
    with TemporaryDirectory() as folder, RunWriter(folder) as writer:
        for sample in samples:
            writer.add(sample)
        assert read_samples(writer.commit("run", {})) == samples


def test_open_periods_are_bounded():
    timeline = LogTimeline(period_ms=10_000, lateness_ms=60_000)
    for n in range(5000):
        timeline.saw(T0 + n * 1000)
        timeline.at(T0 + n * 1000).busy_ms += 1
        assert sum(1 for _ in timeline.ripe()) <= 1
        assert len(timeline._open) <= 8
