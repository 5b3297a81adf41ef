"""A small world for the engine: clusters with agents and hosts that do as they are told."""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from tests.support import people
from tests.support.given import given_mode
from weir.controllers.balancing.base import planner
from weir.controllers.engine.apply.effects import Chain, carry_out
from weir.controllers.engine.apply.moving import advance_moves, open_moves
from weir.controllers.engine.cycle import (
    advance_recommendations,
    propose_rebalance,
    propose_scaling,
)
from weir.controllers.engine.facts import Facts, clusters_due, read_facts
from weir.controllers.engine.ports import Part, Placement
from weir.controllers.engine.propose.balance import problem_now
from weir.controllers.engine.propose.outlook import Outlook, Proposal
from weir.controllers.engine.propose.scaling import scale_by_hand
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.model.command import CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.errors import Refused
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.sample import (
    Cluster,
    ClusterSample,
    Mode,
    OperatorSample,
    OperatorStatus,
)
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.agent.sizing import so_far
from weir.metrics.store.memory_store import MemoryStore

PERIOD_S = 2.0
QUICK = {"settle_s": 20.0, "ttl_s": 60.0}


@dataclass
class Place:
    """One cluster as it really is."""

    executors: int = 1
    wanted: int = 1
    most: int = 8
    can_scale: bool = True
    hosted: bool = True
    declared: tuple[str, ...] | None = None
    silent: bool = False
    room: int | None = None  # the cluster manager has no more; those asked for come with it
    scaled: list[str] = field(default_factory=list)  # ids of the commands that were done


class World:
    """Time goes by with `tick`; what was asked of clusters in the store is then done."""

    def __init__(self, **loads: dict[str, float]) -> None:
        self.now = 1_000_000.0
        self.store = MemoryStore(clock=lambda: self.now)
        self.places = {name: Place() for name in loads}
        self.work = {op: load for ops in loads.values() for op, load in ops.items()}
        self.runs = dict.fromkeys(self.work, 1)
        self.where = {op: name for name, ops in loads.items() for op in ops}
        self.home = dict(self.where)
        self.refuses: set[str] = set()  # operators that start nowhere but at home
        self._later: list[tuple[float, Callable[[], None]]] = []
        for name in loads:  # it answers to the load at once, which is what these tests need
            self.store.save_settings(f"scale:{name}", {"scaler": "rate_based"})
        for op, name in self.where.items():
            self.store.place(Placement(operator=op, cluster=name))
            self.store.acquire(operator_lease(op), f"app-{name}/1", 1e9)
        self.report()

    def tick(self, seconds: float = PERIOD_S) -> None:
        """Let time pass, agents act, and samples come."""
        self.now += seconds
        due_ = [act for at, act in self._later if at <= self.now]
        self._later = [(at, act) for at, act in self._later if at > self.now]
        for act in due_:
            act()
        for place in self.places.values():
            if place.room is not None:
                place.executors = min(place.wanted, place.room)
        self.agents()
        self.hosts()
        self.report()

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Let a person do something later, whoever leads by then."""
        self._later.append((self.now + seconds, act))

    def agents(self) -> None:
        """Carry out commands, as an agent does: each once, none of an old engine."""
        leader = self.store.lease("engine")
        for name, place in self.places.items():
            if place.silent:
                continue
            for command in self.store.open_commands(name):
                status, said = CommandStatus.DONE, ""
                if self.now > command.expires_at:
                    status, said = CommandStatus.EXPIRED, "not carried out: it came too late"
                elif command.fence is not None and leader and command.fence < leader.token:
                    status, said = CommandStatus.REFUSED, "not carried out: a newer engine leads"
                elif isinstance(command.action, ScaleTo):
                    self.store.claim(command.id, name, self.now)
                    place.scaled.append(command.id)
                    before, place.wanted = place.executors, command.action.executors
                    place.executors = min(place.wanted, place.room or place.wanted)
                    try:
                        said = so_far(before, place.wanted, place.executors, 90.0)
                    except Refused as error:
                        status, said = CommandStatus.FAILED, str(error)
                self.store.report(
                    CommandResult(id=command.id, status=status, at=self.now, message=said)
                )

    def hosts(self) -> None:
        """Let operators go and take them over, as placement says."""
        for op, placed in self.store.placements().items():
            if placed.cluster == self.where[op]:
                continue
            lease = self.store.lease(operator_lease(op))
            if lease is not None:
                self.store.release(lease)
                continue
            self.where[op] = placed.cluster
            self.runs[op] += 1
            self.store.acquire(operator_lease(op), f"app-{placed.cluster}/{self.runs[op]}", 1e9)

    def report(self) -> None:
        """One sample of every cluster that is not silent, and the engine's sign of life."""
        self.store.beat(Part(id="engine:1", kind="engine", name="leader", at=self.now))
        for name, place in self.places.items():
            if place.silent:
                continue
            cores = place.executors
            here = [op for op in self.work if self.where[op] == name]
            total = sum(self.work[op] for op in here)
            self.store.append(
                ClusterSample(
                    at=self.now,
                    period_s=PERIOD_S,
                    cluster=Cluster(
                        name=name, app_id=f"app-{name}", executors=place.executors,
                        executors_wanted=place.wanted, max_executors=place.most,
                        can_scale=place.can_scale, hosted=place.hosted,
                        declared=place.declared,
                    ),
                    operators=tuple(
                        self._operator(op, name, min(1.0, cores / max(total, 1e-9)))
                        for op in here
                    ),
                )
            )  # fmt: skip

    def _operator(self, op: str, name: str, share: float) -> OperatorSample:
        work = self.work[op]
        stuck = op in self.refuses and name != self.home[op]
        return OperatorSample(
            name=op, cluster=name, run_id=f"{op}-{self.runs[op]}", load=work,
            status=OperatorStatus.FAILED if stuck else OperatorStatus.RUNNING,
            message="no such table" if stuck else "",
            busy_cores=work * share, arrival_rows_per_s=100.0 * work,
            processed_rows_per_s=100.0 * work * share, cost_s_per_row=0.01, queue_rows=0,
            processing_s=1.0, batch_id=int(self.now), first_batch_at=1.0, trigger_s=1.0,
            state_bytes=1000, batches=1, rows=int(100 * work),
        )  # fmt: skip


