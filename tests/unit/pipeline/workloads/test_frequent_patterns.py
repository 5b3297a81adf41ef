"""Frequent patterns: what is maximal, and that the loop leads there whatever the order."""

import random
from collections import defaultdict
from typing import Any

import pandas as pd

from weir.pipeline.workloads.frequent_patterns import (
    COUNT,
    ENOUGH,
    LARGER,
    REPORT,
    WINDOW,
    _detect,
    _slide,
    expected,
)
from weir.pipeline.workloads.item_sets import item_sets, patterns


class State:
    """What Spark keeps of one key."""

    def __init__(self) -> None:
        self.get: tuple[Any, ...] = ()

    @property
    def exists(self) -> bool:
        return bool(self.get)

    def update(self, value: tuple[Any, ...]) -> None:
        self.get = value


def test_only_the_largest_of_the_frequent_are_reported() -> None:
    rows = [f"{i},a b" for i in range(ENOUGH)] + [f"{i},c" for i in range(ENOUGH + 2)]
    assert expected([*rows, "0,d", "0,a"]) == {"a b": ENOUGH, "c": ENOUGH + 2}
    assert expected([*rows, *("0,z" for _ in range(WINDOW))]) == {"z": WINDOW}


def told(key: tuple[str], rows: pd.DataFrame, state: State) -> list[Any]:
    found = _detect(ENOUGH)(key, iter([rows]), state)
    return [row for made in found for row in made.itertuples()]


def test_the_loop_leads_to_the_same_patterns_in_any_order() -> None:
    texts = item_sets(0, WINDOW + 150).to_pylist()
    messages = pd.DataFrame(
        [(1.0, int(t.split(",")[0]), t.split(",")[1]) for t in texts],
        columns=["ts", "number", "items"],
    )
    (labelled,) = _slide(WINDOW)(("all",), iter([messages]), State())
    assert labelled["change"].sum() == WINDOW
    waiting = [
        (COUNT, pattern, change)
        for items, change in zip(labelled["items"], labelled["change"], strict=True)
        for pattern in patterns(items.split())
    ]
    rng, states, reported = random.Random(5), defaultdict[str, State](State), dict[str, int]()
    while waiting:
        rng.shuffle(waiting)
        batch, waiting = waiting[:1500], waiting[1500:]
        by_pattern = defaultdict(list)
        for kind, pattern, value in batch:
            by_pattern[pattern].append((1.0, kind, value))
        for pattern, rows in by_pattern.items():
            frame = pd.DataFrame(rows, columns=["ts", "kind", "value"])
            for row in told((pattern,), frame, states[pattern]):
                if row.kind == LARGER:
                    waiting.append((LARGER, row.pattern, row.value))
                elif row.kind == REPORT:
                    reported[row.pattern] = row.value
    assert {p: n for p, n in reported.items() if n} == expected(texts)
    assert any(" " in pattern for pattern in expected(texts))
