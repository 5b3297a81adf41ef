"""Pages of the past: the same view code on recorded samples, and nothing on them acts."""

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from plotly.utils import PlotlyJSONEncoder

from tests.unit.metrics.runs.history_world import T0, fed, feed
from weir.components.live.delta import start
from weir.components.live.world import World
from weir.components.pages.base import Visit
from weir.components.pages.compare.view import comparison
from weir.components.pages.history.view import PER_PAGE, Query, change_query, listing, sort_by
from weir.components.pages.registry import PAGES
from weir.components.pages.replay import scaling as replay_scaling
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.moments import first, moment
from weir.components.pages.replay.page import visit
from weir.components.pages.replay.scaling import shadow_at
from weir.components.pages.replay.view import (
    PastPage,
    moment_of,
    past_of,
    within,
    world_at,
)
from weir.components.ui.path import replay_path
from weir.components.ui.surface import NOT_NOW, Surface, control, draw_on, page_link
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.errors import NotFound
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.eventlog.tables import read_samples
from weir.metrics.runs.figures import run_figures, run_series
from weir.metrics.runs.library import RunInfo, list_runs
from weir.metrics.runs.recorder import Recorder
from weir.metrics.runs.timeline import timeline


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A quarter of an hour of two clusters, with a command in the middle."""
    root = tmp_path_factory.mktemp("runs")
    store = fed(600)
    command = Command(
        id="c", cluster="a", action=ScaleTo(executors=3), issued_at=T0 + 300, expires_at=T0 + 999
    )
    store.submit(command)
    recorder = Recorder(store, root)
    recorder.step(T0 + 600)
    store.report(CommandResult(id="c", status=CommandStatus.DONE, at=T0 + 310, message="done"))
    feed(store, T0 + 600, 300)
    recorder.close()
    return Library(root)


@pytest.fixture(scope="module")
def run_id(library):
    return list_runs(library.root)[0].id


def test_the_world_is_the_recorded_one(library, run_id):
    at = T0 + 451.7
    recorded = [s for s in read_samples(library.root / run_id) if s.at <= at]
    world = world_at(library.run(run_id), at, 5.0)
    for name in ("a", "b"):
        assert list(world.series[name]) == [s for s in recorded if s.cluster.name == name]
    assert world.snapshot == Snapshot.of(recorded, at)
    assert [r.status for _, r in world.commands] == [CommandStatus.DONE]
    before = world_at(library.run(run_id), T0 + 305, 5.0)
    assert [r.status for _, r in before.commands] == [CommandStatus.PENDING]
    assert world_at(library.run(run_id), T0 + 299, 5.0).commands == []


def test_a_silent_cluster_stays_with_its_last_report(library, run_id):
    run = library.run(run_id)
    late = world_at(run, T0 + 900 + 5000, 5.0)
    assert [len(s) for s in late.series.values()] == [1, 1]
    assert late.snapshot.clusters[0].heartbeat_age_s > 4000


def test_a_message_brings_what_a_page_drawn_there_shows(library, run_id):
    past, target = PastPage(run_id, "/"), 5.0
    data, _ = first(PAGES, library, past, T0 + 400, target)
    page = data["past"]["page"]
    found = moment(PAGES, library, past, T0 + 500, 0, page, target)
    drawn, _ = start(PAGES, world_at(library.run(run_id), T0 + 500, target), "/")
    assert found["charts"] == {c["key"]: {"x": c["x"], "y": c["y"]} for c in drawn["charts"]}
    assert found["all"]
    on = moment(PAGES, library, past, T0 + 500, data["past"]["at"], page, target)
    for key, points in on["charts"].items():
        assert points["x"] == [x for x in found["charts"][key]["x"] if x > data["past"]["at"]]
    assert on["live"] == found["live"]
    assert "health" not in found["regions"]
    assert found["map"]["clusters"]["a"]["href"].startswith(f"/replay/{run_id}/cluster/a?at=")
    assert moment(PAGES, library, past, T0 + 500, 0, "another", target)["redraw"]


def test_where_scalers_are_asked_the_series_can_come_first(library, run_id):
    past, target = PastPage(run_id, "/scale/a"), 5.0
    page = first(PAGES, library, past, T0 + 400, target)[0]["past"]["page"]
    soon = moment(PAGES, library, past, T0 + 500, 0, page, target, soon=True)
    whole = moment(PAGES, library, past, T0 + 500, 0, page, target)
    assert soon["more"]
    assert "more" not in whole
    assert soon["seen"] == whole["seen"]
    assert soon["charts"]
    assert soon["charts"] == {k: c for k, c in whole["charts"].items() if c["x"]}
    room = PastPage(run_id, "/")
    assert "more" not in moment(PAGES, library, room, T0 + 500, 0, "", target, soon=True)


def test_nothing_acts_and_links_stay(library, run_id):
    _, shown = first(PAGES, library, PastPage(run_id, "/"), T0 + 400, 5.0)
    tree = json.loads(json.dumps(shown, cls=PlotlyJSONEncoder))
    buttons, links = [], []

    def walk(node):
        if isinstance(node, list):
            for part in node:
                walk(part)
        elif isinstance(node, dict) and "props" in node:
            if node["type"] == "Button":
                buttons.append(node["props"])
            if "href" in node["props"]:
                links.append(node["props"]["href"])
            walk(node["props"].get("children"))

    walk(tree)
    assert len(buttons) >= 6
    assert all(b["disabled"] and b["title"] == NOT_NOW for b in buttons)
    assert links
    assert all(link.startswith(f"/replay/{run_id}") and "at=" in link for link in links)


def test_a_surface_ends_with_its_page():
    def draw():
        with draw_on(Surface("r", 1.0)):
            assert (
                page_link("x", "/audit").to_plotly_json()["props"]["href"]
                == "/replay/r/audit?at=1000"
            )
            assert "id" not in control("x")
            raise NotFound("of a page that cannot be drawn")

    with pytest.raises(NotFound):
        draw()
    assert page_link("x", "/audit").to_plotly_json()["props"]["href"] == "/audit"
    assert control("x") == {"id": "x"}


def test_addresses():
    assert past_of("/replay/r/balance") == PastPage("r", "/balance")
    assert replay_path("a b", "/balance", 1.0) == "/replay/a%20b/balance?at=1000"


def test_the_moment_of_an_address_is_within_the_run_or_said_to_be_none(library, run_id):
    run = library.run(run_id)
    assert moment_of(f"?at={round((T0 + 100) * 1000)}", run) == (T0 + 100, "")
    for text in ("", None):
        assert moment_of(text, run) == (run.info.last_at, "")
    for text in ("?at=x", "?at=nan"):
        at, wrong = moment_of(text, run)
        assert at == run.info.last_at
        assert "which is none" in wrong
    assert moment_of("?at=1", run)[0] == run.info.first_at
    assert "before it begins" in moment_of("?at=1", run)[1]
    assert moment_of("?at=1e400", run)[0] == run.info.last_at
    assert "after it ends" in moment_of("?at=1e400", run)[1]
    assert within(run, float("-inf")) == run.info.first_at


def test_a_nonsense_moment_is_said_on_the_page(library, run_id):
    asked = Visit(
        site=SimpleNamespace(library=library, pages=PAGES), live=World(at=0.0),
        place=PAGES.place(f"/replay/{run_id}"), path=f"/replay/{run_id}", search="?at=soon",
    )  # fmt: skip
    said, *_ = visit(asked)[1].children
    assert "the moment “soon”, which is none" in said.children
    assert visit(replace(asked, search=f"?at={round((T0 + 100) * 1000)}"))[1].children[0] is None


def test_a_tab_is_called_after_page_and_cluster():
    assert PAGES.title("/scale/narrow") == "Scale narrow"
    assert PAGES.title("/cluster/wide%20one") == "Cluster wide one"
    assert PAGES.title("/trends/load/1h/narrow") == "Trends load 1h narrow"
    assert PAGES.title("/replay/live-1/scale/narrow") == "Replay live-1: Scale narrow"
    assert PAGES.title("/") == "Control room"
    assert PAGES.title("/no/such") == "No such page"


def test_every_scaler_answers_and_going_on_equals_jumping(library, run_id, monkeypatch):
    monkeypatch.setattr(replay_scaling, "BEFORE_S", 20.0)
    run = library.run(run_id)
    jumped = shadow_at(run, "a", T0 + 640)
    run.worked_out.clear()
    for at in (610, 620, 640):
        walked = shadow_at(run, "a", T0 + at)
    assert walked == jumped
    shadow_at(run, "a", T0 + 700)
    assert shadow_at(run, "a", T0 + 640) == jumped  # going back
    assert {a.scaler for a in jumped.outlook.answers} >= {"rate_based", "qlearning", "drs"}


def test_the_timeline_has_marks(library, run_id):
    found = timeline(library.run(run_id))
    assert [(m.kind, m.at - T0) for m in found.marks] == [("action", 300.0)]
    assert max(v for v in found.values if v is not None) == pytest.approx(
        max(o.latency_s or 0 for s in read_samples(library.root / run_id) for o in s.operators)
    )


def test_figures_of_a_run(library, run_id):
    run, samples = library.run(run_id), read_samples(library.root / run_id)
    figures = run_figures(run, 5.0)
    rows = sum(o.arrival_rows_per_s * s.period_s for s in samples for o in s.operators)
    assert figures.rows == pytest.approx(rows)
    assert figures.executor_hours == pytest.approx(2 * 2 * 900 / 3600)
    assert (figures.executors_peak, figures.actions) == (4, 1)
    series = run_series(run)
    assert (series.executors[1:-1] == pytest.approx(4.0)) or len(series.executors) > 10
    same = comparison(run, run, 5.0)
    assert {r.change for r in same.rows} <= {"same", ""}
    assert len(same.plots) == 6


def test_a_run_that_grows_is_read_again(tmp_path):
    store = fed(20)
    recorder, library = Recorder(store, tmp_path), Library(tmp_path)
    recorder.step(T0 + 20)
    (info,) = library.runs()
    assert library.run(info.id) is library.run(info.id)
    feed(store, T0 + 20, 20)
    recorder.close()
    assert library.run(info.id).info.samples == 40
    assert library.runs()[0].samples == 40
    with pytest.raises(NotFound, match="There is no run x"):
        library.run("x")


def info(number, **more):
    return RunInfo(**{
        "id": f"r{number:03}", "kind": "live", "name": f"name {number}", "first_at": T0 + number,
        "last_at": T0 + 100 + number, "period_s": 2.0, "samples": 1000 - number, "clusters": ("a",),
        "operators": ("op",), "size_bytes": number, "complete": True, **more,
    })  # fmt: skip


def test_the_list_searches_filters_sorts_and_pages():
    runs = [info(i) for i in range(60)] + [info(60, kind="eventlog", operators=("Special",))]
    page = listing(runs, Query(), T0 + 9000)
    assert (len(page.rows), page.found, page.pages) == (PER_PAGE, 61, 3)
    assert page.rows[0].id == "r060"
    assert listing(runs, Query(page=9), T0).query.page == 2
    assert [r.id for r in listing(runs, Query(words="special NAME"), T0).rows] == ["r060"]
    assert listing(runs, Query(kind="eventlog"), T0).found == 1
    by_samples = sort_by(Query(), "samples")
    assert listing(runs, by_samples, T0).rows[0].id == "r000"
    assert not sort_by(by_samples, "samples").down
    assert change_query(Query(page=2), kind="live").page == 0


def test_states_of_runs():
    growing = info(1, complete=False)
    assert listing([growing], Query(), T0 + 110).rows[0].state_words == "recording now"
    assert listing([growing], Query(), T0 + 9000).rows[0].state_words == "cut off"
