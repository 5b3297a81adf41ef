"""The engine: one cycle a second; of several one leads, and proposes, carries out and judges."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from weir.controllers.engine.apply.effects import Chain, KeepBalance, carry_out
from weir.controllers.engine.apply.moving import advance_moves, open_moves
from weir.controllers.engine.apply.reslicing import advance_reslices, open_reslices
from weir.controllers.engine.cycle import (
    advance_recommendations,
    propose_rebalance,
    propose_rescue,
    propose_scaling,
)
from weir.controllers.engine.facts import Facts, clusters_due, read_facts
from weir.controllers.engine.guard.modes import strictest_mode
from weir.controllers.engine.ports import Part, Store, Tier
from weir.controllers.engine.propose.balance import problem_now, why_untold
from weir.controllers.engine.propose.extract import Extracts
from weir.controllers.engine.propose.outlook import continue_outlook
from weir.controllers.engine.recommendation import Status
from weir.controllers.engine.tiers import roll_up
from weir.controllers.engine.window import SampleWindow
from weir.controllers.model.age import ClockWatch, age_s
from weir.controllers.model.errors import WeirError
from weir.controllers.model.limits import MOST_CLUSTERS
from weir.controllers.model.sample import Mode
from weir.controllers.model.snapshot import MOST_EDGES
from weir.metrics.export.webhook import Notifier
from weir.metrics.store.away import AwayLog
from weir.pipeline.engine.leadership import Leadership
from weir.pipeline.engine.pace import Pace, Turns
from weir.pipeline.engine.planning import Planning, PlanningRequest, unplanned_outlook
from weir.pipeline.engine.views import Views

log = logging.getLogger(__name__)

CYCLE_S = 1.0
BUSY_CYCLE_S = 0.25  # while something moves
DECIDE_S = 2.0  # least time between two rounds of asking the scalers
DECIDE_SHARE = 0.6
"""Of a core, for the scalers that are followed: what they say has to be in time."""
PLAN_S = 5.0
BURY_S = 15.0
TRIM_S = 60.0
SHADOWS_LATE_S = 10.0
"""A longer round of the scalers in shadow is worth a word."""
ROUNDS = 3  # from proposed to applying in one cycle
BATCH = 20
"""Clusters asked at a time before their answers are kept and the lease is renewed."""
WINDOW_S = 120.0
"""How far back samples are kept in memory, unless the settings want more."""


class Engine:
    """One cycle a second: lead if nobody else does, advance what is under way, decide again."""

    def __init__(
        self,
        store: Store,
        notifier: Notifier | None = None,
        planning: Planning | None = None,
    ) -> None:
        self._store = store
        self._planning = planning
        self._notifier = notifier or Notifier()
        self._leadership = Leadership(store)
        self._stop_event = threading.Event()
        self._clock = ClockWatch()
        self._views = Views()
        self._turn = 0
        self._took_s = 0.0
        self._busy = False
        self._all_edges = True
        self._away = AwayLog(log, "Redis is away")
        self._begin_to_look()

    def _begin_to_look(self) -> None:
        """Nothing is remembered by time."""
        self._window = SampleWindow()
        self._rolled_at = 0.0
        self._rolled: dict[tuple[str, Tier], float | None] = {}
        self._trimmed_at = 0.0
        self._decide = Pace(DECIDE_S, DECIDE_SHARE)
        self._shadows = Turns()
        self._plan = Pace(PLAN_S)
        self._asked_at = 0.0

    def run(self) -> None:
        """Cycle until told to stop; while Redis is away, wait for it."""
        keep, stop = self._leadership.keep, self._stop_event
        threading.Thread(target=keep, args=(stop,), name="weir-lease", daemon=True).start()
        while not self._stop_event.is_set():
            began = time.monotonic()
            self._leadership.begin_cycle()
            try:
                now = time.time()
                if self._clock.set_ahead(now, began):
                    self._leadership.watch_anew()
                self.cycle(now)
                self._away.note(None)
            except (RedisError, OSError) as error:
                self._away.note(error)
            except WeirError as error:  # e.g. a setting that nobody can act on
                log.warning("this cycle was given up: %s", error)
            except Exception as error:  # whatever it is, the next cycle may do better
                self._store.note_fault("a cycle of the engine", error)
            pace_s = BUSY_CYCLE_S if self._busy else CYCLE_S
            self._stop_event.wait(max(0.05, pace_s - (time.monotonic() - began)))
        try:
            self._store.remove_part(self._id)
            self._leadership.give_up()
        except (RedisError, OSError):
            log.info("Redis is away; the lease ends by itself")
        self._notifier.close()
        if self._planning:
            self._planning.close()

    def stop(self) -> None:
        """Make `run` end."""
        self._stop_event.set()

    @contextlib.contextmanager
    def getting_ready(self) -> Iterator[None]:
        """Give signs of life while something is loaded or compiled, which may take a minute."""
        over = threading.Event()

        def beat() -> None:
            while True:
                with contextlib.suppress(RedisError, OSError):
                    self._store.beat(self._part("standby", "getting ready", time.time()))
                if over.wait(CYCLE_S):
                    return

        thread = threading.Thread(target=beat, name="weir-getting-ready", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _part(self, name: str, detail: str, now: float, took_s: float | None = None) -> Part:
        return Part(
            id=self._id, kind="engine", name=name, at=now, pid=os.getpid(), detail=detail,
            took_s=took_s,
        )  # fmt: skip

    @property
    def _id(self) -> str:
        return f"engine:{self._leadership.holder.split('/')[1]}"

    def cycle(self, now: float) -> None:
        """Lead or stand by, once."""
        if self._clock.set_back(now):
            log.warning("the clock was set back; what was remembered by time is forgotten")
            self._begin_to_look()
        leads = self._leadership.take()
        part = (
            self._part("leader", self._detail(), now, self._took_s)
            if leads
            else self._part("standby", "", now)
        )
        self._step("the sign of life", lambda: self._store.beat(part))
        if not leads:
            return
        self._busy = False
        self._step("moves", lambda: self._drive_moves(now))
        self._step("control", lambda: self._control(now))
        self._step("dead parts", lambda: self._bury(now))
        if now - self._rolled_at >= 10.0:
            self._rolled_at = now
            self._step(
                "history", lambda: roll_up(self._store, now, ends=self._rolled, recent=self._window)
            )
        if now - self._trimmed_at >= TRIM_S:
            self._trimmed_at = now
            self._step("retention", lambda: self._store.trim(now))

    def _step(self, name: str, do: Callable[[], object]) -> None:
        """One part of a cycle: a value that breaks it does not keep the others from their turn."""
        try:
            do()
        except (ConnectionError, TimeoutError, OSError, WeirError):
            raise  # nothing else would go better
        except Exception as error:
            self._store.note_fault(f"engine, {name}", error)

    def _detail(self) -> str:
        """What people are told about the engine that leads."""
        said = [f"a look at all that is due takes {self._took_s:.1f} s"]
        if self._planning and self._planning.words:
            said.append(self._planning.words)
        round_s = self._shadows.every_s(len(self._views.scaling))
        if round_s > SHADOWS_LATE_S:
            said.append(f"scalers that are not followed answer every {round_s:.0f} s")
        above = len(self._store.clusters()) - MOST_CLUSTERS
        if above > 0:
            said.append(f"{above} clusters are left out, as {MOST_CLUSTERS} are the most")
        if not self._all_edges:
            said.append(f"{MOST_EDGES} edges are the most; what is above is left out")
        return "; ".join(said)

    def _drive_moves(self, now: float) -> None:
        """Bring every rebalance and every re-slice one step on."""
        found = open_moves(self._store, now)
        if found is not None:
            self._busy = True
            self._carry_out(advance_moves(found, now))
        reslices = open_reslices(self._store, now)
        if reslices is not None:
            self._busy = True
            self._carry_out(advance_reslices(reslices, now))

    def _control(self, now: float) -> None:
        """Ask and plan when it is time, then handle what is there until nothing more follows."""
        facts = self._facts(now)
        self._all_edges = len(facts.snapshot.edges) < MOST_EDGES
        self._notifier.url = facts.engine.webhook_url
        if self._carry_out(propose_rescue(facts, now)):  # first of all: each second counts
            facts = self._settle(self._facts(now, facts), now)
        if self._decide.due(now):
            began, spent = time.monotonic(), time.thread_time()
            if self._ask(facts, now):
                self._took_s = time.monotonic() - began
            self._decide.note(now, time.thread_time() - spent)
            facts = self._facts(now, facts)
        if self._planning and self._balance(self._planning, facts, now):
            facts = self._facts(now, facts)
        facts = self._settle(facts, now)
        self._busy = self._busy or any(
            r.status in (Status.APPROVED, Status.APPLYING) for r in facts.recommendations
        )

    def _settle(self, facts: Facts, now: float) -> Facts:
        """Handle what is there until nothing more follows; returns the facts after that."""
        for _ in range(ROUNDS):
            if not self._carry_out(advance_recommendations(facts, now)):
                break
            self._drive_moves(now)
            facts = self._facts(now, facts)
        return facts

    def _ask(self, facts: Facts, now: float) -> int:
        """The scalers of the clusters with a new period; those in shadow as time allows."""
        names = clusters_due(facts.snapshot, facts.outlooks)
        if not names:
            return 0
        extracts, spent = Extracts(facts.snapshot), time.thread_time()
        full = self._shadows.take(names, now)
        self._ask_some(facts, full, extracts, now)
        self._shadows.note(full, time.thread_time() - spent)
        self._shadows.keep(c.name for c in facts.snapshot.clusters)
        rest = set(names).difference(full)
        followed = [name for name in names if name in rest]
        self._ask_some(facts, followed, extracts, now, challengers=())
        return len(names)

    def _ask_some(
        self,
        facts: Facts,
        names: Sequence[str],
        extracts: Extracts,
        now: float,
        challengers: Sequence[str] | None = None,
    ) -> None:
        """Ask about a few clusters at a time, and keep what was said before the next ones."""
        for i in range(0, len(names), BATCH):
            some = names[i : i + BATCH]
            memories = self._store.all_memories(some)
            known = replace(facts, memories=memories)
            chains = propose_scaling(known, some, now, challengers, extracts)
            self._carry_out(chains)

    def _balance(self, planning: Planning, facts: Facts, now: float) -> bool:
        """Ask for every planner's plan, or turn the answer into a proposal; whether anything
        was written."""
        answer = planning.collect()
        if answer is not None:
            self._plan.note(self._asked_at, answer.cpu_s)
            told = not why_untold(facts.snapshot, answer.view.problem, facts.balance)
            view = continue_outlook(answer.view, facts.outlook, told)
            self._carry_out(propose_rebalance(facts, view, now))
            return True
        words = planning.words
        if not self._plan.due(now) or not (planning.free or words):
            return False
        since = now - facts.balance.window_s
        samples = {n: [s for s in found if s.at >= since] for n, found in facts.samples.items()}
        problem = problem_now(
            facts.snapshot, samples, facts.balance, facts.rebalances, facts.planners
        )
        hosts = [c.name for c in facts.snapshot.clusters if c.hosted]
        ask = PlanningRequest(
            problem=problem,
            at=now,
            chosen=facts.balance.planner,
            auto=strictest_mode(facts.modes, hosts) in (Mode.AUTO, Mode.AUTO_WITHIN_CRITERIA),
            turn=self._turn,
            left_out=planning.left_out,
        )
        if planning.free:
            self._turn += 1
            self._asked_at = now
            planning.ask(ask)
            return False
        spent = time.thread_time()
        self._carry_out([(KeepBalance(outlook=unplanned_outlook(ask, words, facts.outlook)),)])
        self._plan.note(now, time.thread_time() - spent)
        return True

    def _facts(self, now: float, before: Facts | None = None) -> Facts:
        """The world as the store has it; views that only a leader writes come from memory, and
        reports from an earlier look of this cycle."""
        lease = self._leadership.renew_lease()
        if self._views.token != lease.token:
            self._views = Views(lease.token, self._store.scale_outlooks(), self._store.outlook())
        facts = read_facts(
            self._store,
            now,
            lease.token,
            outlook=self._views.balance,
            outlooks=self._views.scaling,
            watched_s=self._leadership.watch_time_s(lease),
            before=before,
        )
        window_s = max(WINDOW_S, facts.balance.window_s, facts.engine.settle_s)
        samples = self._window.refresh(self._store, facts.latest, now - window_s)
        return replace(facts, samples=samples)

    def _carry_out(self, chains: list[Chain]) -> int:
        done = carry_out(self._store, chains, self._leadership.renew_lease(), self._notifier.tell)
        self._views.note(chains)
        return done

    def _bury(self, now: float) -> None:
        """Remove engines and web workers that died without signing off and were replaced."""
        parts = self._store.parts()
        fresh = {p.kind for p in parts if age_s(p.at, now) < 5.0}
        for part in parts:
            old = age_s(part.at, now) > BURY_S
            if old and part.kind in ("engine", "web") and part.kind in fresh:
                self._store.remove_part(part.id)
