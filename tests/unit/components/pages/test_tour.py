"""The guided first run is for whoever has rows generated, and for the present only."""

from dash._utils import to_json

from weir.components.pages.control_room.render_tour import STEPS, tour_card
from weir.components.ui.surface import Surface, draw_on
from weir.controllers.engine.ports import Workload

TWEETS = [Workload(name="tweets", rows_per_s=200.0)]


def test_it_has_five_steps_and_begins_hidden():
    card = tour_card(TWEETS)
    assert card.hidden is True
    drawn = to_json(card)
    assert len(STEPS) == 5
    for title, _, _ in STEPS:
        assert title in drawn


def test_there_is_none_without_a_generator_or_in_a_replay():
    assert tour_card([]) is None
    with draw_on(Surface("live-1", 5.0)):
        assert tour_card(TWEETS) is None
