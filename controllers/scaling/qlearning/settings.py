"""The twenty settings of the thesis's table 4.4, and two that it leaves implicit.

What the thesis counts in seconds or rows/s follows from the target and the rate where it is 0,
so that one trained table fits them all.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from weir.controllers.model.settings import setting


class Initialisation(StrEnum):
    """What the table holds before anything was learned."""

    ZERO = "zero"
    RANDOM = "random"
    OPTIMISED = "optimised"
    TRAINED = "trained"  # on simulated input of many kinds


class ExplorationPolicy(StrEnum):
    """How an action is chosen from the table."""

    GREEDY = "greedy"
    EPSILON = "epsilon"
    DECREASING_EPSILON = "decreasing_epsilon"


class RewardRule(StrEnum):
    """What an action is worth."""

    GENERAL = "general"  # rules 1 to 3
    PREFER_SCALE_IN = "prefer_scale_in"  # and rule 4: in when the load is decreasing
    COST = "cost"  # idle executors cost a little, time over target costs much


class Strategy(StrEnum):
    """How many executors one action moves."""

    STATIC = "static"
    LINEAR = "linear"
    QUEUE_AWARE = "queue_aware"  # the thesis's table 4.4 says "relative"
    NEED = "need"  # towards what rates, costs and queues need


class Update(StrEnum):
    """How the table learns from one step."""

    SARSA = "sarsa"
    Q_LEARNING = "q_learning"


class QSettings(Struct, frozen=True, kw_only=True):
    """Everything that can be set."""

    min_executors: Annotated[
        int, setting("Fewest executors to use; 0 takes the cluster's limit", ge=0, unit="executors")
    ] = 0
    max_executors: Annotated[
        int, setting("Most executors to use; 0 takes the cluster's limit", ge=0, unit="executors")
    ] = 0
    executor_granularity: Annotated[
        int, setting("Executors to add or remove at each step", ge=1, le=10_000, unit="executors")
    ] = 1
    max_latency_s: Annotated[
        float, setting("Latency at which the states end; 0: twice the target", ge=0, unit="s")
    ] = 0.0
    target_latency_s: Annotated[
        float, setting("Latency that is still acceptable", ge=0.1, unit="s")
    ] = 30.0
    latency_granularity_s: Annotated[
        float,
        setting(
            "Width of one latency bin; 0: a twentieth of the target, a half if trained",
            ge=0,
            unit="s",
        ),
    ] = 0.0
    incoming_message_granularity: Annotated[
        float,
        setting(
            "Smallest change of the workload that counts; 0: a twentieth of it",
            ge=0,
            unit="rows/s",
        ),
    ] = 0.0
    window_s: Annotated[
        float, setting("Time over which figures are averaged", ge=1, le=86_400, unit="s")
    ] = 30.0
    learning_factor: Annotated[
        float, setting("Weight of what is new (alpha); 0 keeps to the table", ge=0, le=1)
    ] = 0.0
    discount_factor: Annotated[
        float, setting("Weight of what comes later (gamma)", ge=0, le=0.999)
    ] = 0.9
    initialisation_mode: Annotated[Initialisation, setting("What the table holds at the start")] = (
        Initialisation.TRAINED
    )
    epsilon: Annotated[
        float, setting("Share of random actions; where it decreases, the first", ge=0, le=1)
    ] = 0.1
    epsilon_step: Annotated[
        float, setting("Taken off epsilon at each decision, if it decreases", ge=0, le=1)
    ] = 0.01
    value_iteration_count: Annotated[
        int, setting("Most sweeps of value iteration", ge=1, le=100_000, unit="sweeps")
    ] = 1000
    value_iteration_time_s: Annotated[
        float,
        setting("Time to collect samples for value iteration; 0 does without", ge=0, unit="s"),
    ] = 0.0
    policy: Annotated[ExplorationPolicy, setting("How an action is chosen")] = (
        ExplorationPolicy.GREEDY
    )
    reward: Annotated[RewardRule, setting("What an action is worth")] = RewardRule.COST
    decision_interval_s: Annotated[float, setting("Time between decisions", ge=1, unit="s")] = 30.0
    executor_strategy: Annotated[Strategy, setting("How many executors an action moves")] = (
        Strategy.NEED
    )
    seed: Annotated[int, setting("Seed of everything random")] = 0
    update: Annotated[Update, setting("How the table learns")] = Update.SARSA
    theta: Annotated[
        float, setting("Value iteration ends when no value changes by more", ge=1e-12, le=1)
    ] = 1e-6

    def __post_init__(self) -> None:
        if self.target_latency_s > self.longest_s:
            raise ValueError("target_latency_s must not be above max_latency_s")
        if self.bin_s > self.longest_s:
            raise ValueError("latency_granularity_s must not be above max_latency_s")
        if self.longest_s / self.bin_s > 10_000:
            raise ValueError("latency_granularity_s gives more than 10,000 bins")
        if self.max_executors and self.min_executors > self.max_executors:
            raise ValueError("min_executors must not be above max_executors")

    @property
    def longest_s(self) -> float:
        """Latency at which the states end."""
        return self.max_latency_s or 2.0 * self.target_latency_s

    @property
    def sees_risk(self) -> bool:
        """Whether states know the risk of fewer executors; those of the thesis do not."""
        return self.initialisation_mode is Initialisation.TRAINED

    @property
    def bin_s(self) -> float:
        """Width of one latency bin."""
        return self.latency_granularity_s or self.target_latency_s / (
            2.0 if self.sees_risk else 20.0
        )
