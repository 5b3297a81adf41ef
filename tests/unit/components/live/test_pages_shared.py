"""What tabs share is what each would have got alone, and only changes are sent."""

import json
import random
from typing import Any

import msgspec
from dash._utils import to_json

from tests.support.models import many, sample_of
from tests.support.world import START, demo_world
from weir.components.live.built import Recent
from weir.components.live.delta import Cursor, cursor_of, delta, start
from weir.components.live.shared import Shared
from weir.components.live.world import World, world_of
from weir.components.pages.control_room.map import flow_map, map_changes
from weir.components.pages.registry import PAGES
from weir.controllers.model.sample import ClusterSample

Series = dict[str, tuple[ClusterSample, ...]]
MODELS = many(3, 2)
RNG = random.Random(3)


def later_world(before: World | None, *names: str) -> World:
    """One more report of these clusters, of all of them if none is named."""
    at = before.at + 10.0 if before else START
    series: Series = {n: tuple(s) for n, s in before.series.items()} if before else {}
    for model in MODELS:
        if not names or model.name in names:
            sample = sample_of(model, 400.0, at, 10.0, RNG)
            series[model.name] = (*series.get(model.name, ()), sample)
    return world_of(series, at=at)


def drawn(world: World) -> Cursor:
    return cursor_of(start(PAGES, world, "/")[0]["cursor"])


def bare(message: Any) -> Any:
    """A message without what only Dash needs of components."""
    if isinstance(message, list):
        return [bare(part) for part in message]
    if not isinstance(message, dict):
        return message
    component = {"type", "props", "namespace"} == message.keys()
    props = {k: v for k, v in message["props"].items() if v is not None} if component else {}
    return {
        k: bare(v)
        for k, v in (message | ({"props": props} if component else {})).items()
        if not (component and k == "namespace")
    }


def test_a_shared_message_is_the_one_that_a_tab_would_get_alone() -> None:
    world, shared = demo_world(), Shared(PAGES)
    alone, after = delta(PAGES, world, drawn(world))
    sent = shared.message(world, drawn(world))
    assert json.loads(sent.text) == bare(json.loads(to_json(alone)))
    assert sent.after == after
    assert not sent.quiet
    assert shared.message(world, after).quiet


def test_many_tabs_cost_what_one_costs() -> None:
    world, shared = demo_world(), Shared(PAGES)
    first = shared.message(world, drawn(world))
    cost_s = shared.cost_s
    assert cost_s > 0.0
    assert all(shared.message(world, drawn(world)) is first for _ in range(20))
    assert shared.cost_s == cost_s
    other = shared.message(demo_world(periods=6), drawn(world))
    assert other is not first


def test_changes_added_to_what_a_tab_has_give_the_whole() -> None:
    shared, world = Shared(PAGES), later_world(None)
    sent = shared.message(world, drawn(world))
    has = json.loads(sent.text)
    figures, drawing = has["live"], has["map"]
    newer = later_world(world, "cluster-01")
    message = json.loads(shared.message(newer, sent.after).text)
    assert "live" not in message
    assert "map" not in message
    changed = {key for key in message["liveChanges"] if not key.startswith("all/")}
    assert changed
    assert all("01" in key for key in changed)
    assert set(message["mapChanges"]["operators"]) <= {"op-01-00", "op-01-01"}
    whole, _ = delta(PAGES, newer, msgspec.structs.replace(sent.after, live="", drawings={}))
    figures.update(message["liveChanges"])
    assert figures == json.loads(to_json(whole["live"]))
    drawing["operators"].update(message["mapChanges"]["operators"])
    fresh = {edge["id"]: edge for edge in message["mapChanges"]["edges"]}
    drawing["edges"] = [fresh.get(edge["id"], edge) for edge in drawing["edges"]]
    assert drawing == json.loads(to_json(whole["map"]))


def test_a_tab_whose_figures_are_forgotten_gets_them_whole() -> None:
    world = later_world(None)
    seen = msgspec.structs.replace(drawn(world), live="long ago", drawings={"map": "long ago"})
    message, _ = delta(PAGES, later_world(world), seen, recent=Recent())
    assert len(message["live"]) > 30
    assert "liveChanges" not in message
    assert message["map"]
    assert "mapChanges" not in message


def test_a_map_of_another_shape_is_sent_whole() -> None:
    world = later_world(None)
    fewer = world_of({n: s for n, s in world.series.items() if n != "cluster-01"}, at=world.at)
    assert map_changes(flow_map(world), flow_map(fewer)) is None
    assert map_changes(flow_map(world), flow_map(world)) == {"operators": {}, "edges": []}
