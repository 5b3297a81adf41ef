"""The life of a rebalance, step by step, without any cluster."""

from msgspec.structs import replace

from controllers.engine.moves import MoveSettings, MoveState, Rebalance, Step, advance
from controllers.engine.ports import Lease, Placement
from controllers.model.decision import Move
from controllers.model.snapshot import Cluster, Operator, OperatorStatus, Snapshot


class World:
    """What the engine sees; tests change it as hosts would."""

    def __init__(self, *operators: str) -> None:
        self.now = 100.0
        self.clusters = {
            name: Cluster(name=name, app_id=f"app-{name}", hosted=True) for name in ("a", "b")
        }
        self.operators = {
            name: Operator(
                name=name, cluster="a", run_id="run-a", queue_rows=5, first_batch_at=1.0,
                arrival_rows_per_s=10.0, trigger_s=2.0, state_bytes=77,
            )
            for name in operators
        }  # fmt: skip
        self.placements = {n: Placement(operator=n, cluster="a") for n in operators}
        self.leases = {n: Lease(name=n, holder="app-a/1", token=1) for n in operators}
        moves = tuple(MoveState(move=Move(operator=n, source="a", target="b")) for n in operators)
        self.rebalance = Rebalance(id="r", at=self.now, moves=moves)

    def cycle(self, seconds: float = 1.0, settings: MoveSettings | None = None) -> list[Step]:
        self.now += seconds
        snapshot = Snapshot(
            at=self.now,
            period_s=2.0,
            clusters=tuple(self.clusters.values()),
            operators=tuple(self.operators.values()),
        )
        self.rebalance, changes = advance(
            self.rebalance, snapshot, self.placements, self.leases, self.now, settings
        )
        for change in changes:
            self.placements[change.operator] = change
        return [m.step for m in self.rebalance.moves]

    def released(self, name: str) -> None:
        self.leases[name] = None
        self.operators[name] = replace(self.operators[name], status=OperatorStatus.STOPPED)

    def running(self, name: str, cluster: str, **figures: object) -> None:
        self.leases[name] = Lease(name=name, holder=f"app-{cluster}/2", token=2)
        self.operators[name] = replace(
            self.operators[name], cluster=cluster, status=OperatorStatus.RUNNING,
            run_id=f"run-{cluster}-2", first_batch_at=self.now, **figures,
        )  # fmt: skip


def test_a_move_from_plan_to_measured_end() -> None:
    world = World("x")
    assert world.cycle() == [Step.RELEASING]
    assert world.placements["x"].cluster == "b"
    assert world.cycle() == [Step.RELEASING]  # the old host still holds the lease
    world.released("x")
    assert world.cycle() == [Step.ADOPTING]
    world.running("x", "b", pause_s=3.5, queue_rows=90)
    assert world.cycle() == [Step.DONE]
    assert not world.rebalance.final  # the queue that built up is still there
    world.running("x", "b", queue_rows=20)
    world.cycle()
    (state,) = world.rebalance.moves
    assert world.rebalance.final
    assert (state.paused_s, state.state_bytes, state.queue_before, state.queue_peak) == (
        3.5,
        77,
        5,
        90,
    )


def test_only_so_many_are_paused_at_once_and_in_order() -> None:
    world = World("x", "y", "z")
    assert world.cycle() == [Step.RELEASING, Step.PLANNED, Step.PLANNED]
    world.released("x")
    world.running("x", "b")
    world.cycle()
    assert world.cycle() == [Step.DONE, Step.RELEASING, Step.PLANNED]
    both = World("x", "y", "z")
    assert both.cycle(settings=MoveSettings(most_paused=2)) == [
        Step.RELEASING,
        Step.RELEASING,
        Step.PLANNED,
    ]


def test_what_cannot_begin_fails_with_nothing_done() -> None:
    cases = {
        "b has given no sign of life for 60 s": ("b", {"heartbeat_age_s": 60.0}),
        "b does not host operators": ("b", {"hosted": False}),
    }
    for message, (name, change) in cases.items():
        world = World("x")
        world.clusters[name] = replace(world.clusters[name], **change)
        assert world.cycle() == [Step.FAILED]
        assert world.rebalance.moves[0].message == message
        assert world.placements["x"].cluster == "a"
    stopped = World("x")
    stopped.placements["x"] = replace(stopped.placements["x"], wanted="stopped")
    assert stopped.cycle() == [Step.FAILED]
    elsewhere = World("x")
    elsewhere.placements["x"] = Placement(operator="x", cluster="c")
    assert elsewhere.cycle() == [Step.FAILED]
    assert elsewhere.rebalance.moves[0].message == "x is in c, not in a"


def test_an_operator_that_cannot_start_there_goes_back_and_says_why() -> None:
    world = World("x")
    world.cycle()
    world.released("x")
    world.cycle()
    world.operators["x"] = replace(
        world.operators["x"], cluster="b", status=OperatorStatus.FAILED, message="no such table"
    )
    assert world.cycle() == [Step.RETURNING]
    assert world.placements["x"].cluster == "a"
    world.running("x", "a")
    assert world.cycle() == [Step.RETURNED]
    assert world.rebalance.moves[0].message == "went back: no such table"
    assert world.rebalance.final


def test_a_target_that_dies_or_dawdles_sends_the_operator_back() -> None:
    dead = World("x")
    dead.cycle()
    dead.released("x")
    dead.cycle()
    dead.clusters["b"] = replace(dead.clusters["b"], heartbeat_age_s=30.0)
    assert dead.cycle() == [Step.RETURNING]
    slow = World("x")
    slow.cycle()
    slow.released("x")
    slow.cycle()
    assert slow.cycle(91.0) == [Step.RETURNING]


def test_a_source_that_does_not_let_go_keeps_its_operator() -> None:
    world = World("x")
    world.cycle()
    assert world.cycle(61.0) == [Step.RETURNING]
    assert world.placements["x"].cluster == "a"


def test_a_source_that_died_counts_as_released_when_its_lease_ends() -> None:
    world = World("x")
    world.cycle()
    world.leases["x"] = None
    assert world.cycle() == [Step.ADOPTING]


def test_doing_a_step_again_changes_nothing() -> None:
    world = World("x")
    world.cycle()
    before = (world.rebalance, dict(world.placements))
    world.cycle(0.0)
    assert (world.rebalance, world.placements) == before
