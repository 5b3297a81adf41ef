"""What-if for placement: the same input with another planner, another mode, or the joint plan.

A world in which operators can be moved: one that is told to move stops at the end of its
batch, stands still for as long as its state takes, and finds the rows that came meanwhile
waiting in its new cluster. All clusters are in question, not one.
"""

from collections import deque
from collections.abc import Mapping
from math import inf
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.balancing.base import planner, planners
from weir.controllers.balancing.from_snapshot import problem_of
from weir.controllers.balancing.joint import ClusterSize, JointProblem, best_options
from weir.controllers.balancing.problem import Budget, PauseModel, Problem
from weir.controllers.model.decision import Move, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Mode
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.simulator.model import NOWHERE, WorldModel
from weir.controllers.simulator.run import make_scaler
from weir.controllers.simulator.world import Phase, SimulatedOperator, SimulatedWorld

JOINT = "joint"
"""In the place of a planner: size and place weighed together."""
RECORDED = "recorded"
"""In the place of a planner: operators are moved as they were."""
WINDOW, SETTLE = 30, 12  # periods that loads are taken over; periods between two rebalances
WORTH_POINTS = 2.0  # load distance that a planner must gain, as in the engine


class PlacePolicy(Struct, frozen=True, kw_only=True):
    """Who decides where operators run and how large clusters are."""

    planner: str = JOINT
    scaler: str = "no_op"  # of every cluster
    mode: Mode = Mode.AUTO
    approve_after_s: float = 120.0  # in mode approve, how long a person takes
    moves: int = 2  # at once
    limit: float = 0.8  # load per core that a cluster is to stay below

    @property
    def delay_s(self) -> float:
        """From a decision to its being carried out; without end where nobody acts."""
        if self.mode.advice_only:
            return inf
        return self.approve_after_s if self.mode is Mode.APPROVE else 0.0


class PlacedMove(Struct, frozen=True):
    """An operator that was moved, and how long it stood still."""

    at: float
    operator: str
    source: str
    target: str
    paused_s: float


class PlacesOutcome(Struct, frozen=True, kw_only=True):
    """What came of it, over all clusters."""

    planner: str
    scaler: str
    mode: str
    time: tuple[float, ...]
    latency_s: tuple[
        float, ...
    ]  # of the slowest operator; of one that stands still, its oldest row
    executors: tuple[int, ...]
    fullest: tuple[float, ...]  # load per core
    moves: tuple[PlacedMove, ...]
    scalings: int
    executor_hours: float
    latency_p50_s: float
    latency_p95_s: float
    share_over_target: float
    queued_rows: float  # at the end
    committed_rows: float


class MovableWorld(SimulatedWorld):
    """The simulated world, with places that are chosen while it runs."""

    def __init__(self, model: WorldModel, seed: int = 0, pause: PauseModel | None = None) -> None:
        self.pause = pause or PauseModel(base_s=model.move_pause_s)
        self.moved: list[PlacedMove] = []
        self._going: dict[str, int] = {}
        first = [o.place[0] if o.place else 0 for o in model.operators]
        free = tuple(replace(o, place=()) for o in model.operators)
        super().__init__(replace(model, operators=free), seed)
        for station, place in zip(self.stations, first, strict=True):
            station.cluster = place
            if place == NOWHERE:
                station.phase, station.at = Phase.AWAY, inf

    def move(self, operator: str, cluster: int) -> None:
        """Move it at the end of its batch, or now where none is in work."""
        station = next(s for s in self.stations if s.model.name == operator)
        if station.cluster == cluster or station.phase in (Phase.MOVING, Phase.AWAY):
            return
        if station.batch is None:
            self._leave(station, cluster, self.now)
        else:
            self._going[operator] = cluster

    def _commit(self, station: SimulatedOperator, now: float) -> None:
        super()._commit(station, now)
        target = self._going.pop(station.model.name, None)
        if target is not None:
            self._leave(station, target, now)

    def _leave(self, station: SimulatedOperator, place: int, now: float) -> None:
        model = station.model
        paused_s = self.pause.base_s + self.pause.s_per_cost * (model.state_bytes or 0)
        names = [c.name for c in self.model.clusters]
        self.moved.append(
            PlacedMove(now, model.name, names[station.cluster], names[place], paused_s)
        )
        station.cluster, station.phase, station.at = place, Phase.MOVING, now + paused_s


