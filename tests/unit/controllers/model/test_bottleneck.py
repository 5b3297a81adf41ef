"""Which operator holds the rows up, and why."""

import pytest
from msgspec.structs import replace

from weir.controllers.model.bottleneck import Cause, bottleneck
from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot

QUICK = OperatorSample(name="quick", cluster="a", latency_p50_s=1.0, load=0.3)


def snapshot(*operators: OperatorSample, executors: int = 2) -> Snapshot:
    clusters = (Cluster(name="a", executors=executors), Cluster(name="b", executors=1))
    return Snapshot(at=0.0, period_s=2.0, clusters=clusters, operators=operators)


@pytest.mark.parametrize(
    ("figures", "cause", "part_s"),
    [
        ({"processing_s": 1.0, "scheduling_s": 6.0, "trigger_s": 10.0}, Cause.TRIGGER, 6.0),
        # A query without a pause between batches waits for its own batches, not for a trigger.
        ({"processing_s": 3.0, "scheduling_s": 5.0, "trigger_s": 0.0}, Cause.PROCESSING, 5.0),
        ({"processing_s": 5.0, "scheduling_s": 2.0, "trigger_s": 2.0}, Cause.PROCESSING, 5.0),
        ({"processing_s": 5.0, "scheduling_s": 2.0, "skew": 4.0}, Cause.UNEVEN, 5.0),
        ({"processing_s": 1.0, "scheduling_s": 2.0, "trigger_s": 2.0}, Cause.UPSTREAM, 5.0),
    ],
)
def test_the_longest_stretch_of_a_rows_way_is_the_cause(figures, cause, part_s):
    slow = OperatorSample(name="slow", cluster="a", latency_p50_s=8.0, load=0.1, **figures)
    found = bottleneck(snapshot(QUICK, slow))
    assert found is not None
    assert (found.operator, found.cause, found.part_s) == ("slow", cause, pytest.approx(part_s))
    assert found.busiest == "quick"


def test_where_the_cores_are_full_they_are_the_cause():
    slow = OperatorSample(name="slow", cluster="b", latency_p50_s=8.0, scheduling_s=7.0, trigger_s=10.0,
                    load=0.2)  # fmt: skip
    heavy = OperatorSample(name="heavy", cluster="b", latency_p50_s=2.0, load=0.9)
    elsewhere = replace(QUICK, load=1.5)
    found = bottleneck(snapshot(elsewhere, slow, heavy))
    assert found is not None
    assert (found.cause, found.load) == (Cause.CORES, pytest.approx(1.1))
    assert found.busiest == "heavy", "of the cluster that is full, not of all"


def test_what_does_not_run_or_report_holds_nothing_up():
    stopped = replace(QUICK, name="stopped", latency_p50_s=90.0, status=OperatorStatus.STOPPED)
    silent = replace(QUICK, name="silent", cluster="b", latency_p50_s=90.0)
    world = snapshot(QUICK, stopped, silent)
    quiet = replace(world.clusters[1], heartbeat_age_s=60.0)
    found = bottleneck(replace(world, clusters=(world.clusters[0], quiet)))
    assert found is not None
    assert found.operator == "quick"


def test_without_a_latency_there_is_no_answer():
    assert bottleneck(snapshot()) is None
    assert bottleneck(snapshot(OperatorSample(name="new", cluster="a"))) is None
