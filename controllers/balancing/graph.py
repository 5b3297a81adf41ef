"""Balanced graph partitioning by METIS, on plain lists of weights."""

from collections.abc import Mapping, Sequence

import pymetis

_RESOLUTION = 10_000  # METIS takes whole numbers


def partition(
    weights: Sequence[float], edges: Mapping[tuple[int, int], float], parts: int, seed: int
) -> list[int]:
    """The part of every vertex: weights about even, traffic between parts small.

    >>> partition([1, 1, 1, 1], {(0, 1): 9.0, (2, 3): 9.0, (1, 2): 0.1}, 2, seed=0) in (
    ...     [0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    if parts <= 1 or len(weights) <= 1:
        return [0] * len(weights)
    if parts >= len(weights):
        return list(range(len(weights)))
    heaviest = max(weights) or 1.0
    busiest = max(edges.values(), default=0.0) or 1.0
    around: list[dict[int, float]] = [{} for _ in weights]
    for (a, b), rate in edges.items():
        if a != b:
            around[a][b] = around[a].get(b, 0.0) + rate
            around[b][a] = around[b].get(a, 0.0) + rate
    offsets, neighbours, rates = [0], [], []
    for row in around:
        for other, rate in sorted(row.items()):
            neighbours.append(other)
            rates.append(max(1, round(rate / busiest * _RESOLUTION)))
        offsets.append(len(neighbours))
    _, parts_of = pymetis.part_graph(
        parts,
        pymetis.CSRAdjacency(offsets, neighbours),
        vweights=[max(1, round(w / heaviest * _RESOLUTION)) for w in weights],
        eweights=rates,
        options=pymetis.Options(seed=seed),
    )
    return [int(p) for p in parts_of]
