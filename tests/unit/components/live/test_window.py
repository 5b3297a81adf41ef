"""The window of samples from which pages are drawn."""

import random

import pytest

from tests.support.models import demo, sample_of
from weir.components.live.window import FORGET_AFTER_S, SeriesWindow
from weir.controllers.engine.ports import KEPT_S, Tier
from weir.controllers.model.age import AHEAD_S
from weir.controllers.model.sample import ClusterSample

T0 = 1_700_000_000.0


@pytest.fixture
def window() -> SeriesWindow:
    found = SeriesWindow()
    found.follow(["wide"], {"wide": [sample(T0)]}, T0)
    return found


def sample(at: float) -> ClusterSample:
    return sample_of(demo()[0], 100, at, 2.0, random.Random(1))


def test_it_keeps_each_period_once_and_for_a_quarter_of_an_hour(window):
    assert not window.add(sample(T0))
    assert not window.add(sample(T0 - 2.0))
    later = T0 + KEPT_S[Tier.FULL] + 2.0
    assert window.add(sample(later))
    assert [s.at for s in window.series()["wide"]] == [later]


def test_a_stream_is_read_on_after_what_was_looked_at_last(window):
    assert window.position("wide", T0) == f"{int(T0 * 1000)}-0"
    window.follow(["wide", "new"], {}, T0)
    assert window.position("new", T0) == f"{int((T0 - KEPT_S[Tier.FULL]) * 1000)}-0"
    ahead = int((T0 + AHEAD_S + 60.0) * 1000)
    window.pass_by("wide", [b"%d-1" % (T0 * 1000), b"%d-0" % ahead], T0)
    assert window.position("wide", T0) == b"%d-1" % (T0 * 1000)


def test_a_cluster_that_is_missing_is_forgotten_only_after_a_while(window):
    window.follow([], {}, T0)
    window.follow([], {}, T0 + FORGET_AFTER_S - 1.0)
    assert set(window.series()) == {"wide"}
    window.follow(["wide"], {}, T0 + FORGET_AFTER_S)
    window.follow([], {}, T0 + FORGET_AFTER_S + 1.0)
    assert set(window.series()) == {"wide"}
    window.follow([], {}, T0 + 3 * FORGET_AFTER_S)
    assert window.empty


def test_a_key_that_is_no_stream_is_left_out_until_the_next_look(window):
    window.leave_out("wide")
    assert window.streams() == {}
    window.follow(["wide"], {}, T0)
    assert list(window.streams().values()) == ["wide"]


def test_what_was_taken_before_the_clock_was_set_back_does_not_keep_out_what_follows(window):
    window.add(sample(T0 + 600.0))
    window.pass_by("wide", [b"%d-0" % ((T0 + 600.0) * 1000)], T0 + 600.0)
    window.drop_ahead(T0 + 601.0)
    assert len(window.series()["wide"]) == 2
    window.drop_ahead(T0 + 1.0)
    assert window.position("wide", T0 + 1.0) == f"{int(T0 * 1000)}-0"
    assert window.add(sample(T0 + 2.0))
    assert [s.at for s in window.series()["wide"]] == [T0, T0 + 2.0]
