"""The control room of many clusters: bounded, what needs attention in full, and still."""

import json
import random
from typing import Any

import pytest
from dash._utils import to_json
from dash.development.base_component import Component
from msgspec.structs import replace

from tests.support.models import many, sample_of
from tests.support.world import START
from tests.unit.components.pages.controls import recommendation
from weir.components.live.built import PANELS_EVERY_S
from weir.components.live.control import Control
from weir.components.live.delta import Cursor, cursor_of, delta, start
from weir.components.live.health import health, together
from weir.components.live.shared import Shared
from weir.components.live.world import World, world_of
from weir.components.pages.control_room import attention
from weir.components.pages.control_room import inbox as inbox_view
from weir.components.pages.control_room.attention import FINE, IN_FULL, Attention, choose_shown
from weir.components.pages.control_room.inbox import (
    PROPOSED_SHOWN,
    TITLES_SHOWN,
    WAITS_SHOWN,
    inbox,
)
from weir.components.pages.registry import PAGES
from weir.components.ui.states import KNOWN_SHOWN
from weir.components.web.router import draw
from weir.controllers.engine.ports import Part
from weir.controllers.engine.recommendation import Figures as Expected
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.sample import ClusterSample, OperatorStatus
from weir.controllers.service import Paused

RNG = random.Random(5)


def sample(name: str, *, at: float = START, rate: float = 400.0, operators: int = 2) -> Any:
    model = next(m for m in many(201, operators) if m.name == name)
    return sample_of(model, rate, at, 10.0, RNG)


def world_with(clusters: int, operators: int = 2, **changed: ClusterSample) -> World:
    """As many clusters as that, all fine but those given."""
    found = {m.name: sample_of(m, 400.0, START, 10.0, RNG) for m in many(clusters, operators)}
    found |= {name.replace("_", "-"): s for name, s in changed.items()}
    return world_of({name: (s,) for name, s in found.items()}, at=START + 1)


def failing(name: str) -> ClusterSample:
    good = sample(name)
    bad = replace(good.operators[0], status=OperatorStatus.FAILED)
    return replace(good, operators=(bad, *good.operators[1:]))


def late(name: str) -> ClusterSample:
    good = sample(name)
    slow = replace(good.operators[0], latency_p50_s=60.0, latency_max_s=80.0)
    return replace(good, operators=(slow, *good.operators[1:]))


def components(tree: Any) -> int:
    if isinstance(tree, list | tuple):
        return sum(components(part) for part in tree)
    if not isinstance(tree, Component):
        return 0
    return 1 + components(getattr(tree, "children", None))


def test_what_needs_attention_comes_first_whatever_its_name() -> None:
    world = world_with(
        60,
        cluster_57=sample("cluster-57", rate=2000.0),
        cluster_58=failing("cluster-58"),
        cluster_59=sample("cluster-59", at=START - 120),
        cluster_56=late("cluster-56"),
    )
    world = replace(
        world, control=Control(recommendations=(recommendation(clusters=("cluster-55",)),))
    )
    found = attention.attention(world)
    words = {name: found[f"cluster-{name}"].word for name in ("59", "58", "57", "56", "55", "00")}
    assert words == {
        "59": "no data", "58": "failing", "57": "overloaded", "56": "late", "55": "to decide",
        "00": "fine",
    }  # fmt: skip
    page = start(PAGES, world, "/")[1]
    assert page.own[:5] == tuple(f"cluster-{n}" for n in (59, 58, 57, 56, 55))
    assert len(page.own) == IN_FULL
    assert page.figures["all/attention"].text == "5 clusters need attention now."
    assert page.figures["tile/cluster-57"].state == "bad"


def test_the_rest_is_chosen_by_load_and_stands_by_name() -> None:
    loads = [0.1, 0.6, 0.3, 0.5, 0.2]
    found = {
        f"c{i}": Attention(rank=FINE, word="fine", state="ok", load=load)
        for i, load in enumerate(loads)
    }
    assert choose_shown(found, 3) == ("c1", "c2", "c3")
    turned = dict(reversed(found.items()))
    assert choose_shown(turned, 3) == choose_shown(found, 3)


def test_cards_stay_while_loads_change_and_are_chosen_again_when_drawn() -> None:
    world = world_with(60)
    data, page = start(PAGES, world, "/")
    seen = cursor_of(data["cursor"])
    outside = next(c.name for c in world.snapshot.clusters if c.name not in page.own)
    worse = sample(outside, at=START + 5, rate=3000.0)
    now = world_of({**world.series, outside: (worse,)}, at=START + 6)
    message, after = delta(PAGES, now, seen)
    assert "redraw" not in message
    assert after.page == seen.page
    assert message["live"][f"tile/{outside}"][:2] == ["overloaded", "bad"]
    assert "not in full below" in message["live"]["all/attention"][0]
    assert {key.split("/")[0] for key in message.get("points", {})} <= set(page.own)
    assert start(PAGES, now, "/")[1].own[0] == outside


