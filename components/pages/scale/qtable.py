"""What the Q-learning scaler of a cluster knows, as the page draws it.

A state is a latency bin and whether the workload rises, with the trained table at some level of
risk; the table holds what each action is
worth in each state. Everything comes from the scaler's memory, whatever that is: the present
one, one of a replay, or a fresh one where nothing was learned yet.
"""

from statistics import fmean
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.live.world import World
from weir.components.pages.scale.view import ReasonNumber, own_settings
from weir.components.ui import text
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build
from weir.controllers.scaling.facts import Scope
from weir.controllers.scaling.qlearning.memory import QMemory, epsilon_of, fresh_memory
from weir.controllers.scaling.qlearning.policy import PREFERENCE, WORDS, greedy, why
from weir.controllers.scaling.qlearning.scaler import QLearning
from weir.controllers.scaling.qlearning.settings import ExplorationPolicy, QSettings
from weir.controllers.scaling.qlearning.states import Action, StateSpace, risk_text
from weir.controllers.scaling.qlearning.table import export_table

SCALER = "qlearning"
TRAIL_SHOWN = 12
MOST_BINS = 60
"""More bins than this are not drawn at once; those around the present state are."""
MEAN_OVER = 20
TITLES = {Action.IN: "Scale in", Action.NONE: "No action", Action.OUT: "Scale out"}


class Learner(Struct, frozen=True, kw_only=True):
    """Settings and memory of the Q-learning scaler of one cluster."""

    settings: QSettings
    memory: QMemory
    known: bool  # False: nothing was learned yet, or nothing that fits the settings

    @property
    def space(self) -> StateSpace:
        """The states of the table."""
        return StateSpace.of(self.settings)


class LearnerText(Struct, frozen=True, kw_only=True):
    """What the scaler says of itself, in words and figures."""

    decision: str
    epsilon: str
    facts: tuple[ReasonNumber, ...]


def learner_text(found: Learner) -> LearnerText:
    """The words beside the table."""
    return LearnerText(
        decision=last_decision(found), epsilon=epsilon_text(found), facts=tuple(facts(found))
    )


def learner(world: World, cluster: str) -> Learner:
    """What is known; settings or a memory that cannot be used count as none."""
    try:
        settings = build(QSettings, own_settings(world, cluster, SCALER))
    except InvalidInput:
        settings = QSettings()
    kept = world.memories.get(cluster, {}).get(SCALER)
    try:
        memory = QLearning(settings, Scope(cluster=cluster)).remember(kept)
    except InvalidInput:
        memory, kept = fresh_memory(settings), None
    space = StateSpace.of(settings)
    if len(memory.table.values) != len(space) or memory.table.width_s != space.width_s:
        return Learner(settings=settings, memory=fresh_memory(settings), known=False)
    return Learner(settings=settings, memory=memory, known=kept is not None)


def best(row: tuple[float, float, float]) -> Action:
    """The action that is worth most; among equals the one that the scaler would take.

    >>> best((0.0, 0.0, 0.0)).name, best((0.0, 0.1, 0.4)).name
    ('NONE', 'OUT')
    """
    return greedy(row, list(PREFERENCE))


def bin_label(space: StateSpace, index: int) -> str:
    """A latency bin in words.

    >>> space = StateSpace.of(QSettings(max_latency_s=60.0, latency_granularity_s=10.0))
    >>> bin_label(space, 0), bin_label(space, 6)
    ('0–10 s', 'over 60 s')
    """
    low = index * space.width_s
    if index == space.bins - 1:
        return f"over {low:g} s"
    return f"{low:g}–{low + space.width_s:g} s"


def heatmap(found: Learner) -> dict[str, Any]:
    """All that the browser needs to draw the table: values, as they began too, visits, the trail."""
    table, space = found.memory.table, found.space
    first, last = _window(space, _present(found))
    states = range(2 * first, 2 * last)
    shown = [table.values[s] for s in states]
    began = fresh_memory(found.settings).table.values
    return {
        "bins": [bin_label(space, space.at(2 * row).bin) for row in range(first, last)],
        "first": first,
        "allBins": space.bins * space.risks,
        "actions": [TITLES[a] for a in Action],
        "values": [[round(v, 4) for v in row] for row in shown],
        "priors": [[round(v, 4) for v in began[s]] for s in states],
        "visits": [list(table.visits[s]) for s in states],
        "best": [int(best(row)) for row in shown],
        "present": _present(found),
        "trail": [
            [round(t.at * 1000), t.state, t.action, round(t.reward, 3), t.following]
            for t in found.memory.trail[-TRAIL_SHOWN:]
        ],
    }


def curve(found: Learner) -> dict[str, Any]:
    """Every reward kept, and their running mean."""
    rewards = found.memory.rewards
    return {
        "rewards": [round(r, 3) for r in rewards],
        "mean": [
            round(fmean(rewards[max(0, i - MEAN_OVER + 1) : i + 1]), 3) for i in range(len(rewards))
        ],
        "over": MEAN_OVER,
        "before": found.memory.draws - len(rewards),  # decisions whose reward is no longer kept
    }


