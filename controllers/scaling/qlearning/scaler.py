"""The agent: observe, judge the last action, learn, choose the next."""

from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Reason
from weir.controllers.model.words import span
from weir.controllers.scaling.answers import because, cannot_tell, not_now, scale_to
from weir.controllers.scaling.base import Scaler
from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.qlearning.memory import (
    CURVE,
    TRAIL,
    LearningStep,
    QMemory,
    Sighting,
    Transition,
    epsilon_of,
    fresh_memory,
    solve_by_samples,
    with_load,
)
from weir.controllers.scaling.qlearning.need import by_rule, in_step, needed_executors, towards_need
from weir.controllers.scaling.qlearning.policy import WORDS, choose, feasible, next_epsilon, why
from weir.controllers.scaling.qlearning.reward import OVERSPENT, reward
from weir.controllers.scaling.qlearning.settings import QSettings, Strategy, Update
from weir.controllers.scaling.qlearning.states import (
    Action,
    State,
    StateSpace,
    rises,
    risk_of,
    risk_text,
)
from weir.controllers.scaling.qlearning.strategy import steps
from weir.controllers.scaling.qlearning.table import Row
from weir.controllers.scaling.qlearning.updates import TransitionSamples, td_update


class QLearning(Scaler[QSettings, QMemory]):
    """Learns from the latency which action pays in which state.

    A state is a latency bin and whether the workload rises; with the trained table also
    the risk of fewer executors. An action that was chosen but not carried out (a limit, a person, a guard) is not credited: what
    counts is what the number of executors did.

    Reference: QSpark, a Q-learning autoscaler for Spark Streaming (thesis), chapter 4.

    >>> from weir.controllers.scaling.base import Scope
    >>> len(QLearning(QSettings(), Scope(cluster="a")).fresh().table.values)
    480
    """

    name = "qlearning"
    title = "Q-learning"
    settings_type = QSettings
    memory_type = QMemory

    def fresh(self) -> QMemory:
        """The initial table of the settings."""
        return fresh_memory(self.settings)

    def judge(self, facts: ClusterFacts, memory: QMemory, now: float) -> tuple[Decision, QMemory]:
        """One period; a decision is due once per interval."""
        s = self.settings
        space = StateSpace.of(s)
        if len(memory.table.values) != len(space) or memory.table.width_s != space.width_s:
            memory = self.fresh()  # the bins were set anew, so nothing learned fits them
        if facts.own_latency_s is None:
            return cannot_tell("The latency is not known."), memory
        seen = Sighting(now, facts.own_latency_s, facts.arrival_rows_per_s)
        window = tuple(w for w in (*memory.window, seen) if w.at > now - s.window_s)
        memory = replace(memory, window=window)
        if facts.load_cores is not None:
            passed_s = now - window[-2].at if len(window) > 1 else s.window_s
            least = float(max(facts.low, 1) * facts.cores)
            needed = max(facts.load_cores, least)
            memory = with_load(memory, facts.load_cores, needed, facts.capacity, now, passed_s)
        last = memory.last
        if last is not None and now - last.at < s.decision_interval_s:
            left = s.decision_interval_s - (now - last.at)
            return not_now(
                f"The next decision is due in {span(left)}.", "now < next", left_s=left
            ), memory
        latency_s = sum(w.latency_s for w in window) / len(window)
        rows_per_s = sum(w.rows_per_s for w in window) / len(window)
        if last is None:
            memory = replace(
                memory,
                last=LearningStep(
                    now,
                    space.state(latency_s, False, self._risk(facts, memory)).index,
                    Action.NONE,
                    latency_s,
                    rows_per_s,
                    facts.executors,
                ),
            )
            return cannot_tell("The first window gives no direction yet.", "first"), memory
        rising = rises(rows_per_s, last.rows_per_s, s.incoming_message_granularity)
        state = space.state(latency_s, rising, self._risk(facts, memory))
        done = _action_taken(last, facts.executors)
        actions = feasible(done, state.bin, space.at(last.state).bin)
        row = memory.table.values[state.index]
        epsilon = epsilon_of(memory, s)
        action, by_chance = choose(s, row, actions, epsilon, memory.draws)
        by_need = s.sees_risk and not by_chance and self._is_beyond(memory, state, facts)
        if by_need:
            action = by_rule(facts, s.target_latency_s, memory.past)
        worth = reward(
            s.reward,
            done,
            latency_s,
            last.latency_s,
            s.target_latency_s,
            rising,
            _idle(facts, memory),
        )
        memory = self._learn(memory, last, done, worth, state, action, now)
        same = action is done and action is not Action.NONE
        in_a_row = memory.in_a_row + 1 if same else int(action is not Action.NONE)
        more = self._more(facts, memory, action, in_a_row)
        step = LearningStep(
            now, state.index, action, latency_s, rows_per_s, facts.executors, row, by_chance, more
        )
        memory = replace(
            memory,
            last=step,
            in_a_row=in_a_row,
            epsilon=next_epsilon(s, epsilon),
            epsilon_set=s.epsilon,
            draws=memory.draws + 1,
        )
        reason = self._reason(step, row, state, epsilon, worth, by_need)
        return scale_to(facts, self._limit(facts, more), reason), memory

    def _risk(self, facts: ClusterFacts, memory: QMemory) -> int:
        """Of what scaling in would leave; 0 where states do not know it."""
        if not self.settings.sees_risk:
            return 0
        fewer = in_step(facts.executors, self.settings.executor_granularity)
        left = max(facts.executors - fewer, 1) * facts.cores
        saved = fewer * facts.cores / memory.mean_need
        return risk_of((*memory.minutes, memory.filling), left, saved, memory.is_thrifty)

    def _learn(
        self,
        memory: QMemory,
        last: LearningStep,
        done: Action,
        worth: float,
        state: State,
        action: Action,
        now: float,
    ) -> QMemory:
        """The table after the last action was judged."""
        s = self.settings
        row = memory.table.values[state.index]
        following = row[action] if s.update is Update.SARSA else max(row)
        value = td_update(
            memory.table.values[last.state][done],
            worth,
            following,
            s.learning_factor,
            s.discount_factor,
        )
        step = Transition(now, last.state, done, worth, state.index)
        memory = replace(
            memory,
            table=memory.table.learned(last.state, done, value),
            trail=(*memory.trail, step)[-TRAIL:],
            rewards=(*memory.rewards, worth)[-CURVE:],
        )
        return self._add_sample(memory, step)

    def _add_sample(self, memory: QMemory, step: Transition) -> QMemory:
        """With one sample more, and the table solved once they were collected for long enough."""
        s = self.settings
        if not s.value_iteration_time_s:  # what was collected before it is set again is too old
            return replace(memory, samples=TransitionSamples(), sampling_since=None, solved=False)
        if memory.solved:
            return memory
        since = memory.sampling_since
        if since is None or not memory.samples.transitions:
            since = step.at
        samples = memory.samples.plus(step.state, step.action, step.reward, step.following)
        memory = replace(memory, samples=samples, sampling_since=since)
        over = step.at - since >= s.value_iteration_time_s
        return solve_by_samples(memory, s) if over else memory

    def _is_beyond(self, memory: QMemory, state: State, facts: ClusterFacts) -> bool:
        """Where the need decides and not the table: in states that it never saw, and where
        executors are short, so that no cluster starves on what was learned elsewhere."""
        unseen = not any(memory.table.visits[state.index])
        needed = needed_executors(facts, self.settings.target_latency_s, memory.past)
        return unseen or needed > facts.executors

    def _more(self, facts: ClusterFacts, memory: QMemory, action: Action, in_a_row: int) -> int:
        """Executors that an action adds, negative where it removes some."""
        s = self.settings
        if s.executor_strategy is Strategy.NEED:
            return towards_need(
                facts, action, s.target_latency_s, memory.past, s.executor_granularity
            )
        return steps(
            s.executor_strategy, action, in_a_row, facts.waiting_batches, s.executor_granularity
        )

    def _limit(self, facts: ClusterFacts, more: int) -> int:
        s = self.settings
        target = facts.executors + more
        if s.max_executors:
            target = min(target, s.max_executors)
        return max(target, s.min_executors)

    def _reason(
        self,
        step: LearningStep,
        row: Row,
        state: State,
        epsilon: float,
        worth: float,
        by_need: bool,
    ) -> Reason:
        """In the values that the action was chosen by, before the table learned from the last."""
        action = Action(step.action)
        way = "rising" if state.rising else "not rising"
        risk = f" and {risk_text(state.risk)}" if self.settings.sees_risk else ""
        values = ", ".join(f"{WORDS[a]} {row[a]:.2f}" for a in Action)
        by_table = f"{why(row, action, step.by_chance)} ({values})"
        rule = "by chance" if step.by_chance else "= argmax Q(s, .)"
        if by_need:
            by_table, rule = "is what rates and queue need, whatever was learned", "by need"
        return because(
            f"At {step.latency_s:.1f} s with the workload {way}{risk}, {WORDS[action]} {by_table}.",
            f"{WORDS[action]} {rule}",
            latency_s=step.latency_s,
            target_s=self.settings.target_latency_s,
            state=state.index,
            rising=float(state.rising),
            q_in=row[Action.IN],
            q_none=row[Action.NONE],
            q_out=row[Action.OUT],
            epsilon=epsilon,
            last_reward=worth,
        )


def _idle(facts: ClusterFacts, memory: QMemory) -> float | None:
    """Idle cores over the mean load; they weigh more where it is time to save."""
    if facts.load_cores is None:
        return None
    weight = OVERSPENT if memory.is_thrifty else 1.0
    return weight * (facts.capacity - facts.load_cores) / memory.mean_need


def _action_taken(last: LearningStep, executors: int) -> Action:
    if executors == last.executors:
        # Scaling in that finds nothing to spare is still what was chosen.
        return Action(last.action) if last.more == 0 else Action.NONE
    return Action.OUT if executors > last.executors else Action.IN
