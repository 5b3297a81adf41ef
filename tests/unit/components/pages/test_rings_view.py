"""The ring view: arcs, slices, hand-overs, and a change by hand predicted before it is asked for."""

import random
import time

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from tests.support.models import SLICES, sample_of, sliced
from weir.components.live.control import Control
from weir.components.live.world import World
from weir.components.pages.balance.render_rings import (
    reslice_body,
    ring_drawings,
    rings_card,
)
from weir.components.pages.balance.rings import (
    preview_half,
    preview_hand,
    ranges,
    read_preview,
    ring_facts,
    ring_figures,
    ring_views,
    slice_rows,
)
from weir.components.ui.trees import as_json
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now
from weir.controllers.engine.propose.make import new_recommendation
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.rings import RingOutlook, ring_problem
from weir.controllers.engine.recommendation import Status, move_to
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.placement.reslicing import hand_over
from weir.controllers.placement.smr import Smr


def world_with() -> World:
    now = time.time()
    samples = [sample_of(m, 400.0, now, 2.0, random.Random(1)) for m in sliced()]
    snapshot = Snapshot.of(samples, now)
    problem = ring_problem(snapshot, SLICES)
    ring = RingOutlook(
        problem=problem, planner="smr", decision=Smr().plan(problem), content_since=now
    )
    outlook = Outlook(
        at=now,
        problem=problem_now(snapshot, {}, BalanceSettings()),
        rings=(ring,),
    )
    return World(at=now, snapshot=snapshot, outlook=outlook)


def test_the_ring_shows_every_arc_once_with_owner_and_number() -> None:
    (view,) = ring_views(world_with())
    assert [(a.owner, a.label, a.begin, a.end) for a in view.arcs] == [
        ("topic_count.0", "0", 0.0, 0.625),
        ("topic_count.1", "1", 0.625, 0.875),
        ("topic_count.2", "2", 0.875, 1.0),
    ]
    assert len({a.colour for a in view.arcs}) == 3
    assert len(view.heat) == 64
    drawn = as_json(ring_drawings([view])).decode()
    assert "Ring of topic_count: topic_count.0 from 0.00 to 0.62" in drawn
    assert "None yet." in drawn
    assert "SMR ring rule" in drawn


def test_the_table_has_groups_neighbours_and_live_figures() -> None:
    world = world_with()
    assert world.outlook is not None
    rows = slice_rows(world.outlook.rings[0])
    assert [(r.name, r.cluster, r.groups, r.neighbour) for r in rows] == [
        ("topic_count.0", "narrow", "0–39", "topic_count.1"),
        ("topic_count.1", "narrow", "40–55", "topic_count.2"),
        ("topic_count.2", "wide", "56–63", "topic_count.0"),
    ]
    figures = ring_figures(world)
    assert figures["ring/topic_count.0/share"].text == "62 %"
    assert figures["ring/topic_count.0/load"].fill == 1.0
    assert "Hand on half" in str(rings_card(world, figures))


def test_who_owns_what_has_the_page_drawn_again_but_no_figure_does() -> None:
    world = world_with()
    assert ring_facts(world) == ring_facts(world_with())
    assert world.outlook is not None
    ring = world.outlook.rings[0]
    other = replace(ring.problem, slicing=hand_over(SLICES, [0], "topic_count.2"))
    changed = replace(world.outlook, rings=(replace(ring, problem=other),))
    assert ring_facts(world) != ring_facts(replace(world, outlook=changed))


def test_half_to_the_neighbour_is_predicted_before_it_is_asked_for() -> None:
    shown = preview_half(world_with(), "topic_count.0", "an-id")
    assert shown.wanted.to == "topic_count.1"
    assert len(shown.wanted.groups) == 20
    assert shown.decision.prediction.moved_share == pytest.approx(20 / 64)
    said = str(reslice_body(shown))
    assert "topic_count.0 → topic_count.1: key groups 20–39" in said
    assert "31 %; one slice's share is 33 %" in said
    assert read_preview(to_builtins(shown.wanted)) == shown.wanted


def test_a_change_by_hand_says_what_is_missing() -> None:
    world = world_with()
    more = preview_hand(world, "topic_count", 4, "", None, "an-id")
    assert (more.wanted.slices, more.decision.slices) == (4, 4)
    assert more.decision.clusters == {"topic_count.3": "narrow"}
    new = preview_hand(world, "topic_count", 3, "0-3", "topic_count.3", "an-id")
    assert new.decision.owners["topic_count.3"] == (0, 1, 2, 3)
    for slices, groups, to in (
        (3, "", None),
        ("", "", ""),
        (3, "0-3", ""),
        (3, "x", "topic_count.1"),
    ):
        with pytest.raises(InvalidInput):
            preview_hand(world, "topic_count", slices, groups, to, "an-id")
    with pytest.raises(NotFound):
        preview_hand(world, "top_n", 2, "", "", "an-id")
    with pytest.raises(InvalidInput):
        read_preview({"operator": 3})


def test_what_was_handed_over_stands_there_newest_first() -> None:
    world = world_with()
    shown = preview_half(world, "topic_count.0", "an-id")
    done = new_recommendation(
        shown.decision, world.snapshot, id="r1", source="smr", now=world.at, ttl_s=60.0
    )
    for status in (Status.APPROVED, Status.APPLYING):
        done = move_to(done, status, at=world.at, by="ada")
    (view,) = ring_views(replace(world, control=Control(recommendations=(done,))))
    (over,) = view.hand_overs
    assert over.words == "topic_count.0 → topic_count.1: key groups 20–39"
    assert over.status == "applying"


def test_without_slices_there_is_a_sentence() -> None:
    assert "No operator is sliced" in str(rings_card(World(at=0.0), {}))


def test_key_groups_as_people_write_them() -> None:
    assert ranges([5, 3, 4, 9]) == "3–5, 9"
