"""The learning rules on the textbook's problems (Sutton and Barto, 2nd edition)."""

from random import Random

import pytest

from weir.controllers.scaling.qlearning.updates import td_update, value_iteration

Cell = tuple[int, int]
MOVES = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}

# Figure 3.5: gridworld, optimal values, discount 0.9.
BEST = [
    [22.0, 24.4, 22.0, 19.4, 17.5],
    [19.8, 22.0, 19.8, 17.8, 16.0],
    [17.8, 19.8, 17.8, 16.0, 14.4],
    [16.0, 17.8, 16.0, 14.4, 13.0],
    [14.4, 16.0, 14.4, 13.0, 11.7],
]
# Figure 3.2: the same under the equiprobable random policy.
RANDOM = [
    [3.3, 8.8, 4.4, 5.3, 1.5],
    [1.5, 3.0, 2.3, 1.9, 0.5],
    [0.1, 0.7, 0.7, 0.4, -0.4],
    [-1.0, -0.4, -0.4, -0.6, -1.2],
    [-1.9, -1.3, -1.2, -1.4, -2.0],
]


def moved(cell: Cell, move: str) -> tuple[Cell, float]:
    """Example 3.5: A to A' pays 10, B to B' pays 5, off the grid costs 1."""
    if cell == (0, 1):
        return (4, 1), 10.0
    if cell == (0, 3):
        return (2, 3), 5.0
    row, column = cell[0] + MOVES[move][0], cell[1] + MOVES[move][1]
    if 0 <= row < 5 and 0 <= column < 5:
        return (row, column), 0.0
    return cell, -1.0


CELLS = [(r, c) for r in range(5) for c in range(5)]
GRID = {c: {m: [(1.0, *moved(c, m))] for m in MOVES} for c in CELLS}


def close(values: dict[Cell, float], printed: list[list[float]], within: float) -> None:
    for r, c in CELLS:
        assert values[r, c] == pytest.approx(printed[r][c], abs=within), (r, c)


def test_value_iteration_gives_the_optimal_values_of_the_gridworld() -> None:
    close(value_iteration(GRID, discount=0.9), BEST, within=0.05 + 1e-6)


def test_policy_evaluation_gives_the_values_of_the_random_policy() -> None:
    values = value_iteration(GRID, discount=0.9, choose=lambda q: sum(q) / len(q))
    close(values, RANDOM, within=0.05 + 1e-6)


def test_sarsa_learns_the_values_of_the_random_policy() -> None:
    """The action that follows is drawn by the same policy; steps of falling weight."""
    chance, moves = Random(4), list(MOVES)
    q = {(c, m): 0.0 for c in CELLS for m in MOVES}
    seen = dict.fromkeys(q, 0)
    cell, move = (2, 2), "north"
    for _ in range(240_000):
        there, paid = moved(cell, move)
        then = moves[int(chance.random() * 4)]
        seen[cell, move] += 1
        alpha = 1.0 / seen[cell, move] ** 0.7
        q[cell, move] = td_update(q[cell, move], paid, q[there, then], alpha, 0.9)
        cell, move = there, then
    values = {c: sum(q[c, m] for m in MOVES) / 4 for c in CELLS}
    close(values, RANDOM, within=0.4)


def test_q_learning_learns_the_optimal_values_while_walking_at_random() -> None:
    chance, moves = Random(1), list(MOVES)
    q = {(c, m): 0.0 for c in CELLS for m in MOVES}
    cell = (2, 2)
    for _ in range(60_000):
        move = moves[int(chance.random() * 4)]
        there, paid = moved(cell, move)
        best = max(q[there, m] for m in MOVES)
        q[cell, move] = td_update(q[cell, move], paid, best, 1.0, 0.9)
        cell = there
    close({c: max(q[c, m] for m in MOVES) for c in CELLS}, BEST, within=0.05 + 1e-3)


def gambler(heads: float) -> dict[int, dict[int, list[tuple[float, int, float]]]]:
    """Example 4.3: stake what you have or what is missing to 100; 1 for reaching it."""
    return {
        have: {
            stake: [
                (heads, have + stake, 1.0 if have + stake == 100 else 0.0),
                (1.0 - heads, have - stake, 0.0),
            ]
            for stake in range(1, min(have, 100 - have) + 1)
        }
        for have in range(1, 100)
    }


def test_value_iteration_solves_the_gamblers_problem() -> None:
    """p = 0.4, figure 4.3: bold play wins; V(25), V(50), V(75) are exact."""
    values = value_iteration(gambler(0.4), discount=1.0)
    assert values[50] == pytest.approx(0.4, abs=1e-6)
    assert values[25] == pytest.approx(0.16, abs=1e-6)
    assert values[75] == pytest.approx(0.64, abs=1e-6)
    assert values[12] < values[13]
    assert values[99] == pytest.approx(0.9643, abs=2e-3)


def test_a_fair_game_cannot_be_beaten() -> None:
    values = value_iteration(gambler(0.5), discount=1.0, theta=1e-12)
    assert all(values[have] == pytest.approx(have / 100, abs=1e-4) for have in values)
