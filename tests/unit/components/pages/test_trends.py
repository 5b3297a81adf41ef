"""Trends: what an address asks for, which samples answer it, and where the line is broken."""

import random

import pytest

from tests.support.models import demo, sample_of
from weir.components.live.charts import cluster_charts
from weir.components.pages.trends.render import render
from weir.components.pages.trends.view import METRICS, TrendQuery, filled, read_query, stitch, trend
from weir.components.ui.trees import as_json
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.model.brief import Brief, brief_of
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample

NOW = 1_800_000_000.0
KNOWN = ["narrow", "wide one"]


def sample(at: float, load: float, period_s: float = 2.0, cluster: str = "narrow") -> Brief:
    report = ClusterSample(
        at=at,
        period_s=period_s,
        cluster=Cluster(name=cluster, executors=2),
        operators=(OperatorSample(name="count", cluster=cluster, load=load),),
    )
    return brief_of(report)


def tiered(cluster, since, until, tier):
    """A store that has reports each 10 s, and every tier as far back as it is kept."""
    step = int(tier) or 10
    first = max(since, NOW - KEPT_S[tier])
    ends = [t for t in range(int(first // step + 1) * step, int(until) + 1, step) if t <= NOW]
    return [sample(float(t), 1.0, float(step), cluster) for t in ends if since <= t <= until]


def test_the_address_says_all():
    asked = read_query("/trends/queue/2d/narrow,wide%20one", KNOWN, NOW)
    assert (asked.metric, asked.span, asked.clusters) == ("queue", "2d", ("narrow", "wide one"))
    assert (asked.since, asked.until) == (NOW - 172_800, NOW)
    assert asked.path() == "/trends/queue/2d/narrow,wide%20one"
    assert read_query("/trends", KNOWN, NOW).clusters == tuple(KNOWN)
    own = read_query(f"/trends/load/{int(NOW) - 100}-{int(NOW) + 50}", KNOWN, NOW)
    assert (own.since, own.until) == (NOW - 100, NOW), "what lies ahead is cut off"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/trends/beauty", "no figure 'beauty'"),
        ("/trends/load/yesterday", "'yesterday' is no range"),
        ("/trends/load/200-100", "ends before it begins"),
        (f"/trends/load/{int(NOW) + 9}-{int(NOW) + 99}", "lies ahead"),
        ("/trends/load/1h/nobody", "no cluster 'nobody'"),
        ("/trends/load/1h/narrow/more", "no address"),
        ("/trends/load/1h/" + ",".join(f"c{i}" for i in range(21)), "at most 20"),
    ],
)
def test_nonsense_is_said(path, said):
    with pytest.raises(InvalidInput, match=said):
        read_query(path, [*KNOWN, *(f"c{i}" for i in range(21))], NOW)


@pytest.mark.parametrize(("span_s", "step"), [(900, 10), (18_000, 60), (172_800, 900)])
def test_the_finest_tier_that_reaches_back_answers(span_s, step):
    found = stitch(tiered, "narrow", NOW - span_s + 1, NOW, NOW)
    assert found[1].at - found[0].at == step
    assert found[0].at <= NOW - span_s + 1 + step
    assert found[-1].at == NOW, "the young end comes from the finer tiers"
    times = [s.at for s in found]
    assert times == sorted(set(times)), "no moment twice"


def test_a_coarse_tier_is_continued_by_finer_ones():
    def late(cluster, since, until, tier):
        if tier is Tier.HOUR:  # the engine has not rolled up the last hour yet
            until = min(until, NOW - 3600)
        return tiered(cluster, since, until, tier)

    found = stitch(late, "narrow", NOW - 86400 * 10, NOW, NOW)
    steps = {s.period_s for s in found if s.at > NOW - 3600}
    assert 3600.0 not in steps
    assert 900.0 in steps


def test_time_without_reports_is_a_gap():
    reports = [sample(NOW - 20, 1.0), sample(NOW - 18, 2.0), sample(NOW - 4, 3.0)]
    asked = TrendQuery(since=NOW - 900, until=NOW, clusters=("narrow",), span="15m")
    read = lambda cluster, since, until, tier: reports  # noqa: E731
    (line,) = trend(asked, KNOWN, read, NOW, 5.0).plot["lines"]
    assert line["y"] == [50.0, 100.0, None, 150.0]
    assert line["x"][2] == round((NOW - 11) * 1000)


def test_it_is_told_in_words_too():
    asked = TrendQuery(since=NOW - 900, until=NOW, clusters=("narrow", "wide one"), span="15m")
    read = lambda cluster, *_: [sample(NOW, 1.0)] if cluster == "narrow" else []  # noqa: E731
    found = trend(asked, KNOWN, read, NOW, 5.0)
    assert found.summary == ("Load. narrow: 50 to 50, last 50 %; wide one: nothing reported.")
    drawn = as_json([render(found)]).decode()
    assert "/trends/latency/15m/narrow,wide%20one" in drawn
    assert "/trends/load/15m/narrow" in drawn, "a click takes a cluster away"
    nothing = trend(asked, KNOWN, lambda *_: [], NOW, 5.0)
    assert "Nothing was reported in this range." in as_json([render(nothing)]).decode()


def test_recorded_runs_fill_what_the_store_lacks():
    hours = [sample(NOW - 3600.0 * i, 1.0, 3600.0) for i in (9, 8, 3, 2, 1)]
    recorded = [sample(NOW - 600.0 * i, 2.0, 600.0) for i in range(100, 0, -1)]
    found = filled(hours, recorded)
    own = {s.at for s in hours}
    added = [NOW - s.at for s in found if s.at not in own]
    assert all(a >= 36_000 or 14_400 <= a < 28_800 or a < 3600 for a in added), (
        "before it began, where it has a gap, and after its end"
    )
    assert {60_000.0, 20_400.0, 600.0} <= set(added)
    times = [s.at for s in found]
    assert times == sorted(times)
    assert filled([], recorded) == recorded
    assert filled(hours, []) == hours


def test_every_figure_is_the_one_that_the_live_charts_draw():
    report = sample_of(demo()[1], 400.0, NOW, 2.0, random.Random(1))
    charts = {c.key: c for c in cluster_charts("narrow", 5.0)}
    for name, metric in METRICS.items():
        asked = TrendQuery(since=NOW - 9, until=NOW, clusters=("narrow",), metric=name)
        found = trend(asked, KNOWN, lambda *_: [brief_of(report)], NOW, 5.0)
        chart = charts[f"narrow/{metric.chart}"]
        (value,) = found.plot["lines"][0]["y"]
        assert any(v == pytest.approx(value, rel=1e-4) for v in chart.values(report)), name
        assert found.plot["unit"] == chart.unit