def facts(found: Learner) -> list[ReasonNumber]:
    """What stands beside the table."""
    memory, settings = found.memory, found.settings
    visits = memory.table.visits
    seen = sum(any(v) for v in visits)
    rewards = memory.rewards[-MEAN_OVER:]
    return [
        ReasonNumber(name="Epsilon", value=f"{epsilon_of(memory, settings):.3g}"),
        ReasonNumber(name="Policy", value=settings.policy.value.replace("_", " ")),
        ReasonNumber(name="Decisions", value=f"{memory.draws:,}"),
        ReasonNumber(name="States visited", value=f"{seen} of {len(visits)}"),
        ReasonNumber(
            name=f"Mean of the last {min(len(rewards), MEAN_OVER)} rewards" if rewards
            else "Mean reward",
            value=f"{fmean(rewards):+.2f}".replace("-", "−") if rewards else text.NOTHING,
        ),
        ReasonNumber(name="Samples kept for value iteration", value=f"{_samples(memory):,}"),
    ]  # fmt: skip


def epsilon_text(found: Learner) -> str:
    """What epsilon means under the policy that is set."""
    settings = found.settings
    if settings.policy is ExplorationPolicy.GREEDY:
        return "The policy is greedy: chance chooses nothing, whatever epsilon is."
    share = text.share(epsilon_of(found.memory, settings))
    if settings.policy is ExplorationPolicy.EPSILON:
        return f"Chance chooses {share} of the actions."
    return (
        f"Chance chooses {share} of the actions, "
        f"{settings.epsilon_step:.3g} less after each decision."
    )


def last_decision(found: Learner) -> str:
    """The last decision in words, with the numbers that it rests on.

    Those are of the moment of choosing: the table may have learned about the same state since.
    """
    memory = found.memory
    if not found.known or memory.last is None:
        return "Nothing was decided yet."
    step, space = memory.last, found.space
    state, action = space.at(step.state), Action(step.action)
    way = "rising" if state.rising else "not rising"
    risk = f", {risk_text(state.risk)}" if space.risks > 1 else ""
    at = (
        f"Latency {text.seconds(step.latency_s)} (bin {bin_label(space, state.bin)}), "
        f"{text.rate(step.rows_per_s)} and {way}, {text.plural(step.executors, 'executor')}{risk}"
    )
    if step.row is None:
        return f"{at}: the first window gives no direction yet, so nothing was chosen."
    worth = ", ".join(f"{WORDS[a]} {_signed_text(step.row[a])}" for a in Action)
    said = why(step.row, action, step.by_chance)
    for word in WORDS.values():  # “no action is ruled out” would say the opposite
        said = said.replace(f"{word} is ruled out", f"“{word}” is ruled out")
    return f"{at}: {WORDS[action]} {said} ({worth})."


def export_learner(found: Learner) -> bytes:
    """The table as a file; the command line reads and writes the same."""
    return msgspec.json.format(msgspec.json.encode(export_table(found.memory.table)), indent=1)


def loss_text(found: Learner, cluster: str) -> str:
    """What a reset takes away, said before it is done."""
    memory = found.memory
    begun = fresh_memory(found.settings).table.visits
    visits = max(0, sum(map(sum, memory.table.visits)) - sum(map(sum, begun)))
    seen = sum(any(v) for v in memory.table.visits)
    return (
        f"{cluster} forgets the worth of {text.plural(3 * len(memory.table.values), 'pair')} of "
        f"state and action, {text.plural(visits, 'visit')} to {text.plural(seen, 'state')}, "
        f"{text.plural(len(memory.rewards), 'reward')} of the learning curve and epsilon "
        f"{epsilon_of(memory, found.settings):.3g}. It begins again with the {found.settings.initialisation_mode.value} "
        "table. This cannot be undone; export the table first to keep it."
    )


def _present(found: Learner) -> int | None:
    """The state at the last decision: the one that will be judged next."""
    return found.memory.last.state if found.known and found.memory.last else None


def _window(space: StateSpace, present: int | None) -> tuple[int, int]:
    """First and one past the last row to draw: the latency bins at the present level of risk."""
    state = space.at(present or 0)
    begin = state.risk * space.bins
    if space.bins <= MOST_BINS:
        return begin, begin + space.bins
    first = begin + min(max(0, state.bin - MOST_BINS // 2), space.bins - MOST_BINS)
    return first, first + MOST_BINS


def _samples(memory: QMemory) -> int:
    return sum(sum(to.values()) for to in memory.samples.transitions.values())


def _signed_text(value: float) -> str:
    """With a true minus.

    >>> _signed_text(-0.5), _signed_text(-0.001)
    ('−0.50', '0.00')
    """
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")
