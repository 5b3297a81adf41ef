"""DRS's live experiments with ideal queues in place of Spark, and verdicts that follow figures."""

from itertools import pairwise

import numpy as np
import pytest

from tests.support.queues import Clock, IdealNetwork, through
from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import drs_allocations as six
from weir.pipeline.experiments import drs_moments as moments
from weir.pipeline.experiments import drs_moving as moving
from weir.pipeline.experiments import drs_rates as rates
from weir.pipeline.experiments import drs_rows
from weir.pipeline.experiments.drs_driven import drive
from weir.pipeline.experiments.drs_figures import measured, network_of, sojourns, words
from weir.pipeline.experiments.drs_points import OPERATORS, VLD, Point, arrivals_of
from weir.pipeline.experiments.drs_rows import Arrival, Row, Served, even, messages, poisson, varied
from weir.pipeline.workloads.frequent_patterns import ENOUGH

SEEN = tuple((n, round(0.8 * n)) for n in (24, 48, 52, 0, 54, 27, 0, 50, 25, 27, 0, 52))


@pytest.fixture(autouse=True)
def few_frames(monkeypatch):
    """What the extractor finds, without its computing."""
    monkeypatch.setattr(drs_rows, "seen", lambda: SEEN)


def as_measured(point: Point):
    """The point on ideal queues."""
    arrivals, operators = arrivals_of(point), OPERATORS[point.application]
    network, served = through(arrivals, operators, point.allocation)
    found = measured(
        served, operators, point.allocation, point.most, network.began, point.skip_s, point.length_s
    )
    return {**found, "application": point.application, "late_s": 0.0, "overhead_s": 0.0}


def test_times_have_the_rate_they_should() -> None:
    assert even(3.0, 1.0, (2, 1, 4)).tolist() == [0.0, 0.5, 1.0, 2.0, 2.25, 2.5, 2.75]
    assert len(varied(400.0, 1.0, 25.0, 1.0, seed=1)) == pytest.approx(13 * 400, rel=0.1)
    gaps = np.diff(poisson(400.0, 20.0, seed=1))
    assert gaps.mean() == pytest.approx(1 / 20, rel=0.05)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)


def test_a_message_that_leaves_takes_back_what_it_brought() -> None:
    detector = drs_rows._Detector()
    for _ in range(ENOUGH):
        detector.take(["a", "b"], 1)
    assert detector._reported == {"a b"}  # a and b are in it
    assert detector.take(["a", "b"], -1)[0] == (0, ())
    assert detector._reported == set()
    rows = messages(poisson(20.0, 20.0, seed=1), six_cost())
    assert {r.operator for a in rows for r in a.row.then} == {"detect"}
    assert any(t.operator == "detect" for a in rows for r in a.row.then for t in r.then)  # the loop


def six_cost():
    return drs_rows.PatternCost(generate_s=0.2, detect_s=0.04, report_s=0.15)


def test_a_row_is_done_when_the_last_that_follows_from_it_is() -> None:
    leaf = Row("b", 2.0)
    _, served = through([Arrival(1.0, Row("a", 1.0, (leaf, leaf)))], ("a", "b"), (1, 1))
    at, complete, added = sojourns(served, "a")
    assert (complete[0], added[0]) == (5.0, 1.0 + 2.0 + 4.0)
    assert at[0] == 101.0


def test_what_arrives_is_known_of_an_operator_that_does_not_keep_up() -> None:
    """One of two rows waits: by the rows that were done, half as many would arrive."""
    served = [
        *(Served(i, "a", float(i), float(i), i + 0.1, {"b": 2}) for i in range(10)),
        *(Served(i, "b", float(i), float(i), i + 1.0, {}) for i in range(10)),
    ]
    network = network_of(served, ("a", "b"), 1.0)
    assert network.stations[1].arrivals == pytest.approx(2.0)
    assert network.stations[1].offered == pytest.approx(2.0)