@pytest.mark.parametrize("gone", [0, 59])
def test_a_cluster_that_comes_or_goes_has_the_page_drawn_again(gone: int) -> None:
    world = world_with(60)
    seen = cursor_of(start(PAGES, world, "/")[0]["cursor"])
    fewer = {n: s for n, s in world.series.items() if n != f"cluster-{gone:02}"}
    assert delta(PAGES, world_of(fewer, at=world.at), seen)[0]["redraw"] is True
    more = {**world.series, "new": (replace(sample("cluster-200"), operators=()),)}
    assert delta(PAGES, world_of(more, at=world.at), seen)[0]["redraw"] is True


@pytest.mark.parametrize("said", ["x.99999", "x.-1", "x.a-b", "x." + "1-" * 5000, "."])
def test_a_structure_that_no_page_has_is_drawn_again(said: str) -> None:
    world = world_with(60)
    message, _ = delta(PAGES, world, cursor_of({"path": "/", "page": said}))
    assert message["redraw"] is True


def test_the_page_does_not_grow_with_the_clusters() -> None:
    sizes = [components(draw(world_with(n, 10), "/")) for n in (60, 200)]
    assert sizes[0] == sizes[1]
    assert sizes[1] < 1500


def test_up_to_a_size_everything_is_shown() -> None:
    few = world_with(attention.MOST_CLUSTERS, 2)
    data, page = start(PAGES, few, "/")
    assert len(page.own) == attention.MOST_CLUSTERS
    assert "overview" not in data
    assert data["map"]
    text = to_json(draw(few, "/"))
    assert text.count("data-operator") == 2 * attention.MOST_CLUSTERS
    assert "data-overview" not in text


def test_a_few_clusters_of_very_many_operators_are_a_large_room_too() -> None:
    world = world_with(2, attention.MOST_OPERATORS)
    tree = draw(world, "/")
    text = to_json(tree)
    assert components(tree) < 500
    assert "data-operator" not in text
    assert f"{attention.MOST_OPERATORS} operators" in text
    assert "data-operator" in to_json(draw(world, "/cluster/cluster-00"))


def test_the_first_page_has_every_tile_with_its_figures() -> None:
    data, _ = start(PAGES, world_with(60), "/")
    assert [tile["name"] for tile in data["overview"]] == [f"cluster-{n:02}" for n in range(60)]
    assert data["overview"][7]["href"] == "/cluster/cluster-07"
    for tile in data["overview"]:
        load = data["figures"][f"tile/{tile['name']}/load"]
        assert float(load[0].removesuffix(" %")) > 0
        assert data["figures"][f"tile/{tile['name']}/queue"][0].startswith("queue ")
    json.dumps(data)


def test_an_unknown_name_lists_a_few_of_many_that_are_known() -> None:
    drawn = to_json(draw(world_with(40), "/cluster/nobody"))
    assert drawn.count('"children":"cluster-') == KNOWN_SHOWN
    assert "and 28 more" in drawn


def test_a_choice_of_many_goes_by_number() -> None:
    drawn = to_json(draw(world_with(120), "/scale"))
    assert drawn.index("cluster-99") < drawn.index("cluster-100")


def test_the_inbox_does_not_grow_with_the_proposals() -> None:
    open_ = tuple(
        recommendation(id=f"r{n}", clusters=(f"cluster-{n:02}",), expires_at=START + 900 - n)
        for n in range(200)
    )
    world = replace(world_with(200), control=Control(recommendations=open_))
    found = inbox(world)
    assert [p.id for p in found.proposed] == [f"r{n}" for n in range(199, 199 - PROPOSED_SHOWN, -1)]
    assert found.later[0].id == f"r{199 - PROPOSED_SHOWN}"
    assert found.more_proposed == 200 - PROPOSED_SHOWN - TITLES_SHOWN
    text = to_json(draw(world, "/"))
    assert f"and {found.more_proposed} more" in text
    assert f"/recommendation/{found.later[0].id}" in json.dumps(json.loads(text))
    waiting = {f"cluster-{n:02}": "it is even" for n in range(200)}
    quiet = inbox(replace(world, control=Control(waits=waiting)))
    assert len(quiet.waits) == WAITS_SHOWN
    assert quiet.more_waits == 200 - WAITS_SHOWN
    shown = [world.snapshot.load(w.where) for w in quiet.waits]
    fullest = sorted((world.snapshot.load(name) for name in waiting), reverse=True)
    assert shown == fullest[:WAITS_SHOWN]


