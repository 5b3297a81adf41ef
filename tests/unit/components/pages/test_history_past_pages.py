"""Audit, settings and recommendations in a replay: what was recorded, and nothing of the present."""

import json
from types import SimpleNamespace

import pytest
from plotly.utils import PlotlyJSONEncoder

from tests.support.people import set_settings
from tests.unit.metrics.runs.history_world import T0, fed, feed
from weir.components.live.world import World
from weir.components.pages.audit import ids as audit_ids
from weir.components.pages.audit import then as replay_audit
from weir.components.pages.audit.then import trail_then
from weir.components.pages.base import Visit
from weir.components.pages.recommendation import ids as recommendation_ids
from weir.components.pages.registry import PAGES
from weir.components.pages.replay import ids as replay_ids
from weir.components.pages.replay.library import Library
from weir.components.pages.replay.moments import moment
from weir.components.pages.replay.page import visit
from weir.components.pages.replay.render_bar import replay_bar
from weir.components.pages.replay.view import SHOWN, WINDOW_S, PastPage
from weir.components.pages.scale import ids as scale_ids
from weir.components.pages.scale.hand import Bound
from weir.components.pages.scale.render_hand import hand_card
from weir.components.pages.settings import ids as settings_ids
from weir.components.pages.settings.then import sections_then
from weir.components.ui.surface import Surface, draw_on
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.decision import Reason, Scale
from weir.controllers.model.errors import Refused
from weir.metrics.runs.library import list_runs
from weir.metrics.runs.recorder import Recorder
from weir.metrics.runs.writer import LiveRun

LIVE = World(at=T0 + 9999, target_latency_s=5.0)
RECOMMENDED_AT = T0 + 50


