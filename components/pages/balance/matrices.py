"""Correlations as the browser draws them: names, values, and words for how strong one is."""

from typing import Any

from weir.components.live.world import World
from weir.controllers.engine.propose.outlook import Matrix, Outlook

CLUSTERS = "clusters"
OPERATORS = "operators"
OPERATORS_BY_CLUSTER = "operators-by-cluster"
KEYS = (CLUSTERS, OPERATORS, OPERATORS_BY_CLUSTER)

TITLES = {
    CLUSTERS: "Cluster with cluster",
    OPERATORS: "Operator with operator",
    OPERATORS_BY_CLUSTER: "Operator with cluster",
}
HELP = {
    CLUSTERS: "Two that rise and fall together cannot help each other out at a peak.",
    OPERATORS: "Two that rise and fall together are better apart.",
    OPERATORS_BY_CLUSTER: "Outlined: where it runs, compared with the rest there. "
    "A lower figure elsewhere is a better home.",
}
BANDS = (
    (0.7, "they rise and fall together"),
    (0.3, "they tend to rise together"),
    (-0.3, "hardly any relation"),
    (-0.7, "one tends to rise when the other falls"),
    (-1.0, "one rises when the other falls"),
)
"""From which rho on which words hold; the first that fits is taken."""


def words(rho: float) -> str:
    """How strong a correlation is.

    >>> words(0.92), words(0.0), words(-1.0)
    ('they rise and fall together', 'hardly any relation', 'one rises when the other falls')
    """
    return next((said for least, said in BANDS if rho >= least), BANDS[-1][1])


def matrices(world: World) -> list[dict[str, Any]]:
    """All three with everything that the browser needs; empty without an outlook."""
    view = world.outlook
    if view is None:
        return []
    found = {
        CLUSTERS: view.clusters,
        OPERATORS: view.operators,
        OPERATORS_BY_CLUSTER: view.operators_by_cluster,
    }
    return [
        _model(key, matrix, _own(view, matrix) if key == OPERATORS_BY_CLUSTER else [])
        for key, matrix in found.items()
        if matrix is not None
    ]


def cells(world: World, key: str) -> int:
    """How many rows a matrix has, which decides how tall it is drawn."""
    view = world.outlook
    matrix = view and (view.clusters if key == CLUSTERS else view.operators)
    return len(matrix.rows) if matrix else 0


def _model(key: str, matrix: Matrix, own: list[list[int]]) -> dict[str, Any]:
    return {
        "key": key,
        "rows": list(matrix.rows),
        "columns": list(matrix.columns),
        "values": [[None if v is None else round(v, 2) for v in row] for row in matrix.values],
        "periods": [list(row) for row in matrix.periods],
        "own": own,
        "bands": [[least, said] for least, said in BANDS],
    }


def _own(view: Outlook, matrix: Matrix) -> list[list[int]]:
    """Row and column of each operator's own cluster."""
    home = view.problem.placement
    columns = {name: at for at, name in enumerate(matrix.columns)}
    return [
        [row, columns[home[name]]]
        for row, name in enumerate(matrix.rows)
        if home.get(name) in columns
    ]
