"""Learning rules that know nothing of scaling: two updates and value iteration."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)

Outcome = tuple[float, S, float]
"""Probability, next state, reward."""
Model = Mapping[S, Mapping[A, Sequence[Outcome[S]]]]
"""What every action in every state may lead to; terminal states are left out."""


def td_update(
    value: float, reward: float, following: float, learning: float, discount: float
) -> float:
    """Q <- (1 - alpha) Q + alpha (r + gamma Q').

    `following` is Q(s', a') of the action that the policy takes next: SARSA; or the
    greatest Q(s', .): Q-learning; or 0 where s' is terminal.

    >>> td_update(0.0, 1.0, 10.0, learning=0.5, discount=0.9)
    5.0
    """
    return (1.0 - learning) * value + learning * (reward + discount * following)


def back_up(outcomes: Sequence[Outcome[S]], values: Mapping[S, float], discount: float) -> float:
    """Expected reward of an action and what follows from it."""
    return sum(p * (r + discount * values.get(s, 0.0)) for p, s, r in outcomes)


def value_iteration(
    model: Model[S, A],
    discount: float,
    theta: float = 1e-9,
    sweeps: int = 100_000,
    choose: Callable[[Sequence[float]], float] = max,
    terminal: Mapping[S, float] | None = None,
) -> dict[S, float]:
    """The value of every state under the best policy (or, by `choose`, another one).

    `terminal` is the worth of states that are never left; 0 where it is not given.

    Reference: Sutton and Barto, "Reinforcement Learning", section 4.4.

    >>> value_iteration({"s": {"stay": [(1.0, "s", 1.0)], "go": [(1.0, "end", 5.0)]}}, 0.5)
    {'s': 5.0}
    >>> value_iteration({"s": {"go": [(1.0, "end", 5.0)]}}, 0.5, terminal={"end": 4.0})
    {'s': 7.0}
    """
    values = {**(terminal or {}), **dict.fromkeys(model, 0.0)}
    for _ in range(sweeps):
        change = 0.0
        for state, actions in model.items():
            new = choose([back_up(o, values, discount) for o in actions.values()])
            change = max(change, abs(new - values[state]))
            values[state] = new
        if change < theta:
            break
    return {state: values[state] for state in model}


class TransitionSamples(Struct, frozen=True):
    """Counts of what was seen: transitions P[s, a, s'] and sums of rewards R[s, a].

    Keys are "s,a", so that it is plain JSON; C[s, a] is the sum of P over s'.

    >>> seen = TransitionSamples().plus(0, 2, 1.0, 1).plus(0, 2, 3.0, 0)
    >>> seen.model()[0][2]
    [(0.5, 1, 2.0), (0.5, 0, 2.0)]
    """

    transitions: dict[str, dict[int, int]] = {}
    rewards: dict[str, float] = {}

    def plus(self, state: int, action: int, reward: float, following: int) -> "TransitionSamples":
        """With one experience more."""
        key = f"{state},{action}"
        to = self.transitions.get(key, {})
        return TransitionSamples(
            {**self.transitions, key: {**to, following: to.get(following, 0) + 1}},
            {**self.rewards, key: self.rewards.get(key, 0.0) + reward},
        )

    def with_all(self, other: "TransitionSamples") -> "TransitionSamples":
        """With the experiences of another cluster too."""
        transitions = {key: dict(to) for key, to in self.transitions.items()}
        rewards = dict(self.rewards)
        for key, to in other.transitions.items():
            mine = transitions.setdefault(key, {})
            for state, count in to.items():
                mine[state] = mine.get(state, 0) + count
            rewards[key] = rewards.get(key, 0.0) + other.rewards[key]
        return TransitionSamples(transitions, rewards)

    def model(self) -> dict[int, dict[int, list[Outcome[int]]]]:
        """Estimated probabilities and rewards of every pair that was tried."""
        found: dict[int, dict[int, list[Outcome[int]]]] = {}
        for key, to in self.transitions.items():
            state, action = map(int, key.split(","))
            count = sum(to.values())
            reward = self.rewards[key] / count
            found.setdefault(state, {})[action] = [(n / count, s, reward) for s, n in to.items()]
        return found
