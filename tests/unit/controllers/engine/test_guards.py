"""Every guard, closed and open."""

import pytest
from msgspec.structs import replace

from tests.unit.controllers.engine.asked import IN, MOVE, NOW, OUT, moves, scale
from weir.controllers.engine.apply.moves import MoveState, Rebalance
from weir.controllers.engine.guard.guards import (
    HARD,
    POLICY,
    TIMING,
    Case,
    first_closed,
    guard_states,
)
from weir.controllers.engine.guard.rules import EngineSettings, GuardSettings
from weir.controllers.engine.propose.scaling import ScaleSettings
from weir.controllers.engine.recommendation import (
    Entry,
    Recommendation,
    Status,
)
from weir.controllers.model.sample import Cluster, OperatorSample
from weir.controllers.model.snapshot import Snapshot


def past(
    found: Recommendation, ago_s: float, status: Status = Status.APPLIED, mode: str = "auto"
) -> Recommendation:
    begun = Entry(at=NOW - ago_s, status=Status.APPLYING, by="engine")
    end = Entry(at=NOW - ago_s, status=status, by="engine")
    return replace(
        found, id=f"past-{ago_s}-{found.kind}", status=status, mode=mode,
        applied_at=None if status in (Status.FAILED, Status.APPLYING) else NOW - ago_s,
        history=(begun, end),
    )  # fmt: skip


def case(found: Recommendation, **more: object) -> Case:
    clusters = tuple(
        Cluster(
            name=n, executors=2, executors_wanted=2, max_executors=9, can_scale=True, hosted=True
        )
        for n in ("a", "b")
    )
    settings = GuardSettings(stabilisation_s=30, scale_in_delay_s=0, **more.pop("rules", {}))
    facts = {
        "snapshot": Snapshot(at=NOW, period_s=2.0, clusters=clusters),
        "settings": {"a": settings, "b": settings},
        "fresh_periods": {"a": 9, "b": 9},
        **more,
    }
    return Case(recommendation=found, now=NOW, **facts)


def silent(**change: object) -> Snapshot:
    clusters = tuple(
        replace(c, **(change if c.name == "a" else {})) for c in case(scale(3)).snapshot.clusters
    )
    return Snapshot(at=NOW, period_s=2.0, clusters=clusters)


def young(age_s: float) -> Snapshot:
    operator = OperatorSample(name="x", cluster="a", first_batch_at=NOW - age_s)
    return replace(case(scale(3)).snapshot, operators=(operator,))


def by_hand(recommendation: Recommendation) -> Recommendation:
    return replace(recommendation, by="ada", source="by hand")


def approved(recommendation: Recommendation) -> Recommendation:
    entry = Entry(at=NOW - 110, status=Status.APPROVED, by="ada")
    return replace(recommendation, id="cause", history=(entry, *recommendation.history))


UNDO = replace(IN, source="rollback", rollback_of="cause")
BACK = replace(
    moves(),
    decision=replace(
        moves().decision,
        moves=(replace(MOVE, source=MOVE.target, target=MOVE.source),),
    ),
)
UNDER_WAY = Rebalance(id="r", at=NOW, moves=(MoveState(move=MOVE),))
CASES: list[tuple[str, Case, str, float | None]] = [
    ("data gate", case(OUT, fresh_periods={"a": 1}), "1 of 3 periods", NOW + 4),
    ("data gate", case(OUT, snapshot=silent(heartbeat_age_s=60.0)), "60 s old", None),
    ("warm-up", case(OUT, snapshot=young(10.0)), "x began 10 s ago", NOW + 20),
    ("executor limits", case(scale(10)), "1 to 9 executors, not 10", None),
    ("executor limits", case(OUT, scaling={"a": ScaleSettings(max_executors=2)}), "1 to 2", None),
    ("total capacity", case(OUT, engine=EngineSettings(total_executors=4)), "2 executors", None),
    ("agent", case(OUT, snapshot=silent(can_scale=False)), "a recommendation only", None),
    ("agent", case(moves(), snapshot=silent(hosted=False)), "start and stop operators", None),
    ("step limit", case(scale(7)), "4 executors are the most", None),
    ("one action at a time", case(OUT, others=[past(IN, 1, Status.APPLYING)]), "under way", None),
    ("one action at a time", case(OUT, rebalances=[UNDER_WAY]), "a rebalance with a", None),
    ("stabilisation", case(OUT, others=[past(moves(), 10)]), "settle", NOW + 20),
    ("stabilisation", case(OUT, others=[past(IN, 10, Status.FAILED)]), "settle", NOW + 20),
    ("still to come", case(OUT, snapshot=silent(executors=1)), "1 of the 2 executors", None),
    (
        "scale-in delay",
        case(
            IN,
            settings={"a": GuardSettings(scale_in_delay_s=60)},
            asked={"a": [(NOW - 70, 1), (NOW - 15, 2), (NOW - 5, 1)]},
        ),
        "wanted for 60 s",
        NOW + 45,
    ),
    (
        "action budget",
        case(OUT, others=[past(OUT, 100), past(OUT, 3000)], rules={"actions_per_hour": 2}),
        "2 actions on a",
        NOW + 600,
    ),
    (
        "flapping",
        case(OUT, others=[past(IN, 100), past(OUT, 200), past(IN, 300)], rules={"most_flips": 3}),
        "out and in 3 times",
        NOW + 1500,
    ),
    ("excluded hours", case(OUT, rules={"excluded_hours": "11-14"}), "11-14 UTC", NOW + 7200),
    (
        "migration cost",
        case(moves(60.0), others=[past(moves(50.0), 1800)], rules={"move_bytes_per_hour": 100}),
        "110 B of state in an hour",
        NOW + 1800,
    ),
    ("person's decision", case(IN, others=[by_hand(past(OUT, 100))]), "ada decided", None),
    ("person's decision", case(BACK, others=[by_hand(past(moves(), 100))]), "ada decided", None),
    ("person's decision", case(UNDO, others=[approved(past(OUT, 100))]), "ada decided", None),
    ("pause", case(OUT, engine=EngineSettings(paused=True)), "paused", None),
]