class Crash(Exception):
    """The engine dies here."""


class Mortal:
    """A store behind which the engine dies after a given number of writes, views and memories aside."""

    WRITES = frozenset(
        {
            "save_recommendation", "submit", "save_rebalance", "change_mode", "append_audit",
            "save_outlook",
        }
    )  # fmt: skip

    def __init__(self, store: MemoryStore, writes: float) -> None:
        self._store = store
        self._left = writes

    def __getattr__(self, name: str):
        real = getattr(self._store, name)
        if name not in self.WRITES:
            return real

        def write(*args: object, **more: object) -> object:
            done = real(*args, **more)
            self._left -= 1
            if self._left < 0:
                raise Crash
            return done

        return write


class Lead:
    """An engine without its process: takes the lease, looks, acts."""

    def __init__(self, world: World, name: str = "one", writes: float = float("inf")) -> None:
        self.world = world
        self.store = Mortal(world.store, writes)
        self.lease = world.store.acquire("engine", name, 30.0)
        self.news: list[str] = []

    def cycle(
        self, *, ask: bool = True, planner: str = "", challengers: tuple[str, ...] | None = None
    ) -> None:
        """Everything that an engine does in one cycle."""
        if not self.world.store.renew(self.lease, 30.0):
            return
        self._moves()
        facts = self.facts()
        if ask:
            names = clusters_due(facts.snapshot, facts.outlooks)
            memories = {n: self.store.memories(n) for n in names}
            facts = replace(facts, memories=memories)
            self.do(propose_scaling(facts, names, self.world.now, challengers))
        if planner:
            facts = self.facts()
            view = view_of(facts, planner, self.world.now)
            self.do(propose_rebalance(facts, view, self.world.now))
        for _ in range(3):
            if not self.do(advance_recommendations(self.facts(), self.world.now)):
                break

    def do(self, chains: list[Chain]) -> int:
        """Carry out, fenced by our lease."""
        return carry_out(self.store, chains, self.lease, lambda news: self.news.append(news.event))

    def facts(self) -> Facts:
        """What there is to know now."""
        store, now = self.world.store, self.world.now
        facts = read_facts(
            store, now, self.lease.token, outlook=store.outlook(), outlooks=store.scale_outlooks()
        )
        samples = {n: store.samples(n, now - 120.0, now) for n in self.world.places}
        return replace(facts, samples=samples)

    def _moves(self) -> None:
        found = open_moves(self.world.store, self.world.now)
        if found is not None:
            self.do(advance_moves(found, self.world.now))


def view_of(facts: Facts, name: str, now: float) -> Outlook:
    """A view of the balance with the plan of one planner only."""
    problem = problem_now(facts.snapshot, facts.samples, facts.balance, facts.rebalances)
    plan = planner(name).plan(problem)
    return Outlook(
        at=now, problem=problem, planner=name,
        proposals=(Proposal(label=name, plan=plan, words=""),),
        distance=((now, plan.before.load_distance),),
    )  # fmt: skip


def run(world: World, lead: Lead, seconds: float, **how: object) -> None:
    """Let world and engine go on by turns."""
    end = world.now + seconds
    while world.now < end:
        world.tick()
        lead.cycle(**how)


def scale_out(world: World) -> None:
    """Somebody asks for a third executor in cluster a."""
    snapshot = Snapshot.of(world.store.latest(), world.now)
    people.propose_by_hand(
        world.store, scale_by_hand(snapshot, "a", 3), by="ada", now=world.now, id="it"
    )


def only(world: World, cluster: str = "a") -> Recommendation:
    """The one recommendation that there is for a cluster."""
    found = [r for r in world.store.recommendations() if cluster in r.clusters]
    assert len(found) == 1, [(r.id, r.status, r.source) for r in found]
    return found[0]


def world_with(mode: Mode = Mode.APPROVE, load: float = 1.6, **engine: object) -> World:
    """Cluster a has too much to do; the engine waits little, and b is left alone."""
    world = World(a={"count": load}, b={"top": 0.1})
    world.store.save_settings("engine", {**QUICK, **engine})
    for name in world.places:
        world.store.save_settings(f"guards:{name}", {"stabilisation_s": 10, "scale_in_delay_s": 0})
        given_mode(world.store, name, mode)
    world.store.save_settings("scale:b", {"scaler": "no_op"})
    return world
