"""What the table holds before anything was learned."""

from functools import cache
from pkgutil import get_data
from random import Random

import msgspec

from weir.controllers.scaling.qlearning.settings import Initialisation, QSettings
from weir.controllers.scaling.qlearning.states import RISKS, StateSpace
from weir.controllers.scaling.qlearning.table import QTable, Row


def initial_table(settings: QSettings) -> QTable:
    """The table to start with; the random one depends on the seed alone.

    >>> initial_table(QSettings(initialisation_mode=Initialisation.ZERO)).values[0]
    (0.0, 0.0, 0.0)
    """
    space = StateSpace.of(settings)
    mode = settings.initialisation_mode
    if mode is Initialisation.ZERO:
        rows = [(0.0, 0.0, 0.0)] * len(space)
    elif mode is Initialisation.RANDOM:
        draw = Random(f"table {settings.seed}").uniform
        rows = [(draw(-1, 1), draw(-1, 1), draw(-1, 1)) for _ in range(len(space))]
    elif mode is Initialisation.TRAINED:
        return fit_table(trained_table(), space, settings.target_latency_s)
    else:
        rows = [
            initial_row(space.latency_s(s.bin), settings.target_latency_s, s.rising)
            for s in map(space.at, range(len(space)))
        ]
    return QTable.of(rows, space.width_s)


@cache
def trained_table() -> QTable:
    """The table of the package, made by `weir train-qtable`; its target is 1 s."""
    data = get_data(__package__, "trained.json")
    assert data is not None
    return msgspec.json.decode(data, type=QTable)


def fit_table(table: QTable, space: StateSpace, target_s: float) -> QTable:
    """A table for a target of 1 s in the bins of another target, by latency over target."""
    trained = StateSpace(len(table.values) // 2 // RISKS, table.width_s, RISKS)
    states = map(space.at, range(len(space)))
    rows = [
        trained.state(space.latency_s(s.bin) / target_s, s.rising, s.risk).index for s in states
    ]
    return QTable(
        space.width_s,
        tuple(table.values[i] for i in rows),
        tuple(table.visits[i] for i in rows),
    )


def initial_row(latency_s: float, target_s: float, rising: bool) -> Row:
    """Values (in, none, out) of the four regions, with n = latency / target.

    | region | latency      | workload | out | none  | in    |
    |--------|--------------|----------|-----|-------|-------|
    | 1      | below target | rising   | n   | 1 - n | 0     |
    | 2      | above target | rising   | n   | n - 1 | -1    |
    | 3      | above target | falling  | 0   | 1     | -1    |
    | 4      | below target | falling  | 0   | n     | 1 - n |

    >>> initial_row(15.0, 30.0, rising=False)
    (0.5, 0.5, 0.0)
    """
    n = latency_s / target_s
    if rising:
        return (0.0, 1.0 - n, n) if n <= 1.0 else (-1.0, n - 1.0, n)
    return (-1.0, 1.0, 0.0) if n > 1.0 else (1.0 - n, n, 0.0)
