"""Every page's figures against the recorded samples, worked out from the files alone.

Nothing here asks the code under test what a figure is: rows come from Parquet, and sums, peaks
and shares are reckoned row by row. A page that is added has to be named here.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pyarrow.dataset as ds
import pytest

from tests.support.recorded_run import T0, recorded
from tests.unit.components.pages.test_history_past_pages import components, plain
from weir.components.live.recommendation_words import figure_rows
from weir.components.live.world import World
from weir.components.pages.base import Visit
from weir.components.pages.compare.view import comparison
from weir.components.pages.history.view import Query, listing
from weir.components.pages.registry import PAGES
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
from weir.controllers.simulator.calibrate import calibrated_world
from weir.controllers.simulator.recording import read_recording, recorded_series

AT = T0 + 1500.0
TARGET_S = 5.0
WINDOW_S = 900.0
WITHOUT = {"lab", "audit", "settings", "users", "tune", "sign_in"}
"""Pages that show no figure of a sample: what people did and set, and what was simulated."""

Row = dict[str, Any]
Expected = dict[str, float]


class Rows:
    """The run as it lies on disk."""

    def __init__(self, folder: Path) -> None:
        self.clusters = _read(folder, "clusters")
        self.operators = _read(folder, "operators")
        self.moments = sorted({r["at"] for r in self.clusters})

    def at(self, moment: float) -> tuple[dict[str, Row], list[Row]]:
        """Both clusters report at the same instants here."""
        clusters = {r["name"]: r for r in self.clusters if r["at"] == moment}
        return clusters, [r for r in self.operators if r["at"] == moment]


def _read(folder: Path, table: str) -> list[Row]:
    found: list[Row] = ds.dataset(folder / table, format="parquet").to_table().to_pylist()
    return sorted(found, key=lambda r: r["at"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("walk")
    return root / recorded(root)


@pytest.fixture(scope="module")
def rows(folder: Path) -> Rows:
    return Rows(folder)


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    found = Library(folder.parent)
    yield found
    found.close()


def cores(cluster: Row) -> float:
    return float(cluster["executors"] * cluster["cores_per_executor"])


def of_clusters(rows: Rows) -> Expected:
    """What stands of every cluster and operator at the moment, and of all together."""
    clusters, operators = rows.at(AT)
    found: Expected = {}
    for name, c in clusters.items():
        own = [o for o in operators if o["cluster"] == name]
        base = f"cluster/{name}"
        found |= {
            f"{base}/load": sum(o["load"] for o in own) / cores(c),
            f"{base}/load-by-operator": sum(o["load"] for o in own) / cores(c),
            f"{base}/latency": max(o["latency_p50_s"] for o in own),
            f"{base}/own-latency": max(o["processing_s"] + o["scheduling_s"] for o in own),
            f"{base}/queue": sum(o["queue_rows"] for o in own),
            f"{base}/throughput": sum(o["processed_rows_per_s"] for o in own),
            f"{base}/executors": c["executors"],
            f"{base}/capacity": cores(c),
            f"{base}/failed": c["failed_tasks"],
            f"{base}/lost": c["executors_lost"],
            f"{base}/dropped-events": c["dropped_events"],
            f"{base}/dropped-samples": c["dropped_samples"],
            f"scale/{name}/present": c["executors"],
            f"scale/{name}/load": found_load(own, c),
            f"scale/{name}/latency": max(o["latency_p50_s"] for o in own),
        }
    for o in operators:
        base, here = f"operator/{o['name']}", cores(clusters[o["cluster"]])
        found |= {
            f"{base}/load": o["load"] / here,
            f"{base}/queue": o["queue_rows"],
            f"{base}/arriving": o["arrival_rows_per_s"],
            f"{base}/processed": o["processed_rows_per_s"],
            f"{base}/rates": o["processed_rows_per_s"],
            f"{base}/latency": o["latency_p50_s"],
            f"{base}/latency-max": o["latency_max_s"],
            f"{base}/batch": o["processing_s"],
            f"{base}/scheduling": o["scheduling_s"],
            f"{base}/batch-id": o["batch_id"],
            f"{base}/batch-rows": o["batch_rows"],
            f"{base}/cost": o["cost_s_per_row"],
            f"{base}/busy": o["busy_cores"] / here,
            f"{base}/tasks": o["tasks"],
            f"{base}/failed": o["failed_tasks"],
            f"{base}/skew": o["skew"],
            f"{base}/restarts": o["restarts"],
        }
        if o["stateful"]:
            found |= {
                f"{base}/state": o["state_rows"],
                f"{base}/state-rows": o["state_rows"],
                f"{base}/state-bytes": o["state_bytes"],
            }
    written = {data for o in operators for data in o["writes"]}
    outside = [o for o in operators if not written & set(o["reads"])]
    return found | {
        "all/clusters": len(clusters),
        "all/operators": len(operators),
        "all/arriving": sum(o["arrival_rows_per_s"] for o in outside),
        "all/load": max(found[f"cluster/{name}/load"] for name in clusters),
        "all/latency": max(o["latency_p50_s"] for o in operators),
        "all/queue": sum(o["queue_rows"] for o in operators),
        "all/executors": sum(c["executors"] for c in clusters.values()),
        **balance(rows),
    }


def found_load(own: list[Row], cluster: Row) -> float:
    return float(sum(o["load"] for o in own) / cores(cluster))


def balance(rows: Rows) -> Expected:
    """Load distance as the papers have it: the largest distance from the mean over all cores.

    Loads are means of the last minute, which is what planners go by unless told otherwise.
    """
    clusters, operators = rows.at(AT)
    lately = [m for m in rows.moments if AT - 60.0 <= m <= AT]
    points = {
        n: 100 * float(np.mean([
            sum(o["load"] for o in rows.at(m)[1] if o["cluster"] == n) for m in lately
        ])) / cores(c)
        for n, c in clusters.items()
    }  # fmt: skip
    total = sum(cores(c) for c in clusters.values())
    mean = sum(points[n] * cores(c) for n, c in clusters.items()) / total
    distance = max(abs(p - mean) for p in points.values())
    writer = {data: o for o in operators for data in o["writes"]}
    flows = [(writer[d]["cluster"] == o["cluster"], o["arrival_rows_per_s"])
             for o in operators for d in o["reads"] if d in writer]  # fmt: skip
    return {
        "balance/distance": distance,
        "balance/now": distance,
        "balance/top": max(points.values()) / 100,
        "balance/collocation": sum(r for stays, r in flows if stays) / sum(r for _, r in flows),
    }


_UNITS = {"%": 0.01, "ms": 1e-3, "min": 60.0, "h": 3600.0, "ms/row": 1e-3, "µs/row": 1e-6,
          "kB": 1e3, "MB": 1e6, "GB": 1e9, "M": 1e6, "G": 1e9}  # fmt: skip


def reading(text: str) -> tuple[float, float]:
    """What a text says, and by how much it is rounded."""
    found = re.match(r"(-?[\d,]+(?:\.(\d+))?)\s*(\S*)", text)
    assert found, text
    times = _UNITS.get(found[3], 1.0)
    return float(found[1].replace(",", "")) * times, 0.5 * 10.0 ** -len(found[2] or "") * times


def agrees(key: str, text: str, expected: float) -> None:
    said, off = reading(text)
    assert said == pytest.approx(expected, abs=off * 1.02 + 1e-9, rel=0.01), (key, text, expected)


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


def at_moment(
    owner: str, what: str, clusters: dict[str, Row], operators: list[Row], chart: dict[str, Any]
) -> list[float | None]:
    if owner in clusters:
        c, own = clusters[owner], [o for o in operators if o["cluster"] == owner]
        total: Callable[[str], float] = lambda field: sum(o[field] for o in own)  # noqa: E731
        most: Callable[[str], float] = lambda field: max(o[field] for o in own)  # noqa: E731
        named = {o["name"]: o for o in own}
        return {
            "load": lambda: [100 * total("load") / cores(c), 100 * c["busy_cores"] / cores(c)],
            "latency": lambda: [most("latency_p50_s"), most("latency_max_s")],
            "queue": lambda: [total("queue_rows")],
            "throughput": lambda: [total("arrival_rows_per_s"), total("processed_rows_per_s")],
            "executors": lambda: [c["executors"], c["executors_wanted"]],
            "load-by-operator": lambda: [
                100 * named[t["name"]]["load"] / cores(c) for t in chart["traces"]
            ],
            "scale": lambda: [
                total("load") / c["cores_per_executor"], c["executors_wanted"],
                c["executors_granted"], c["executors"], most("latency_p50_s"),
            ],
        }[what]()  # type: ignore[no-untyped-call,no-any-return]  # fmt: skip
    (o,) = [o for o in operators if o["name"] == owner]
    here = cores(clusters[o["cluster"]])
    return {
        "rates": [o["arrival_rows_per_s"], o["processed_rows_per_s"]],
        "latency": [o["latency_p50_s"], o["latency_max_s"]],
        "batch": [o["scheduling_s"], o["processing_s"]],
        "queue": [o["queue_rows"]],
        "load": [100 * o["load"] / here, 100 * o["busy_cores"] / here],
        "skew": [o["skew"]],
        "state": [o["state_rows"]],
    }[what]


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
    summary = what_if(Calibrated(world=calibrated_world(read_recording(samples, "narrow"))))
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
