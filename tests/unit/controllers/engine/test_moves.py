"""The life of a rebalance, step by step, without any cluster."""

from msgspec.structs import replace

from weir.controllers.engine.apply.moves import (
    MoveSettings,
    MoveState,
    MoveStep,
    Rebalance,
    advance,
)
from weir.controllers.engine.ports import Lease, Placement
from weir.controllers.model.decision import Move
from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot


class World:
    """What the engine sees; tests change it as hosts would."""

    def __init__(self, *operators: str) -> None:
        self.now = 100.0
        self.clusters = {
            name: Cluster(name=name, app_id=f"app-{name}", hosted=True) for name in ("a", "b")
        }
        self.operators = {
            name: OperatorSample(
                name=name, cluster="a", run_id="run-a", queue_rows=5, first_batch_at=1.0,
                arrival_rows_per_s=10.0, trigger_s=2.0, state_bytes=77,
            )
            for name in operators
        }  # fmt: skip
        self.placements = {n: Placement(operator=n, cluster="a") for n in operators}
        self.leases: dict[str, Lease | None] = {
            n: Lease(name=n, holder="app-a/1", token=1) for n in operators
        }
        moves = tuple(MoveState(move=Move(operator=n, source="a", target="b")) for n in operators)
        self.rebalance = Rebalance(id="r", at=self.now, moves=moves)

    def cycle(self, seconds: float = 1.0, settings: MoveSettings | None = None) -> list[MoveStep]:
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
    assert world.cycle() == [MoveStep.RELEASING]
    assert world.placements["x"].cluster == "b"
    assert world.cycle() == [MoveStep.RELEASING]  # the old host still holds the lease
    world.released("x")
    assert world.cycle() == [MoveStep.ADOPTING]
    world.running("x", "b", pause_s=3.5, queue_rows=90)
    assert world.cycle() == [MoveStep.DONE]
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
    assert world.cycle() == [MoveStep.RELEASING, MoveStep.PLANNED, MoveStep.PLANNED]
    world.released("x")
    world.running("x", "b")
    world.cycle()
    assert world.cycle() == [MoveStep.DONE, MoveStep.RELEASING, MoveStep.PLANNED]
    both = World("x", "y", "z")
    assert both.cycle(settings=MoveSettings(most_paused=2)) == [
        MoveStep.RELEASING,
        MoveStep.RELEASING,
        MoveStep.PLANNED,
    ]


def test_what_cannot_begin_fails_with_nothing_done() -> None:
    cases = {
        "b has given no sign of life for 60 s": ("b", {"heartbeat_age_s": 60.0}),
        "b does not host operators": ("b", {"hosted": False}),
        "b cannot run x: the module of its host does not declare it": ("b", {"declared": ("y",)}),
    }
    for message, (name, change) in cases.items():
        world = World("x")
        world.clusters[name] = replace(world.clusters[name], **change)
        assert world.cycle() == [MoveStep.FAILED]
        assert world.rebalance.moves[0].message == message
        assert world.placements["x"].cluster == "a"
    stopped = World("x")
    stopped.placements["x"] = replace(stopped.placements["x"], wanted="stopped")
    assert stopped.cycle() == [MoveStep.FAILED]
    elsewhere = World("x")
    elsewhere.placements["x"] = Placement(operator="x", cluster="c")
    assert elsewhere.cycle() == [MoveStep.FAILED]
    assert elsewhere.rebalance.moves[0].message == "x is in c now, no longer in a"


def test_an_operator_that_cannot_start_there_goes_back_and_says_why() -> None:
    world = World("x")
    world.cycle()
    world.released("x")
    world.cycle()
    world.operators["x"] = replace(
        world.operators["x"], cluster="b", status=OperatorStatus.FAILED, message="no such table"
    )
    assert world.cycle() == [MoveStep.RETURNING]
    assert world.placements["x"].cluster == "a"
    world.running("x", "a")
    assert world.cycle() == [MoveStep.RETURNED]
    assert world.rebalance.moves[0].message == "went back: no such table"
    assert world.rebalance.final


def test_a_target_that_dies_or_dawdles_sends_the_operator_back() -> None:
    dead = World("x")
    dead.cycle()
    dead.released("x")
    dead.cycle()
    dead.clusters["b"] = replace(dead.clusters["b"], heartbeat_age_s=30.0)
    assert dead.cycle() == [MoveStep.RETURNING]
    slow = World("x")
    slow.cycle()
    slow.released("x")
    slow.cycle()
    assert slow.cycle(91.0) == [MoveStep.RETURNING]


def test_a_source_that_does_not_let_go_keeps_its_operator() -> None:
    world = World("x")
    world.cycle()
    assert world.cycle(61.0) == [MoveStep.RETURNING]
    assert world.placements["x"].cluster == "a"
    assert world.cycle(2.0) == [MoveStep.RETURNING]
    world.operators["x"] = replace(world.operators["x"], batch_at=world.now)
    assert world.cycle(2.0) == [MoveStep.RETURNED]


