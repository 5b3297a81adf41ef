"""Ownership of key groups: whatever is done to slices, every group has exactly one owner."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.slicing import Slicing, slice_name, sliced_operator

Change = Callable[[Slicing, st.DataObject], Slicing]


def split(slicing: Slicing, data: st.DataObject) -> Slicing:
    return slicing.split(data.draw(st.sampled_from(slicing.slices)))


def merge(slicing: Slicing, data: st.DataObject) -> Slicing:
    name, into = (data.draw(st.sampled_from(slicing.slices)) for _ in range(2))
    return slicing.merged(name, into)


def hand(slicing: Slicing, data: st.DataObject) -> Slicing:
    source = data.draw(st.sampled_from(slicing.slices))
    groups = data.draw(st.sets(st.sampled_from(slicing.groups_of(source)), min_size=1))
    target = data.draw(st.sampled_from([*slicing.slices, slicing.next_name()]))
    return slicing.handed(groups, source, target)


def join(slicing: Slicing, data: st.DataObject) -> Slicing:
    return slicing.joined()


def hold(slicing: Slicing, data: st.DataObject) -> Slicing:
    return slicing.holding(data.draw(st.sets(st.sampled_from(slicing.slices))))


@given(st.data(), st.integers(1, 6), st.sampled_from([8, 16, 64]))
def test_every_group_has_one_owner_after_any_changes(
    data: st.DataObject, slices: int, groups: int
) -> None:
    now = Slicing.even("x", slices, groups)
    folders = {(name, now.born[name]): now.groups_of(name) for name in now.slices}
    for change in data.draw(st.lists(st.sampled_from([split, merge, hand, join, hold]))):
        before = now
        try:
            now = change(before, data)
        except InvalidInput:
            continue  # a slice of one group cannot be split, nor merged into itself
        assert now.generation == before.generation + 1
        assert sorted(g for n in now.slices for g in now.groups_of(n)) == list(range(groups))
        assert all(now.slice_of(g) == n for n in now.slices for g in now.groups_of(n))
        for name in now.slices:
            # A checkpoint never holds other groups than when it began.
            owned = folders.setdefault((name, now.born[name]), now.groups_of(name))
            assert owned == now.groups_of(name)
        for name in set(now.slices) - set(now.changed(before)):
            assert now.born[name] == before.born[name]
        assert msgspec.json.decode(msgspec.json.encode(now), type=Slicing) == now


@pytest.mark.parametrize("slices", [1, 2, 3, 4, 7])
def test_one_more_slice_takes_its_share_and_nobody_else_gets_any(slices: int) -> None:
    before = Slicing.even("x", slices)
    after = before.joined()
    fresh = before.next_name()
    assert len(after.groups_of(fresh)) == 64 // (slices + 1)
    assert after.moved_share(before) == len(after.groups_of(fresh)) / 64
    sizes = [len(after.groups_of(name)) for name in after.slices]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "owners",
    [
        {},
        {"x.0": (0, 1)},
        {"x.0": (0, 1, 2, 3), "x.1": (3,)},
        {"x.0": (0, 1, 2, 3), "x.1": ()},
        {"y.0": (0, 1, 2, 3)},
        {"x.0": (0, 1, 2, 3, 4)},
    ],
)
def test_owners_that_cannot_be_are_refused(owners: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(InvalidInput, match="the slices of 'x'"):
        Slicing(operator="x", groups=4, owners=owners)


def test_a_number_that_became_free_is_given_again() -> None:
    three = Slicing.even("x", 3, groups=6)
    two = three.merged("x.1", "x.0")
    assert two.slices == ("x.0", "x.2")
    assert two.next_name() == "x.1"
    assert two.split("x.0").born["x.1"] == 3


def test_names() -> None:
    assert sliced_operator(slice_name("a.b", 12)) == "a.b"
    assert sliced_operator("a.") == sliced_operator("3") == ""