def simulate_places(
    model: WorldModel,
    policy: PlacePolicy,
    *,
    target_latency_s: float = 30.0,
    seed: int = 0,
    pause: PauseModel | None = None,
) -> PlacesOutcome:
    """Step through all periods under a policy for all clusters."""
    if policy.planner not in (JOINT, RECORDED, *planners()):
        known = ", ".join([JOINT, RECORDED, *planners()])
        raise InvalidInput(
            f"planner: there is no '{policy.planner}'; known: {known}", field="planner"
        )
    recorded = policy.planner == RECORDED
    world: SimulatedWorld = (
        SimulatedWorld(model, seed) if recorded else MovableWorld(model, seed, pause)
    )
    steering = _Steering(model, policy, target_latency_s, seed)
    rows: list[tuple[float, float, int, float]] = []
    for _ in range(model.periods):
        snapshot = world.step()
        rows.append(_row(world, snapshot))
        steering.look(world, snapshot)
    return _outcome(world, policy, rows, steering.scalings, target_latency_s)


class _Steering:
    """The policy at work: looks each period, acts when a decision's time has come."""

    def __init__(self, model: WorldModel, policy: PlacePolicy, target_s: float, seed: int) -> None:
        self.policy, self.target_s, self.scalings = policy, target_s, 0
        self.numbers = {c.name: i for i, c in enumerate(model.clusters)}
        self.limits = {c.name: (c.min_executors, c.max_executors) for c in model.clusters}
        self.scalers = {n: make_scaler(policy.scaler, {}, n, seed, target_s) for n in self.numbers}
        self.memories = {n: s.fresh() for n, s in self.scalers.items()}
        self.loads: dict[str, deque[float]] = {
            o.name: deque(maxlen=WINDOW) for o in model.operators
        }
        self.due: deque[tuple[float, dict[str, int], tuple[Move, ...]]] = deque()
        self.quiet = 0

    def look(self, world: SimulatedWorld, snapshot: Snapshot) -> None:
        for operator in snapshot.operators:
            self.loads[operator.name].append(operator.load)
        wanted = self._asked_sizes(snapshot, world.now)
        while self.due and self.due[0][0] <= world.now:
            _, sizes, moves = self.due.popleft()
            self._act(world, sizes, moves)
        if self.due or self.policy.delay_s == inf:
            return
        sizes, moves = self._decide(snapshot, wanted)
        if sizes or moves:
            self.due.append((world.now + self.policy.delay_s, sizes, moves))
            if self.policy.delay_s <= 0.0:
                _, sizes, moves = self.due.popleft()
                self._act(world, sizes, moves)

    def _asked_sizes(self, snapshot: Snapshot, now: float) -> dict[str, int]:
        found = {}
        for name, scaler in self.scalers.items():
            decision, self.memories[name] = scaler.decide(snapshot, self.memories[name], now)
            if isinstance(decision, Scale):
                found[name] = decision.executors
        return found

    def _decide(
        self, snapshot: Snapshot, wanted: Mapping[str, int]
    ) -> tuple[dict[str, int], tuple[Move, ...]]:
        self.quiet = max(0, self.quiet - 1)
        if self.policy.planner == RECORDED:
            return dict(wanted), ()
        series = {name: LoadSeries(tuple(values)) for name, values in self.loads.items()}
        hosted = tuple(replace(c, hosted=True) for c in snapshot.clusters)
        view = replace(snapshot, clusters=hosted)
        problem = problem_of(view, series, Budget(moves=self.policy.moves))
        ready = bool(problem.items) and min(len(i.series) for i in problem.items) >= 8
        joint = self.policy.planner == JOINT
        if not ready:  # the joint plan waits for figures, as the engine does
            return {} if joint else dict(wanted), ()
        if self.quiet:
            return dict(wanted), ()
        if joint:
            best = best_options(self._question(problem, snapshot, wanted), [])[0]
            sizes = {n: s for n, s in best.sizes.items() if n in wanted} or (
                {} if best.moves else dict(wanted)
            )
            return sizes, best.moves
        plan = planner(self.policy.planner).plan(problem)
        gain = plan.before.load_distance - plan.after.load_distance
        return dict(wanted), plan.moves if gain >= WORTH_POINTS else ()

    def _question(
        self, problem: Problem, snapshot: Snapshot, wanted: Mapping[str, int]
    ) -> JointProblem:
        sites = {
            c.name: ClusterSize(
                name=c.name, executors=c.executors_asked, cores=c.cores_per_executor,
                low=self.limits[c.name][0], high=max(self.limits[c.name][1], c.executors_asked),
                wanted=wanted.get(c.name),
            )
            for c in snapshot.clusters
        }  # fmt: skip
        return JointProblem(problem=problem, sites=sites, limit=self.policy.limit)

    def _act(
        self, world: SimulatedWorld, sizes: Mapping[str, int], moves: tuple[Move, ...]
    ) -> None:
        for name, size in sizes.items():
            fleet = world.fleets[self.numbers[name]]
            before = fleet.wanted
            world.scale(self.numbers[name], size)
            self.scalings += fleet.wanted != before
        for move in moves:
            assert isinstance(world, MovableWorld)
            world.move(move.operator, self.numbers[move.target])
        if moves:
            self.quiet = SETTLE


