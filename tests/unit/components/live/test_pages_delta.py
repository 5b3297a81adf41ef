"""The one message of both feeds: nothing missing, nothing twice."""

import msgspec
import pytest
from dash._utils import to_json
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.examples import examples
from tests.support.world import demo_world
from weir.components.live.delta import Cursor, cursor_of, delta, later, start
from weir.components.live.world import world_of
from weir.components.pages.registry import PAGES
from weir.components.ui import ids
from weir.components.web.router import draw
from weir.controllers.model.sample import Batch

PATHS = ("/", "/cluster/wide", "/operator/topic_count", "/operator/nobody", "/elsewhere")


def drawn_cursor(world, path="/"):
    data, _ = start(PAGES, world, path)
    return msgspec.convert(data["cursor"], Cursor)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_and_its_delta_can_be_sent(path):
    world = demo_world()
    assert to_json(draw(world, path))
    message, after = delta(PAGES, world, drawn_cursor(world, path))
    assert to_json(message)
    assert "redraw" not in message
    again, _ = delta(PAGES, world, after)
    assert set(again) == {"now", "path", "cursor"}, "what is drawn is not sent again"


@pytest.mark.parametrize("path", PATHS)
def test_single_batches_are_not_sent(path):
    world = demo_world()
    batch = Batch(operator="topic_count", id=1, committed_at=1.0, processing_s=1.0, rows=1)
    full = {
        name: [replace(s, batches=(batch,) * 50) for s in samples]
        for name, samples in world.series.items()
    }
    many = replace(world, series=full)
    assert to_json(start(PAGES, many, path)[0]) == to_json(start(PAGES, world, path)[0])
    before = drawn_cursor(demo_world(periods=10), path)
    assert to_json(delta(PAGES, many, before)[0]) == to_json(delta(PAGES, world, before)[0])


def test_only_what_is_new_is_sent():
    before, after = demo_world(periods=10), demo_world(periods=13)
    message, _ = delta(PAGES, after, drawn_cursor(before))
    assert len(message["points"]["wide/load"]["x"]) == 3
    assert [m["cluster"] for m in message["marks"]] == ["narrow"] * 3 + ["wide"] * 3
    assert message["cursor"]["at"] == {c: round(s[-1].at * 1000) for c, s in after.series.items()}


def test_a_tab_that_drew_reports_before_the_clock_was_set_back_is_drawn_again():
    world = demo_world()
    seen = drawn_cursor(world)
    assert "redraw" not in delta(PAGES, world, seen)[0]
    ahead = {**seen.at, "wide": seen.at["wide"] + 3_600_000}
    message, after = delta(PAGES, world, replace(seen, at=ahead))
    assert message["redraw"] is True
    assert "cursor" not in message
    assert after.at == ahead


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5))
@settings(max_examples=examples(25))
def test_points_join_to_the_whole_series(steps):
    periods = 2
    world = demo_world(periods=periods)
    cursor = drawn_cursor(world)
    data, _ = start(PAGES, world, "/")
    x = next(c["x"] for c in data["charts"] if c["key"] == "wide/queue")
    for step in steps:
        periods += step
        message, cursor = delta(PAGES, demo_world(periods=periods), cursor)
        x = x + message["points"]["wide/queue"]["x"]
    assert x == [round(s.at * 1000) for s in demo_world(periods=periods).series["wide"]]


def test_a_new_operator_has_the_page_drawn_again():
    world = demo_world()
    cursor = drawn_cursor(world)
    changed = demo_world(extra_operator=True)
    message, same = delta(PAGES, changed, cursor)
    assert message["redraw"] is True
    assert "points" not in message
    assert same == cursor


def test_redis_away_is_said_and_keeps_the_page():
    world = demo_world()
    cursor = drawn_cursor(world)
    away = msgspec.structs.replace(world, redis_down_since=world.at - 3)
    message, _ = delta(PAGES, away, cursor)
    assert message["redisDownSince"] == round((world.at - 3) * 1000)
    assert ids.HEALTH in message["regions"]
    assert "redraw" not in message


def test_never_reached_redis_has_a_page_of_its_own():
    world = world_of({}, at=5.0, ready=False, redis_down_since=4.0)
    assert PAGES.page(world, "/").kind == "unreachable"
    assert PAGES.page(world_of({}, at=5.0, ready=False), "/").kind == "loading"
    assert PAGES.page(world_of({}, at=5.0), "/").kind == "empty"


@pytest.mark.parametrize("said", [None, "x", [], {"at": "no"}, {"at": {"a": "b"}}, 7])
def test_whatever_a_browser_says_is_survived(said):
    assert cursor_of(said) == Cursor()


def test_a_tab_that_lost_a_message_is_told_from_where_it_stands() -> None:
    sent = Cursor(path="/", page="a", at={"x": 9}, regions={"inbox": "new"})
    there = Cursor(path="/", page="a", at={"x": 9}, regions={"inbox": "old"}, lost=5)
    assert later(sent, there) is there
    again = msgspec.structs.replace(sent, lost=5)
    assert later(again, there) is again


def test_sent_counts_until_the_browser_turns_the_page():
    sent = Cursor(path="/", page="a", at={"x": 9}, live="new")
    assert later(sent, Cursor(path="/", page="a", at={"x": 7})) is sent
    other = Cursor(path="/cluster/x", page="b", at={"x": 7})
    assert later(sent, other) is other
