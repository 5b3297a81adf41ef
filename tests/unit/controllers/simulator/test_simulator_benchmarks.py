"""What the benchmarks of simulator and tuning build on."""

import math
from pathlib import Path

import numpy as np

from benchmarks import flink_peer
from benchmarks import simulator as on_runs
from benchmarks import tuning as on_traces
from benchmarks.record_demo import PROFILE, rate_at
from tests.unit.controllers.simulator.simulator_worlds import pipeline, recorded
from weir.controllers.simulator import Trace
from weir.metrics.runs.writer import LiveRun

DAY = 86_400.0


def trace(days: int) -> Trace:
    """A load that swings by the day and grows from day to day."""
    times = tuple(300.0 * i for i in range(288 * days))
    rates = tuple(100.0 * (1 + t // DAY) + 50.0 * math.sin(t / DAY * 2 * math.pi) for t in times)
    return Trace(times=times, rows_per_s=rates)


class TestFlinkPeer:
    def test_a_crash_of_the_fixed_run_sets_the_cost_but_not_the_arrivals(self) -> None:
        rates = np.full(400, 400.0)
        rates[200:203], rates[203:206] = np.nan, 1200.0  # down, then catching up
        run = flink_peer.MeasuredRun(rates, np.full(400, 1.2), np.zeros(400), np.full(400, 24.0))
        world = flink_peer.calibrate(run)
        assert world.operators[0].cost_s_per_row[0] == 24.0 / 1200.0
        assert set(world.operators[0].rows_per_s) == {400.0}
        # 0.5 s until the trigger and a third of a second of work are not fixed.
        assert math.isclose(world.operators[0].overhead_s, 1.2 - 0.5 - 1.0 / 3.0)

    def test_what_was_not_reported_is_neither_late_nor_free(self) -> None:
        latency = np.array([1.0, np.nan, 9.0, 1.0])
        machines = np.array([24.0, np.nan, 12.0, 12.0])
        run = flink_peer.MeasuredRun(np.full(4, 1.0), latency, np.zeros(4), machines)
        assert (run.over, run.silent) == (1 / 3, 0.25)
        assert math.isclose(run.machine_hours, 72.0 * 10.0 / 3600.0)


class TestTuning:
    def test_searched_and_judged_days_are_apart(self) -> None:
        whole = trace(12)
        searched = on_traces.days(whole, *on_traces.SEARCHED_DAYS)
        judged = on_traces.days(whole, *on_traces.JUDGED_DAYS)
        assert searched.times[0] == 0.0
        assert searched.times[-1] == 2 * DAY - 300.0
        assert (judged.times[0], judged.times[-1]) == (7 * DAY, 9 * DAY - 300.0)

    def test_days_that_are_judged_do_not_set_the_cost(self) -> None:
        whole = trace(12)
        late = tuple(r * (9.0 if t >= 7 * DAY else 1.0) for t, r in zip(whole.times, whole.rows_per_s, strict=True))  # fmt: skip
        (a, b), (c, d) = (
            on_traces.worlds(w) for w in (whole, Trace(times=whole.times, rows_per_s=late))
        )
        assert a == c
        assert b.operators[0].cost_s_per_row[0] == a.operators[0].cost_s_per_row[0]
        assert d.operators[0].rows_per_s[5] > 8 * b.operators[0].rows_per_s[5]


def test_a_run_is_told_with_its_length_and_its_errors(tmp_path: Path) -> None:
    samples = recorded(pipeline(periods=200))
    run = LiveRun.create(tmp_path, samples[0].at)
    for sample in samples:
        run.add(sample)
    run.flush(complete=True)
    text, good = on_runs.run_errors(run.folder)
    assert good
    assert "6.6 minutes, 400 samples every 2 s of 2 clusters and 2 operators" in text
    assert "2 changes of executors" in text
    assert "Modes: not recorded" in text
    for word in ("| wide | 100 |", "| narrow | 100 |", "| extractor |", "| all moments of all"):
        assert word in text


def test_the_profile_of_a_recorded_demo() -> None:
    shares = [share for share, _ in PROFILE]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    first, second = ([rate_at(i / 200) for i in span] for span in (range(100), range(100, 200)))
    assert max(first) == max(second) == 250.0  # what is judged was seen before
    assert len({round(r) for r in second}) > 10