def recommended(number: int, at: float) -> Recommendation:
    scale = Scale(cluster="a", executors=3, before=2, reason=Reason(text="It is too full."))
    return Recommendation(
        id=f"r{number}", at=at, expires_at=at + 60, decision=scale, source="drs", clusters=("a",),
        by="engine",
    )  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Twenty minutes: a recommendation early, settings in the middle, many recommendations later."""
    root = tmp_path_factory.mktemp("runs")
    store = fed(600)
    set_settings(store, "engine", {"webhook_url": "https://x/key"}, by="ann", now=T0 - 50)
    store.save_recommendation(recommended(0, RECOMMENDED_AT))
    store.append_audit(
        AuditEntry(at=RECOMMENDED_AT, by="engine", action="recommendation.proposed", subject="r0")
    )
    recorder = Recorder(store, root)
    recorder.step(T0 + 600)
    feed(store, T0 + 600, 600)
    set_settings(store, "scale:a", {"scaler": "fixed", "max_executors": 7}, by="ann", now=T0 + 700)
    set_settings(store, "engine", {"paused": True}, by="bob", now=T0 + 800)
    for number in range(1, SHOWN + 2):
        store.save_recommendation(recommended(number, T0 + 900 + number))
    recorder.close()
    return Library(root)


@pytest.fixture(scope="module")
def run_id(library):
    return list_runs(library.root)[0].id


def visited(library, run_id, path, at):
    """The page and its data, as somebody gets it who opens its address."""
    site = SimpleNamespace(pages=PAGES, library=library)
    address = f"/replay/{run_id}{path}"
    search = f"?at={round(at * 1000)}"
    return visit(
        Visit(site=site, live=LIVE, place=PAGES.place(address), path=address, search=search)
    )


def drawn(library, run_id, path, at):
    """The page and its panels as they are sent, with all components in them."""
    data, shown = visited(library, run_id, path, at)
    return plain([shown, data["regions"]])


def plain(tree):
    return json.loads(json.dumps(tree, cls=PlotlyJSONEncoder))


def components(node):
    if isinstance(node, list):
        for part in node:
            yield from components(part)
    elif isinstance(node, dict) and "props" in node:
        yield node
        yield from components(node["props"].get("children"))
    elif isinstance(node, dict):
        yield from components(list(node.values()))


def words(node) -> str:
    if isinstance(node, list):
        return " ".join(words(part) for part in node)
    if isinstance(node, dict):
        return words(node["props"].get("children")) if "props" in node else words([*node.values()])
    return "" if node is None else str(node)


@pytest.mark.parametrize("path", ["/audit", "/settings", "/settings/a"])
def test_no_callback_and_no_button_belongs_to_the_page(library, run_id, path):
    """Whatever has a name could be filled or switched on by a callback of the live page."""
    found = list(components(drawn(library, run_id, path, T0 + 750)))
    panel = audit_ids.THEN if path == "/audit" else settings_ids.THEN
    assert {c["props"]["id"] for c in found if "id" in c["props"]} == {
        panel,
        replay_ids.REPLAY_ADVICE,
    }
    assert not {c["type"] for c in found} & {"Button", "Store", "TextInput", "NumberInput"}
    links = [c["props"]["href"] for c in found if "href" in c["props"]]
    assert all(link.startswith(f"/replay/{run_id}/") for link in links)


def test_the_trail_is_the_recorded_one_up_to_the_moment(library, run_id):
    early, late = (drawn(library, run_id, "/audit", T0 + at) for at in (100, 850))
    assert "recommendation proposed" in words(early)
    assert "settings changed" not in words(early)
    assert "bob" in words(late)
    entries = [c["props"]["data-entry"] for c in components(late) if "data-entry" in c["props"]]
    assert len(entries) == 3, "what was set before the run began is not of it"
    assert entries == sorted(entries, reverse=True)
    links = [c["props"]["href"] for c in components(late) if "href" in c["props"]]
    assert f"/replay/{run_id}/recommendation/r0?at={round((T0 + 850) * 1000)}" in links


def test_a_long_trail_shows_its_newest_and_says_so(library, run_id, monkeypatch):
    monkeypatch.setattr(replay_audit, "SHOWN", 2)
    found = trail_then(library.run(run_id), T0 + 850)
    assert [e.by for e in found.entries] == ["bob", "ann"]
    assert found.note.startswith("The newest 2 of 3 entries")


def test_what_was_not_recorded_is_said(library, run_id, tmp_path):
    run = library.run(run_id)
    assert trail_then(run, T0 + 10).note == "Nothing had been done in this run up to this moment."
    assert "no cluster nobody" in sections_then(run, T0 + 10, "nobody").note
    bare = LiveRun.create(tmp_path, T0)
    for sample in run.samples("a", T0, T0 + 20):
        bare.add(sample)
    bare.flush(complete=True)
    meta = bare.folder / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "kind": "eventlog"}))
    imported = Library(tmp_path).run(bare.folder.name)
    assert "event log" in trail_then(imported, T0 + 10).note
    assert "without its settings" in sections_then(imported, T0 + 10, "a").note
    assert sections_then(imported, T0 + 10, "a").sections == ()


def values(page) -> dict[str, str]:
    found = {}
    for group in (c for c in components(page) if "data-group" in c["props"]):
        for line in (c for c in components(group) if "data-key" in c["props"]):
            name = f"{group['props']['data-group']}.{line['props']['data-key']}"
            found[name] = words(line["props"]["children"][1])
    return found


def test_settings_are_those_of_the_moment(library, run_id):
    before, after = (values(drawn(library, run_id, "/settings/a", T0 + at)) for at in (699, 701))
    assert before["scale:a.scaler"].strip() == "Fewest executors for the target"
    assert before["scale:a.max_executors"].startswith("0")
    assert after["scale:a.scaler"].startswith("Fixed number")
    assert after["scale:a.max_executors"].startswith("7")
    assert "last changed by ann" in after["scale:a.max_executors"]
    general = drawn(library, run_id, "/settings", T0 + 850)
    assert values(general)["engine.webhook_url"].strip() == "not recorded"
    assert "Everything automatic was paused." in words(general)


def test_another_moment_brings_the_panel_of_that_moment(library, run_id):
    for path, panel in (("/audit", audit_ids.THEN), ("/settings/a", settings_ids.THEN)):
        data, _ = visited(library, run_id, path, (T0 + 100))
        page = data["past"]["page"]
        found = moment(PAGES, library, PastPage(run_id, path), T0 + 750, 0, page, 5.0)
        then = drawn(library, run_id, path, T0 + 750)[1]
        assert plain(found["regions"][panel]) == then[panel] != plain(data["regions"][panel])


def test_users_are_not_of_a_run(library, run_id):
    for ask in (
        lambda: drawn(library, run_id, "/users", T0 + 100),
        lambda: moment(PAGES, library, PastPage(run_id, "/users"), T0 + 100, 0, "", 5.0),
    ):
        with pytest.raises(Refused, match="a run does not record them"):
            ask()


def test_an_old_recommendation_has_its_page_and_its_series(library, run_id):
    at = RECOMMENDED_AT + WINDOW_S + 200
    data, shown = visited(library, run_id, "/recommendation/r0", at)
    assert "It is too full." in words(plain(data["regions"][recommendation_ids.RECOMMENDATION]))
    assert "There is no recommendation" not in words(plain(shown))
    times = next(c["x"] for c in data["charts"] if c["key"] == "a/load")
    assert times[0] == round((T0 + 2) * 1000)
    assert times[-1] == round((RECOMMENDED_AT + 300) * 1000)
    gone = drawn(library, run_id, "/recommendation/r0", RECOMMENDED_AT - 1)
    assert "There is no recommendation r0" in words(gone), "it was not there yet"


def test_a_control_that_is_off_has_no_name():
    """The live page's preview would look at the present and switch the button on."""
    with draw_on(Surface("r", 1.0)):
        tree = hand_card("a", Bound(executors=3, least=1, most=9))
    names = [c["props"].get("id") for c in components(plain(tree))]
    assert scale_ids.SCALE_NUMBER not in names
    assert scale_ids.SCALE_APPLY not in names


def test_the_bar_offers_every_page():
    found = [c["props"]["data-inner"] for c in components(plain(replay_bar(PAGES.navigation(replayed=True))))
             if "data-inner" in c["props"]]  # fmt: skip
    assert found == [address for _, address in PAGES.navigation(replayed=True)]
    assert {"/", "/balance", "/scale", "/audit", "/settings"} <= {*found}
