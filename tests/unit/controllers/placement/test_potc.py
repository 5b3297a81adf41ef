"""Two choices even out, at the price of merging."""

from collections import Counter
from typing import Any

from weir.controllers.placement.hashing import stable_hash
from weir.controllers.placement.potc import Potc, potc_loads

KEYS = [f"key-{k}" for k in range(4000)]


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
