"""The ring moves few keys, loses none, and is the same in every process and version."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.slicing import Slicing
from weir.controllers.placement.hashing import key_groups, stable_hash
from weir.controllers.placement.reslicing import (
    first,
    half_of,
    hand_over,
    join,
    moved_share,
    one_fewer,
    one_more,
    quotas,
    resize,
    take_over,
)
from weir.controllers.placement.ring import Ring

KEYS = [f"key-{k}" for k in range(4000)]


@st.composite
def slicings(draw: st.DrawFn) -> Slicing:
    """Any owners that are possible, also such as no rule would make."""
    groups = draw(st.sampled_from([2, 8, 64]))
    count = draw(st.integers(1, min(groups, 9)))
    owner = draw(st.lists(st.integers(0, count - 1), min_size=groups, max_size=groups))
    owners: dict[str, list[int]] = {}
    for group, index in enumerate(owner):
        owners.setdefault(f"op.{index}", []).append(group)
    return Slicing(operator="op", groups=groups, owners={n: tuple(g) for n, g in owners.items()})


def whole(slicing: Slicing) -> bool:
    """Every key group has one owner, and every slice has some."""
    owned = sorted(g for groups in slicing.owners.values() for g in groups)
    return owned == list(range(slicing.groups)) and all(slicing.owners.values())


def owner_of(key: str, ring: Ring) -> str:
    """The slice that a key belongs to."""
    return ring.owner[key_groups([key.encode()], ring.slicing.groups)[0]]


@given(slicings(), st.data())
def test_no_change_of_the_ring_loses_a_key_group_or_gives_it_two_owners(
    slicing: Slicing, data: st.DataObject
):
    name = data.draw(st.sampled_from(sorted(slicing.owners)))
    for change in (
        one_more,
        one_fewer,
        lambda s: one_fewer(s, name),
        lambda s: join(s, name),
        lambda s: take_over(s, name),
        lambda s: resize(s, data.draw(st.integers(1, s.groups))),
        lambda s: hand_over(s, data.draw(st.sets(st.integers(0, s.groups - 1))), name),
    ):
        try:
            after = change(slicing)
        except InvalidInput:
            continue
        assert whole(after)
        assert after.generation > slicing.generation or after == slicing


@given(slicings())
def test_one_more_slice_takes_its_share_and_nothing_else_moves(slicing: Slicing):
    if len(slicing.owners) == slicing.groups:
        with pytest.raises(InvalidInput):
            one_more(slicing)
        return
    after = one_more(slicing)
    new = slicing.next_name()
    assert moved_share(slicing, after) == len(after.owners[new]) / slicing.groups
    exact = slicing.groups / (len(slicing.owners) + 1)
    assert int(exact) <= len(after.owners[new]) <= exact + 1
    for name in slicing.owners:
        assert set(after.owners[name]) <= set(slicing.owners[name])


@given(slicings())
def test_one_slice_fewer_moves_what_it_had_and_nothing_else(slicing: Slicing):
    if len(slicing.owners) == 1:
        return
    after = one_fewer(slicing)
    gone = set(slicing.owners) - set(after.owners)
    assert len(gone) == 1
    for name in after.owners:
        assert set(after.owners[name]) >= set(slicing.owners[name])


@pytest.mark.parametrize("slices", [2, 4, 8])
def test_a_new_slice_moves_one_share_of_the_keys_where_modulo_moves_nearly_all(slices: int):
    before = first("op", slices)
    ring, after = Ring(before), Ring(one_more(before))
    moved = [k for k in KEYS if owner_of(k, ring) != owner_of(k, after)]
    assert {owner_of(k, after) for k in moved} == {before.next_name()}
    assert len(moved) / len(KEYS) == pytest.approx(1 / (slices + 1), rel=0.25)
    modulo = [k for k in KEYS if stable_hash(k) % slices != stable_hash(k) % (slices + 1)]
    assert len(moved) < 0.6 * len(modulo)


def test_keys_fall_evenly_on_the_ring():
    counts = [0] * 64
    for key in KEYS:
        counts[key_groups([key.encode()], 64)[0]] += 1
    assert min(counts) > 0.5 * len(KEYS) / 64
    assert max(counts) < 1.6 * len(KEYS) / 64


def test_weights_share_the_key_groups_out():
    ring = Ring(first("op", 2, weights={"op.1": 3.0}))
    assert ring.shares() == {"op.0": 0.25, "op.1": 0.75}
    assert ring.shares({0: 5.0, 63: 15.0}) == {"op.0": 0.25, "op.1": 0.75}
    with pytest.raises(InvalidInput):
        quotas(["a"], 8, {"a": 0.0})


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 100.0), min_size=1),
    st.integers(8, 100),
)
def test_quotas_sum_up_and_leave_nobody_empty(weights: dict[str, float], groups: int):
    found = quotas(weights, groups, weights)
    assert sum(found.values()) == groups
    assert min(found.values()) >= 1


def test_the_same_in_another_process():
    code = (
        "from weir.controllers.placement.reslicing import first, one_more;"
        "from weir.controllers.placement.ring import Ring; r = Ring(one_more(first('op', 3)));"
        "from weir.controllers.placement.hashing import key_groups;"
        "print([r.owner[g] for g in key_groups((b'%d' % k for k in range(50)), 64)])"
    )
    outs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    ring = Ring(one_more(first("op", 3)))
    assert outs == {f"{[owner_of(str(k), ring) for k in range(50)]}\n"}


def test_the_key_group_of_a_key_stays_what_it_was_in_the_first_version():
    known = {"": 0, "a": 17, "weir": 21, "#topic": 29, "ÜñïçØdé": 59, "1234567890": 3}
    assert key_groups([key.encode() for key in known], 64).tolist() == [*known.values()]


def test_the_neighbour_is_the_next_one_clockwise_also_over_the_top():
    ring = Ring(first("op", 3))
    assert [ring.neighbour(f"op.{k}") for k in range(3)] == ["op.1", "op.2", "op.0"]
    assert Ring(first("op", 1)).neighbour("op.0") is None


def test_half_the_way_by_rows_goes_where_the_rows_are():
    arc = Ring(first("op", 2, groups=8)).main_arc("op.0")
    assert half_of(arc) == (2, 3)
    assert half_of(arc, {0: 90.0, 1: 10.0, 2: 5.0, 3: 5.0}) == (1, 2, 3)


def test_what_cannot_be_is_refused_in_words():
    slicing = first("op", 2, groups=4)
    for change in (
        lambda: hand_over(slicing, [9], "op.0"),
        lambda: hand_over(slicing, [0], "op.0"),
        lambda: hand_over(slicing, [0], "op.7"),
        lambda: one_fewer(first("op", 1)),
        lambda: one_fewer(slicing, "op.9"),
        lambda: resize(slicing, 5),
        lambda: first("op", 0),
        lambda: join(first("op", 4, groups=4), "op.0"),
    ):
        with pytest.raises(InvalidInput):
            change()
