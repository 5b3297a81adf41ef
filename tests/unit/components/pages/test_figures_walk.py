"""Every page's figures against the recorded samples, worked out from the files alone.

Nothing here asks the code under test what a figure is: rows come from Parquet, and sums, peaks
and shares are reckoned row by row. A page that is added has to be named here.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.support.recorded_run import recorded
from tests.unit.components.pages.recorded_figures import (
    AT,
    WINDOW_S,
    Rows,
    agrees,
    at_moment,
    cores,
    found_load,
    of_clusters,
)
from tests.unit.components.pages.test_history_past_pages import components, plain
from weir.components.live.recommendation_rows import figure_rows
from weir.components.live.world import World
from weir.components.pages.base import Visit
from weir.components.pages.compare.view import comparison
from weir.components.pages.history.view import Query, listing
from weir.components.pages.registry import PAGES
from weir.components.pages.replay import child as replay_child
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.page import visit
from weir.components.pages.replay.view import world_at
from weir.components.pages.trends.view import METRICS, TrendQuery, trend
from weir.components.pages.what_if.child import Policy, Simulated, WhatIfAnswer
from weir.components.pages.what_if.view import rows as policy_rows
from weir.components.web.router import draw
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.model.decision import Prediction, Reason, Scale
from weir.controllers.simulator import RECORDED, Calibrated, what_if
from weir.controllers.simulator.calibrate import calibrate_world
from weir.controllers.simulator.recording import read_recording, recorded_series

TARGET_S = 5.0
WITHOUT = {"lab", "audit", "settings", "users", "tune", "sign_in"}
"""Pages that show no figure of a sample: what people did and set, and what was simulated."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("walk")
    return root / recorded(root)


@pytest.fixture(scope="module")
def rows(folder: Path) -> Rows:
    return Rows(folder)


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    """Scalers and planners are asked here and not in a process beside, which takes long to begin."""
    found = Library(folder.parent)
    replay_child._library.insert(0, found)
    setattr(found.helper, "ask", lambda _timeout_s, function, *args: function(*args))  # noqa: B010
    yield found
    replay_child._library.remove(found)
    found.close()


def shown(tree: Any) -> dict[str, str]:
    """All live figures in a drawn page, also in the parts that Dash has nothing to do with."""
    found: dict[str, str] = {}
    for component in components(tree):
        props = component["props"]
        if "data-tree" in props:
            found |= shown(json.loads(props["data-tree"]))
        if "data-live" in props:
            found[props["data-live"]] = str(props.get("children") or "")
    return found


