"""Executors that come and go, late, partly or not at all."""

import pytest

from weir.controllers.model.errors import InvalidInput, Refused
from weir.metrics.agent.sizing import Sizing


class Fleet(Sizing):
    """A cluster manager with room for so many, and executors that may not go."""

    poll_s = 0.001

    def __init__(self, there: int, room: int = 9, stays: bool = False) -> None:
        super().__init__(minimum=1, maximum=6, wanted=there)
        self.ids = [str(i) for i in range(there)]
        self.room = room
        self.stays = stays
        self.told: list[str] = []
        self.requests: list[int] = []
        self.barred = ""

    def why_not(self) -> str:
        return self.barred

    def present(self) -> list[str]:
        return list(self.ids)

    def _staying(self) -> list[str]:
        return [i for i in self.ids if i not in self.told]

    def _request(self, target: int) -> None:
        self.requests.append(target)
        more = range(len(self.ids), min(target, self.room))
        self.ids += [f"new-{i}" for i in more]

    def _decommission(self, ids: list[str]) -> None:
        self.told += ids
        if not self.stays:
            self.ids = [i for i in self.ids if i not in ids]

    def _ask_granted(self) -> int | None:
        return min(self.room, self.wanted)


def test_it_grows_and_shrinks_to_what_is_asked_for_youngest_first() -> None:
    fleet = Fleet(2)
    assert fleet.scale_to(4).startswith("2 to 4 executors, granted after 0.0 s, there after")
    assert fleet.scale_to(1).startswith("4 to 1 executors, there after")
    assert fleet.present() == ["0"]
    assert fleet.requests == [4, 1]


def test_what_cannot_be_is_refused_and_nothing_is_asked() -> None:
    fleet = Fleet(2)
    with pytest.raises(InvalidInput, match="outside the limits 1 to 6"):
        fleet.scale_to(7)
    fleet.barred = "dynamic allocation is on"
    with pytest.raises(Refused, match="dynamic allocation"):
        fleet.scale_to(3)
    assert (fleet.wanted, fleet.requests) == (2, [])


def test_a_scale_out_that_is_partly_granted_stays_asked_for_until_it_comes() -> None:
    fleet = Fleet(1, room=3)
    said = fleet.scale_to(4, timeout_s=0.01)
    assert said == "3 of 4 executors are there after 0 s; the rest is asked for until it comes"
    assert (fleet.wanted, fleet.granted) == (4, 3)
    assert [fleet.watch(3, now) for now in (0.0, 30.0)] == ["", ""]
    assert fleet.watch(3, 31.0) == (
        "1 of 4 executors has not come for 31 s, asked again once; the cluster manager has granted 3"
    )
    fleet.room = 9
    fleet.watch(3, 62.0)
    assert len(fleet.present()) == 4
    assert fleet.watch(4, 64.0) == ""
    assert fleet.requests == [4, 4, 4]


def test_a_scale_out_of_which_nothing_comes_fails_and_stays_asked_for() -> None:
    fleet = Fleet(1, room=1)
    with pytest.raises(Refused, match=r"1 of 4 .* none has come: .*free cores; the rest is asked"):
        fleet.scale_to(4, timeout_s=0.01)
    assert fleet.wanted == 4


def test_executors_that_do_not_go_are_named_and_told_only_once() -> None:
    fleet = Fleet(3, stays=True)
    with pytest.raises(Refused, match=r"3 executors .* instead of 2; none has gone: .*tasks"):
        fleet.scale_to(2, timeout_s=0.01)
    fleet.watch(3, 0.0)
    assert fleet.watch(3, 31.0) == "1 of 3 executors has not gone for 31 s; wanted: 2"
    assert fleet.told == ["2"]  # it is on its way out already


def test_one_that_came_too_late_is_told_to_go() -> None:
    fleet = Fleet(3)
    fleet.scale_to(2)
    fleet.ids.append("late")
    fleet.watch(3, 0.0)
    fleet.watch(3, 31.0)
    assert fleet.told == ["2", "late"]
    assert fleet.present() == ["0", "1"]


def test_nobody_is_sent_away_where_nothing_was_asked_or_others_decide() -> None:
    fleet = Fleet(3)
    fleet.wanted = 0  # attached, and not scaled yet
    assert [fleet.watch(3, now) for now in (0.0, 100.0)] == ["", ""]
    fleet.wanted, fleet.barred = 2, "dynamic allocation is on"
    assert [fleet.watch(3, now) for now in (200.0, 300.0)] == ["", ""]
    assert (fleet.told, fleet.requests) == ([], [])
