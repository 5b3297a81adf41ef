"""The ring moves few keys, is the same everywhere, and two choices even out."""

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from weir.controllers.model.errors import InvalidInput
from weir.controllers.placement.hashing import stable_hash
from weir.controllers.placement.potc import Potc, potc_loads
from weir.controllers.placement.ring import HashRing

KEYS = [f"key-{k}" for k in range(4000)]


def test_adding_a_node_moves_about_its_share_and_only_to_it():
    ring = HashRing([f"n{k}" for k in range(4)])
    before = {key: ring.node_of(key) for key in KEYS}
    ring.add("n4")
    moved = [key for key in KEYS if ring.node_of(key) != before[key]]
    assert {ring.node_of(key) for key in moved} == {"n4"}
    assert len(moved) == pytest.approx(len(KEYS) / 5, rel=0.25)
    ring.remove("n4")
    assert {key: ring.node_of(key) for key in KEYS} == before


def test_plain_modulo_moves_almost_all():
    moved = [k for k in KEYS if stable_hash(k) % 4 != stable_hash(k) % 5]
    assert len(moved) > 0.75 * len(KEYS)


def test_weights_share_the_keys_out():
    ring = HashRing()
    ring.add("small")
    ring.add("large", weight=3.0)
    share = Counter(ring.node_of(key) for key in KEYS)
    assert share["large"] / len(KEYS) == pytest.approx(0.75, abs=0.06)
    ring.add("large", weight=1.0)
    assert Counter(ring.node_of(k) for k in KEYS)["large"] / len(KEYS) == pytest.approx(
        0.5, abs=0.08
    )


def test_on_a_collision_the_first_node_keeps_the_spot(monkeypatch):
    monkeypatch.setattr("weir.controllers.placement.ring.stable_hash", lambda key: 7)
    ring = HashRing(["first", "second"], points=3)
    assert ring.node_of("any") == "first"
    ring.remove("first")
    assert ring.node_of("any") == "second"


def test_the_same_in_another_process():
    code = (
        "from weir.controllers.placement.ring import HashRing; r = HashRing(['a', 'b', 'c']);"
        "print([r.node_of(str(k)) for k in range(50)])"
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
    ring = HashRing(["a", "b", "c"])
    assert outs == {f"{[ring.node_of(str(k)) for k in range(50)]}\n"}


def test_an_empty_ring_and_a_weightless_node_are_refused():
    with pytest.raises(InvalidInput):
        HashRing().node_of("x")
    with pytest.raises(InvalidInput):
        HashRing().add("a", weight=0.0)


def test_two_choices_are_two_nodes_and_even_out_a_skewed_load():
    router = Potc(["a", "b", "c", "d"])
    assert all(len(set(router.choices(key))) == 2 for key in KEYS[:200])
    skewed = {key: 1.0 / (rank + 1) ** 0.5 for rank, key in enumerate(KEYS[:1000])}
    two = potc_loads(skewed, list("abcd")).values()
    one: Counter[Any] = Counter()
    for key, load in skewed.items():
        one["abcd"[stable_hash(key) % 4]] += load
    assert max(two) - min(two) < 0.2 * (max(one.values()) - min(one.values()))


def test_merging_is_not_balanced():
    loads = dict.fromkeys(KEYS[:40], 1.0)
    free = potc_loads(loads, list("abcd")).values()
    merging = potc_loads(loads, list("abcd"), merge=0.5).values()
    assert max(merging) - min(merging) > max(free) - min(free)