def opened(library: Library, run: str, path: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A page of the replay as somebody gets it, and its live figures."""
    address = f"/replay/{run}{path}"
    site: Any = SimpleNamespace(pages=PAGES, library=library)
    live = World(at=AT + 9999, target_latency_s=TARGET_S)
    search = f"?at={round(AT * 1000)}"
    data, drawn = visit(
        Visit(site=site, live=live, place=PAGES.place(address), path=address, search=search)
    )
    return plain(data), shown(plain(drawn))


def check_charts(rows: Rows, charts: list[dict[str, Any]]) -> int:
    """The points of every live chart, moment by moment; how many charts."""
    keyed = {moment: rows.at(moment) for moment in rows.moments if AT - WINDOW_S <= moment <= AT}
    count = 0
    for chart in charts:
        if chart["key"] == "balance/distance":  # at moments of its own, by the planners
            continue
        assert chart["x"] == [round(m * 1000) for m in keyed], chart["key"]
        owner, _, what = chart["key"].partition("/")
        for i, (clusters, operators) in enumerate(keyed.values()):
            values = [trace[i] for trace in chart["y"]]
            expected = at_moment(owner, what, clusters, operators, chart)
            for value, wanted in zip(values, expected, strict=True):
                same = value is None if wanted is None else value == pytest.approx(wanted, rel=1e-4)
                assert same, (chart["key"], i)
        count += 1
    return count


LIVE_PAGES = {
    "control_room": ("/", 30, 10),
    "balance": ("/balance", 4, 0),
    "scale": ("/scale/narrow", 3, 1),
    "cluster": ("/cluster/narrow", 20, 6),
    "operator": ("/operator/topic_count", 15, 7),
}
"""Address, fewest figures and charts that are checked on it."""


def check_live(kind: str, rows: Rows, library: Library, run: str) -> None:
    path, figures, charts = LIVE_PAGES[kind]
    data, texts = opened(library, run, path)
    expected = of_clusters(rows)
    known = [key for key in texts if key in expected]
    for key in known:
        agrees(key, texts[key], expected[key])
    unknown = {key.rpartition("/")[2] for key in texts} - {k.rpartition("/")[2] for k in known}
    assert unknown <= NO_NUMBERS, f"{kind}: nobody checks {unknown - NO_NUMBERS}"
    assert len(known) >= figures, (kind, known)
    assert check_charts(rows, data["charts"]) >= charts, kind
    if data.get("map"):
        check_map(rows, data["map"])


NO_NUMBERS = {
    "status", "message", "can", "trigger", "lease", "mode", "narrow", "wide", "load-where",
    "executors-most", "asked", "rate", "limits", "scaler", "aims", "steps", "followed", "says",
    "why", "rule", "answer", "error", "planner", "auto", "periods", "top-where", "reach-by",
    "reach", "index", "state-rows", "state-bytes",
}  # fmt: skip
"""Words, settings, and what scalers, planners and models make of it: tested where they are made."""


def check_map(rows: Rows, drawn: dict[str, Any]) -> None:
    clusters, operators = rows.at(AT)
    for o in operators:
        found, here = drawn["operators"][o["name"]], cores(clusters[o["cluster"]])
        assert found["busy"] == pytest.approx(o["busy_cores"] / here, abs=0.006)
        assert found["cluster"] == o["cluster"]
        assert found["queue"] == pytest.approx(o["queue_rows"], rel=0.01)
    readers = {(d, o["name"]): o["arrival_rows_per_s"] for o in operators for d in o["reads"]}
    assert {(e["dataset"], e["target"]) for e in drawn["edges"] if e["target"]} >= set(readers)
    for edge in drawn["edges"]:
        if (edge["dataset"], edge["target"]) in readers:
            rate = readers[edge["dataset"], edge["target"]]
            assert edge["rate"] == pytest.approx(rate, rel=0.01)


def check_trends(rows: Rows, library: Library, run: str) -> None:
    for metric in METRICS:
        asked = TrendQuery(since=AT - 300, until=AT, clusters=("narrow", "wide"), metric=metric)
        past = library.past
        lines = trend(asked, ["narrow", "wide"], lambda *_: [], AT, TARGET_S, past).plot["lines"]
        for line in lines:
            for x, y in zip(line["x"], line["y"], strict=True):
                clusters, operators = rows.at(x / 1000)
                chart, trace = {"load": ("load", 0), "busy": ("load", 1), "latency": ("latency", 0),
                                "latency-max": ("latency", 1), "queue": ("queue", 0),
                                "arriving": ("throughput", 0), "processed": ("throughput", 1),
                                "executors": ("executors", 0)}[metric]  # fmt: skip
                expected = at_moment(line["name"], chart, clusters, operators, {})[trace]
                assert y == pytest.approx(expected, rel=1e-4), (metric, x)
            assert len(line["x"]) == 151


def check_history(rows: Rows, library: Library, run: str) -> None:
    (row,) = listing(library.runs(), Query(), AT).rows
    assert row.samples == f"{len(rows.clusters):,}"
    agrees("duration", row.duration, rows.moments[-1] - rows.moments[0])
    assert row.start == rows.moments[0]


def slowest(rows: Rows) -> np.ndarray:
    """The latency of the slowest operator at each moment."""
    by_moment: dict[float, float] = {}
    for o in rows.operators:
        by_moment[o["at"]] = max(by_moment.get(o["at"], 0.0), o["latency_p50_s"])
    return np.array([by_moment[m] for m in rows.moments])


def check_compare(rows: Rows, library: Library, run: str) -> None:
    found = {r.label: r.a for r in comparison(library.run(run), library.run(run), TARGET_S).rows}
    late = slowest(rows)
    hours = sum(c["executors"] * c["period_s"] for c in rows.clusters) / 3600
    came = sum(o["arrival_rows_per_s"] * 2.0 for o in rows.operators if o["reads"] == ["tweets"])
    expected = {
        "Duration": rows.moments[-1] - rows.moments[0],
        "Rows that arrived": came,
        "Mean rate": came / (2.0 * len(rows.moments)),
        "Latency, median": float(np.percentile(late, 50)),
        "Latency, 95th percentile": float(np.percentile(late, 95)),
        "Latency, 99th percentile": float(np.percentile(late, 99)),
        "Time over target": float((late > TARGET_S).mean()),
        "Executors, mean": hours * 3600 / (2.0 * len(rows.moments)),
        "Executors, peak": max(
            sum(c["executors"] for c in rows.at(m)[0].values()) for m in rows.moments[::50]
        ),
        "Executor-hours": hours,
        "Failed tasks": sum(c["failed_tasks"] for c in rows.clusters),
    }
    for label, value in expected.items():
        agrees(label, found[label], value)
    assert set(found) - set(expected) == {"Actions"}
    assert found["Actions"] == "1", "one scaling was recorded"


def check_what_if(rows: Rows, library: Library, run: str) -> None:
    samples, _ = library.run(run).last_samples()
    series = recorded_series(read_recording(samples, "narrow"))
    summary = what_if(Calibrated(world=calibrate_world(read_recording(samples, "narrow"))))
    done = Simulated(
        policy=Policy(label="what was done", scaler=RECORDED),
        summary=summary.summary, series=series, band=None,
    )  # fmt: skip
    answer = WhatIfAnswer(
        cluster="narrow", target_latency_s=TARGET_S, began_at=series.time[0], hours=1.0, whole=True,
        errors=None, fit_errors=None, recorded=series, replayed=done, policy=(),
        policy_errors=None, others=(),
    )  # fmt: skip
    measured = next(r for r in policy_rows(answer) if not r.simulated)
    late = [
        max(o["latency_p50_s"] for o in rows.at(m)[1] if o["cluster"] == "narrow")
        for m in rows.moments
    ]
    for at, share in ((0, 50), (1, 95), (2, 99)):
        agrees(f"p{share}", measured.cells[at][0], float(np.percentile(late, share)))
    agrees("over", measured.cells[3][0], float((np.array(late) > TARGET_S).mean()))
    executors = [rows.at(m)[0]["narrow"]["executors"] for m in rows.moments]
    agrees("executors", measured.cells[4][0], float(np.mean(executors)))
    agrees("peak", measured.cells[5][0], max(executors))


def check_recommendation(rows: Rows, library: Library, run: str) -> None:
    world = world_at(library.run(run), AT, TARGET_S)
    scale = Scale(cluster="narrow", executors=2, before=1, reason=Reason(text="Full."),
                  prediction=Prediction(load={"narrow": 0.4}))  # fmt: skip
    made = new_recommendation(scale, world.snapshot, id="r1", source="drs", now=AT, ttl_s=60.0)
    control = msgspec.structs.replace(world.control, fetched=made)
    world = msgspec.structs.replace(world, control=control)
    said = json.dumps(plain(draw(world, "/recommendation/r1")), ensure_ascii=False)
    clusters, operators = rows.at(AT)
    own = [o for o in operators if o["cluster"] == "narrow"]
    for value in (
        f"{100 * found_load(own, clusters['narrow']):.0f} %",
        f"{max(o['processing_s'] + o['scheduling_s'] for o in own):.1f} s",
    ):
        assert value in said, value
    assert "cluster/narrow/own-latency" in {row.now for row in figure_rows(made)}, "the same now"


def check_replay(rows: Rows, library: Library, run: str) -> None:
    line = library.timeline(run)
    late = slowest(rows)
    assert max(v for v in line.values if v is not None) == pytest.approx(late.max())
    assert line.first_at == rows.moments[0]
    assert line.last_at == rows.moments[-1]
    width = (line.last_at - line.first_at) / len(line.values)
    for at, value in zip(line.at, line.values, strict=True):
        near = [v for m, v in zip(rows.moments, late, strict=True) if abs(m - at) <= width]
        assert value is None or any(value == pytest.approx(v) for v in near)


CHECKS: dict[str, Callable[[Rows, Library, str], None]] = {
    "trends": check_trends,
    "history": check_history,
    "compare": check_compare,
    "what_if": check_what_if,
    "recommendation": check_recommendation,
    "replay": check_replay,
}


def test_every_page_says_what_was_recorded(rows: Rows, library: Library, folder: Path) -> None:
    for kind in PAGES.kinds:
        if kind in LIVE_PAGES:
            check_live(kind, rows, library, folder.name)
        elif kind in CHECKS:
            CHECKS[kind](rows, library, folder.name)
        else:
            assert kind in WITHOUT, f"nobody checks the figures of {kind}"