def test_the_header_names_those_that_are_not_well_and_counts_the_others() -> None:
    parts = [
        Part(id=f"host:{n}", kind="host", name=f"c{n}", at=START - (60 if n == 3 else 0))
        for n in range(200)
    ]
    shown = together(health(replace(world_with(30), parts=parts)))
    assert [(p.id, p.state) for p in shown if p.kind == "host"] == [
        ("host", "up"), ("host:3", "silent"),
    ]  # fmt: skip
    assert next(p.title for p in shown if p.id == "host") == "199 hosts"
    dead = together(health(replace(world_with(30), parts=parts, at=START + 600)))
    assert len([p for p in dead if p.kind == "host"]) == 4, "a phone has room for no more"
    assert dead[-1].title == "197 more not up"


def told(world: World, after_s: float) -> World:
    """The same a while later, when the engine says something else."""
    part = Part(
        id="engine", kind="engine", name="leader", status="starting", at=world.at + after_s,
        detail=f"{after_s} s",
    )  # fmt: skip
    return replace(world, at=world.at + after_s, parts=(part,))


def regions(shared: Shared, world: World, seen: Cursor) -> dict[str, Any]:
    return json.loads(shared.message(world, seen).text).get("regions", {})


@pytest.mark.parametrize("clusters", [30, 3])
def test_panels_of_a_large_room_are_told_every_few_seconds(clusters: int) -> None:
    world, shared = world_with(clusters), Shared(PAGES)
    seen = cursor_of(start(PAGES, told(world, 0.0), "/")[0]["cursor"])
    first = regions(shared, told(world, 0.0), seen)
    assert first
    soon = [regions(shared, told(world, s), seen) for s in (PANELS_EVERY_S / 2, PANELS_EVERY_S - 1)]
    assert [panels == first for panels in soon] == [clusters == 30] * 2
    assert regions(shared, told(world, PANELS_EVERY_S), seen) != first


def test_tabs_that_show_other_clusters_in_full_share_the_panels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, shared, made = world_with(30), Shared(PAGES), list[World]()
    pages = ("x.0-1-2-3-4-5-6-7", "x.9-10-11-12-13-14-15-16")
    tabs = [cursor_of(start(PAGES, told(world, 0.0), "/", page)[0]["cursor"]) for page in pages]
    assert tabs[0].page != tabs[1].page
    monkeypatch.setattr(inbox_view, "inbox", lambda seen: made.append(seen) or inbox(seen))
    for after_s in (0.0, 1.0, 2.0):
        for seen in tabs:
            assert "inbox" in regions(shared, told(world, after_s), seen)
    assert len(made) == 1


def test_what_people_do_is_told_at_once_and_what_the_engine_does_in_a_while() -> None:
    world, shared = world_with(30), Shared(PAGES)
    seen = cursor_of(start(PAGES, told(world, 0.0), "/")[0]["cursor"])

    def inbox_after(after_s: float, **control: Any) -> Any:
        now = replace(told(world, after_s), control=Control(**control))
        return regions(shared, now, seen)["inbox"]

    first = inbox_after(0.0)
    assert inbox_after(0.5, recommendations=(recommendation(),)) == first
    decided = inbox_after(1.0, recommendations=(recommendation(Status.REJECTED),))
    assert decided != first
    assert inbox_after(1.5, recommendations=()) != decided
    paused = {"paused": Paused(at=START, by="ada")}
    assert "Everything is paused" in json.dumps(inbox_after(2.0, **paused))


def test_a_tab_never_goes_back_to_older_panels_than_it_was_drawn_with() -> None:
    world, shared = world_with(30), Shared(PAGES)
    early = cursor_of(start(PAGES, told(world, 0.0), "/")[0]["cursor"])
    first = regions(shared, told(world, 0.0), early)
    late_world = told(world, 1.0)
    drawn_late = cursor_of(start(PAGES, late_world, "/", early.page)[0]["cursor"])
    fresh = regions(shared, late_world, drawn_late)
    assert fresh != first
    assert regions(shared, told(world, 2.0), early) == fresh


def test_a_proposal_says_how_its_cluster_stands_now_also_where_it_has_no_card() -> None:
    world = world_with(30)
    page = PAGES.page(world, "/")
    without = next(c.name for c in world.snapshot.clusters if c.name not in page.own)
    asked = recommendation(
        clusters=(without,),
        before=Expected(load={without: 1.2}, executors={without: 1}),
        predicted=Expected(load={without: 0.4}, executors={without: 3}),
    )
    wanting = replace(world, control=Control(recommendations=(asked,)))
    page = PAGES.page(wanting, "/", page.structure)
    assert without not in page.own
    shown = inbox(wanting).proposed[0]
    keys = {row.now for row in shown.rows if row.now}
    assert keys
    assert keys <= page.figures.keys()
