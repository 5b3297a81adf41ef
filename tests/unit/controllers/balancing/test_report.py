"""Sections of RESULTS.md replace themselves and nothing else; figures over time."""

from benchmarks import live_balancing, report
from benchmarks.balancing import Times
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample


def test_a_section_replaces_itself_and_leaves_the_others(tmp_path):
    path = tmp_path / "RESULTS.md"
    report.write("one", "make one", "first \\1 text", path)
    report.write("two", "make two", "other", path)
    report.write("one", "make one", "second", path)
    text = path.read_text()
    assert "first" not in text
    assert text.index("second") < text.index("other")
    assert "Made by `make two`." in text
    assert not list(tmp_path.glob("*.lock"))


def sample(at: float, name: str, busy: float, rows: int) -> ClusterSample:
    cluster = Cluster(name=name, executors=2, cores_per_executor=2, busy_cores=busy)
    counted = OperatorSample(name=live_balancing.END, cluster=name, rows=rows)
    other = OperatorSample(name="extractor", cluster=name, rows=1000)
    return ClusterSample(at=at, period_s=2.0, cluster=cluster, operators=(counted, other))


def test_a_live_run_is_kept_over_time():
    samples = {
        "wide": [sample(t, "wide", 2.0, 0) for t in (98.0, 101.0, 109.0, 112.0, 126.0)],
        "narrow": [sample(t, "narrow", 4.0, 50) for t in (103.0, 108.0, 121.0)],
    }
    series = live_balancing.over_time(samples, began=100.0, ended=125.0)
    assert series == {
        "rows/s out": [10.0, 0.0, 10.0],  # the last bucket is half as long
        "wide busy": [0.5, 0.5, None],
        "narrow busy": [1.0, None, 1.0],
    }
    table = live_balancing.series_table({("extreme", "dodo"): {"series": series}}).splitlines()
    assert table[0] == "| case | policy | figure | 10 s | 20 s | 30 s |"
    assert table[-1] == "| extreme | dodo | narrow busy | 100% | no data | 100% |"


def test_times_are_the_best_the_median_and_the_slowest():
    assert Times.of([0.004, 0.002, 0.009]) == (2.0, 4.0, 9.0)
