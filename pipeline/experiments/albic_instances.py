"""The synthetic instances of the ALBIC paper, section 5.1 and 5.3.

Every node has the same number of key groups. A group's load is the mean, off by
up to 5 %; then 20 % of the nodes are changed, half of them up and half of them
down by `varies / 2` of their load, spread over a random set of their groups.
"""

import numpy as np

from weir.controllers.balancing.problem import Bin, Budget, Flow, Item, Problem

SIZES = ((20, 400), (40, 800), (60, 1200), (200, 4000), (600, 12000))
MEAN_POINTS = 50.0  # the paper does not say how full its nodes are


def instance(
    nodes: int, groups: int, varies: float, moves: int | None, seed: int, mean: float = MEAN_POINTS
) -> Problem:
    """One instance; `varies` as a share, e.g. 0.6."""
    rng = np.random.default_rng(seed)
    per_node = groups // nodes
    load = mean / per_node * (1.0 + rng.uniform(-0.05, 0.05, (nodes, per_node)))
    changed = rng.permutation(nodes)[: max(2, round(nodes * 0.2))]
    for position, node in enumerate(changed):
        sign = 1.0 if position < len(changed) // 2 else -1.0
        change(load[node], sign * varies / 2.0, rng)
    return problem_of_loads(load, moves)


def change(load: np.ndarray, share: float, rng: np.random.Generator) -> None:
    """Change a node's load by a share of it, over a random half or more of its groups."""
    count = int(rng.integers((len(load) + 1) // 2, len(load) + 1))
    chosen = rng.permutation(len(load))[:count]
    wanted = share * load.sum()
    if wanted < 0:  # no group below zero: all of them give if the chosen ones cannot
        chosen = chosen if load[chosen].sum() >= -wanted else np.arange(len(load))
    load[chosen] *= 1.0 + wanted / load[chosen].sum()


def problem_of_loads(load: np.ndarray, moves: int | None, flows: tuple[Flow, ...] = ()) -> Problem:
    """Nodes of capacity 100 with the groups of each row of `load` on them."""
    return Problem(
        bins=tuple(Bin(name=f"n{i}", capacity=100.0) for i in range(len(load))),
        items=tuple(
            Item(name=f"g{i * load.shape[1] + k}", load=float(load[i, k]), bin=f"n{i}")
            for i in range(len(load))
            for k in range(load.shape[1])
        ),
        flows=flows,
        budget=Budget(moves=moves),
    )
