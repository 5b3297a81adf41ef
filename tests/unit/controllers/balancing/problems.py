"""Problems for the tests, by hand and by hypothesis."""

import numpy as np
from hypothesis import strategies as st

from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem


def simple(
    loads: list[list[float]],
    capacity: list[float] | None = None,
    keep: list[bool] | None = None,
    **budget: float,
) -> Problem:
    """Bins b0, b1, ... with items of the given loads, named by bin and position."""
    capacity = capacity or [100.0] * len(loads)
    keep = keep or [True] * len(loads)
    return Problem(
        bins=tuple(
            Bin(name=f"b{i}", capacity=c, keep=k)
            for i, (c, k) in enumerate(zip(capacity, keep, strict=True))
        ),
        items=tuple(
            Item(name=f"b{i}i{k}", load=load, bin=f"b{i}")
            for i, row in enumerate(loads)
            for k, load in enumerate(row)
        ),
        budget=Budget(**budget),
    )


def random_problem(
    seed: int, bins: int = 6, items: int = 40, moves: int | None = 8, flows: int = 0
) -> Problem:
    """Items of uneven load on bins of uneven capacity."""
    rng = np.random.default_rng(seed)
    names = [f"i{k}" for k in range(items)]
    return Problem(
        bins=tuple(
            Bin(name=f"b{k}", capacity=float(rng.choice([50.0, 100.0]))) for k in range(bins)
        ),
        items=tuple(
            Item(name=n, load=float(rng.uniform(0.5, 8.0)), bin=f"b{rng.integers(bins)}")
            for n in names
        ),
        flows=tuple(
            Flow(source=str(a), target=str(b), rate=float(rng.uniform(1, 10)))
            for a, b in (rng.choice(names, 2, replace=False) for _ in range(flows))
        ),
        budget=Budget(moves=moves),
    )


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Anything that is valid: pinned, draining, heterogeneous, several resources, both budgets,
    and items that may only be on some of the bins."""
    bins = draw(st.integers(1, 5))
    items = draw(st.integers(0, 12))
    number = st.one_of(st.just(0.0), st.floats(0.01, 60.0), st.integers(0, 5).map(float))
    length = draw(st.integers(0, 4))
    resources = draw(st.booleans())
    some = st.sets(st.integers(0, bins - 1)).map(lambda s: tuple(f"b{k}" for k in sorted(s)))
    made = tuple(
        Item(
            name=f"i{k}",
            load=draw(number),
            bin=f"b{draw(st.integers(0, bins - 1))}",
            move_cost=draw(number),
            series=tuple(draw(number) for _ in range(length)),
            resources={"memory": draw(number)} if resources else {},
            pinned=draw(st.booleans()) and draw(st.booleans()),
            allowed=draw(st.one_of(st.none(), st.none(), some)),
        )
        for k in range(items)
    )
    flows: tuple[Flow, ...] = ()
    if items > 1:
        ends = st.integers(0, items - 1)
        flows = tuple(
            Flow(source=f"i{draw(ends)}", target=f"i{draw(ends)}", rate=draw(number))
            for _ in range(draw(st.integers(0, 6)))
        )
    return Problem(
        bins=tuple(
            Bin(
                name=f"b{k}",
                capacity=draw(st.sampled_from([1.0, 4.0, 100.0])),
                keep=draw(st.sampled_from([True, True, True, False])),
                resources={"memory": 80.0} if resources and draw(st.booleans()) else None,
            )
            for k in range(bins)
        ),
        items=made,
        flows=flows,
        budget=Budget(
            moves=draw(st.one_of(st.none(), st.integers(0, 6))),
            cost=draw(st.one_of(st.none(), st.floats(0, 100))),
        ),
    )