def _row(world: SimulatedWorld, snapshot: Snapshot) -> tuple[float, float, int, float]:
    """Time, latency of the slowest, executors over all, and the fullest cluster's load."""
    latency = 0.0
    measured = {o.name: o.latency_s or 0.0 for o in snapshot.operators}
    for station in world.stations:
        oldest = station.batch.first_at if station.batch else station.queue.oldest_at
        waits = 0.0 if oldest is None else world.now - oldest
        latency = max(latency, measured.get(station.model.name, 0.0))
        if station.phase == Phase.MOVING:
            latency = max(latency, waits)
    executors = sum(c.executors for c in snapshot.clusters)
    fullest = max(
        (sum(o.load for o in snapshot.operators_of(c.name)) / max(c.capacity, 1))
        for c in snapshot.clusters
    )
    return world.now, latency, executors, fullest


def _outcome(
    world: SimulatedWorld,
    policy: PlacePolicy,
    rows: list[tuple[float, float, int, float]],
    scalings: int,
    target_s: float,
) -> PlacesOutcome:
    time, latency, executors, fullest = zip(*rows, strict=True)
    ordered = sorted(latency)
    lengths = [b - a for a, b in zip((world.model.begin, *time[:-1]), time, strict=True)]
    hours = sum(n * s for n, s in zip(executors, lengths, strict=True)) / 3600.0
    return PlacesOutcome(
        planner=policy.planner,
        scaler=policy.scaler,
        mode=policy.mode.value,
        time=time,
        latency_s=latency,
        executors=executors,
        fullest=fullest,
        moves=tuple(world.moved) if isinstance(world, MovableWorld) else (),
        scalings=scalings,
        executor_hours=hours,
        latency_p50_s=ordered[len(ordered) // 2],
        latency_p95_s=ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        share_over_target=sum(v > target_s for v in latency) / len(latency),
        queued_rows=sum(s.queue_rows for s in world.stations),
        committed_rows=sum(s.committed for s in world.stations),
    )


def compare_places(
    model: WorldModel, policies: list[PlacePolicy], **how: Any
) -> list[PlacesOutcome]:
    """Several policies on the same input."""
    return [simulate_places(model, policy, **how) for policy in policies]