def test_a_source_that_never_comes_back_ends_the_move() -> None:
    world = World("x")
    world.cycle()
    world.released("x")
    world.cycle()
    world.cycle(91.0)
    assert world.cycle(179.0) == [MoveStep.RETURNING]
    assert world.cycle(3.0) == [MoveStep.FAILED]
    assert "a has not started it within 180 s" in world.rebalance.moves[0].message
    assert world.rebalance.final
    assert world.placements["x"].cluster == "a"


def test_a_source_that_died_counts_as_released_when_its_lease_ends() -> None:
    world = World("x")
    world.cycle()
    world.leases["x"] = None
    assert world.cycle() == [MoveStep.ADOPTING]


def test_an_operator_without_input_arrives_when_it_has_found_nothing_to_do() -> None:
    world = World("x")
    world.cycle()
    world.released("x")
    world.cycle()
    world.running("x", "b")
    fresh = replace(world.operators["x"], first_batch_at=None, queue_rows=0, arrival_rows_per_s=0.0)
    idle = replace(fresh, idle=True)
    waiting = {
        "it has not looked for input yet": fresh,
        "rows wait for its first batch": replace(idle, queue_rows=3),
        "rows arrive": replace(idle, arrival_rows_per_s=0.5),
        "it is the old run": replace(idle, run_id="run-a"),
        "it is still starting": replace(idle, status=OperatorStatus.STARTING),
    }
    for why, operator in waiting.items():
        world.operators["x"] = operator
        assert world.cycle() == [MoveStep.ADOPTING], why
    world.operators["x"] = replace(idle, queue_rows=None)  # its source does not count rows
    assert world.cycle() == [MoveStep.DONE]
    assert world.rebalance.moves[0].paused_s is None


def test_an_operator_without_input_comes_back_the_same_way() -> None:
    idle = {"first_batch_at": None, "idle": True, "queue_rows": 0, "arrival_rows_per_s": 0.0}
    world = World("x")
    world.cycle()
    world.released("x")
    world.cycle()
    assert world.cycle(91.0) == [MoveStep.RETURNING]
    world.running("x", "a")
    world.operators["x"] = replace(world.operators["x"], **idle)
    assert world.cycle() == [MoveStep.RETURNED]
    kept = World("x")
    kept.operators["x"] = replace(kept.operators["x"], **idle)
    kept.cycle()
    kept.clusters["a"] = replace(kept.clusters["a"], heartbeat_age_s=3.0)
    assert kept.cycle(61.0) == [MoveStep.RETURNING]
    assert kept.cycle(2.0) == [MoveStep.RETURNING]  # its last report is from before
    assert kept.cycle(2.0) == [MoveStep.RETURNED]


def exchange() -> World:
    """y leaves b so that x has room there; z comes to a once x has gone."""
    world = World("y", "x", "z")
    world.clusters["c"] = Cluster(name="c", app_id="app-c", hosted=True)
    ways = {"y": ("b", "c"), "x": ("a", "b"), "z": ("c", "a")}
    for name, (source, _) in ways.items():
        world.operators[name] = replace(world.operators[name], cluster=source)
        world.placements[name] = Placement(operator=name, cluster=source)
        world.leases[name] = Lease(name=name, holder=f"app-{source}/1", token=1)
    moves = tuple(
        MoveState(move=Move(operator=n, source=s, target=t)) for n, (s, t) in ways.items()
    )
    world.rebalance = Rebalance(id="r", at=world.now, moves=moves)
    return world


def test_what_depends_on_a_move_that_failed_is_not_begun() -> None:
    world = exchange()
    world.placements["y"] = replace(world.placements["y"], wanted="stopped")
    assert world.cycle() == [MoveStep.FAILED] * 3
    assert [m.message for m in world.rebalance.moves] == [
        "y is stopped now",
        "not begun: y did not leave b",
        "not begun: x did not leave a",
    ]
    assert world.placements["x"].cluster == "a"
    back = exchange()
    back.cycle()
    back.released("y")
    back.cycle()
    back.operators["y"] = replace(
        back.operators["y"], cluster="c", status=OperatorStatus.FAILED, message="no such table"
    )
    assert back.cycle() == [MoveStep.RETURNING, MoveStep.PLANNED, MoveStep.PLANNED]
    back.running("y", "b")
    assert back.cycle() == [MoveStep.RETURNED, MoveStep.FAILED, MoveStep.FAILED]


def test_a_move_waits_until_its_room_is_there_however_many_may_pause() -> None:
    world, many = exchange(), MoveSettings(most_paused=3)
    assert world.cycle(settings=many) == [MoveStep.RELEASING, MoveStep.PLANNED, MoveStep.PLANNED]
    world.released("y")
    world.cycle(settings=many)
    world.running("y", "c")
    assert world.cycle(settings=many) == [MoveStep.DONE, MoveStep.RELEASING, MoveStep.PLANNED]


def test_doing_a_step_again_changes_nothing() -> None:
    world = World("x")
    world.cycle()
    before = (world.rebalance, dict(world.placements))
    world.cycle(0.0)
    assert (world.rebalance, world.placements) == before