def test_figures_6_and_7_on_ideal_queues() -> None:
    found = {p.key: as_measured(p) for p in six.points(quick=False)}
    outcome = six.conclude_6(False, found)
    assert outcome.verdict is not ClaimVerdict.NOT
    assert "VLD: DRS with M/M/k recommends 10:11:1" in outcome.reason
    assert "FPD: DRS with M/M/k recommends 6:13:3" in outcome.reason
    outcome = six.conclude_7(False, found)
    assert len(outcome.charts) == 2
    for chart in outcome.charts:
        assert all(a < b for a, b in pairwise(chart.x))
    worst = {**found}
    for key, row in worst.items():
        worst[key] = {**row, "mean_s": 10.0 - row["mean_s"], "std_s": 10.0 - row["std_s"]}
    assert six.conclude_6(False, worst).verdict is ClaimVerdict.NOT
    assert six.conclude_7(False, worst).verdict is ClaimVerdict.NOT


def test_figure_10_on_ideal_queues() -> None:
    found = {
        f"rate-{rate}": [as_measured(p) for p in both]
        for rate, both in moments.points(False).items()
    }
    outcome = moments.conclude(False, found)
    assert "they prefer 3:3:1 and 2:4:1" in outcome.reason
    assert "At 6 frames/s 2:4:1 is measured best" in outcome.reason
    right = {"mean_s": 1.0, "added_s": 2.0, "gigk_s": 1.9, "mmk_s": 1.5}
    wrong = {**right, "mean_s": 1.1, "gigk_s": 2.1, "mmk_s": 1.4}
    made = {k: [{**a, **right}, {**b, **wrong}] for k, (a, b) in found.items()}
    assert moments.conclude(False, made).verdict is ClaimVerdict.PARTLY  # M/M/k's share stays
    made["rate-6"] = [{**r, "mmk_s": r["mmk_s"] - 0.3} for r in made["rate-6"]]
    assert moments.conclude(False, made).verdict is ClaimVerdict.REPRODUCED


def test_figure_8_on_ideal_queues() -> None:
    clock, operators = Clock(), OPERATORS[VLD]
    networks = {
        words(a): (
            IdealNetwork(clock, operators, a),
            moving.at_minute(moving.CHANGE_AT, operators, six.MOST),
        )
        for a in moving.STARTS[VLD]
    }
    arrivals = arrivals_of(moving.point(VLD, quick=True))
    found = drive(networks, arrivals, moving.MINUTES, moving.minute_s(True), now=clock.now,
                  sleep=clock.sleep)  # fmt: skip
    assert {r["allocation"] for r in found.values()} == {"10:11:1"}
    assert {r["left"] for r in found.values()} == {0}
    assert moving.conclude(True, {VLD: found}).verdict is ClaimVerdict.REPRODUCED
    found["8:12:2"]["allocation"] = "8:12:2"
    assert moving.conclude(True, {VLD: found}).verdict is ClaimVerdict.PARTLY


def test_figure_9_on_ideal_queues() -> None:
    minute_s, speed = rates.sizes(True)
    found = {}
    for pattern, per_s in rates.RATES.items():
        clock = Clock()
        times = even(minute_s * speed * len(per_s), minute_s * speed, per_s)
        arrivals = [a.faster(speed) for a in drs_rows.video(times, rates.COST)]
        networks = {
            str(w): (
                IdealNetwork(clock, drs_rows.VIDEO, rates.START),
                rates.watching(w, per_s, speed),
            )
            for w in rates.WINDOWS
        }
        found[pattern] = drive(networks, arrivals, len(per_s), minute_s, now=clock.now,
                               sleep=clock.sleep)  # fmt: skip
    outcome = rates.conclude(True, found)
    assert outcome.verdict is not ClaimVerdict.NOT
    for window in rates.WINDOWS:
        assert None not in rates.answers(found[rates.LONG][str(window)]["changes"])
    for runs in found.values():
        for run in runs.values():
            run["changes"] = []
    assert rates.answers([]) == [None, None, None]
    assert rates.conclude(True, found).verdict is ClaimVerdict.PARTLY  # nothing came too often


def test_a_change_counts_only_in_the_right_direction() -> None:
    changes = [
        {"minute": 5, "from": "3:5:1", "to": "3:4:1"},
        {"minute": 8, "from": "3:4:1", "to": "3:3:1"},
        {"minute": 9, "from": "3:3:1", "to": "4:7:1"},
        {"minute": 30, "from": "4:7:1", "to": "3:4:1"},
    ]
    assert rates.answers(changes) == [3, 9, None]