def arriving(cores: float, recommendation: Recommendation) -> Recommendation:
    return replace(recommendation, before=replace(recommendation.before, work_cores=cores))


@pytest.mark.parametrize(
    ("wanted", "work", "was", "held"),
    [
        (OUT, 3.0, 0.5, False),  # much more arrives than the size was chosen for
        (OUT, 0.55, 0.5, True),
        (OUT, 0.1, 3.0, True),  # less arrives: no reason for more than a person wanted
        (IN, 0.5, 3.0, False),
        (IN, 3.2, 3.0, True),
        (UNDO, 0.5, 3.0, True),  # a rollback is asked for, whatever arrives
    ],
)
def test_a_size_that_a_person_chose_holds_for_its_input(
    wanted: Recommendation, work: float, was: float, held: bool
) -> None:
    other = IN if wanted is OUT else OUT
    then = arriving(
        was, approved(past(other, 100)) if wanted is UNDO else by_hand(past(other, 100))
    )
    states = guard_states(case(arriving(work, wanted), others=[then]))
    assert next(s for s in states if s.name == "person's decision").open is not held


@pytest.mark.parametrize(("name", "found", "why", "opens_at"), CASES)
def test_a_guard_is_closed_with_reason_and_time(
    name: str, found: Case, why: str, opens_at: float | None
) -> None:
    state = next(s for s in guard_states(found) if s.name == name)
    assert not state.open
    assert why in state.reason
    assert state.opens_at == opens_at


def test_every_guard_was_shown_closed_and_all_are_open_in_a_quiet_world() -> None:
    rescues_only = {"repeated rescue"}  # see test_rescue.py
    assert {name for name, *_ in CASES} == {*TIMING, *HARD, *POLICY} - rescues_only
    for found in (OUT, IN, moves()):
        quiet = case(found, asked={"a": [(NOW - 99, 1)]})
        assert first_closed(guard_states(quiet), TIMING, HARD, POLICY) is None


def test_what_is_on_its_way_elsewhere_counts_for_the_total() -> None:
    coming = replace(scale(5), id="b", clusters=("b",), status=Status.APPLYING)
    coming = replace(coming, decision=replace(coming.decision, cluster="b"))
    found = case(OUT, engine=EngineSettings(total_executors=7), others=[coming])
    assert (
        "5 executors are in use or coming elsewhere"
        in first_closed(guard_states(found), HARD).reason
    )


def test_of_two_that_were_approved_only_the_later_one_waits() -> None:
    first = past(scale(5), 20, Status.APPROVED)
    second = past(scale(5), 10, Status.APPROVED)
    second = replace(
        second, clusters=("b",), decision=replace(second.decision, cluster="b"), applied_at=None
    )
    first = replace(first, applied_at=None)
    both, limit = [second, first], EngineSettings(total_executors=8)
    assert first_closed(guard_states(case(first, engine=limit, others=both)), HARD) is None
    waits = first_closed(guard_states(case(second, engine=limit, others=both)), HARD)
    assert waits is not None
    assert "5 executors are in use or coming elsewhere, and 8 are the most" in waits.reason


def test_what_people_did_by_hand_is_no_flapping() -> None:
    by_hand = [
        replace(past(k, at), source="by hand") for k, at in ((IN, 100), (OUT, 200), (IN, 300))
    ]
    states = guard_states(case(OUT, others=by_hand, rules={"most_flips": 3}))
    assert next(s for s in states if s.name == "flapping").open
