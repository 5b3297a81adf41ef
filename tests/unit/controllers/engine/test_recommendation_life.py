"""The table of transitions, and the verdicts at its end."""

from itertools import product

import pytest
from msgspec.structs import replace

from tests.unit.controllers.engine.asked import NOW, scale
from weir.controllers.engine.judge.verification import judge, track_record
from weir.controllers.engine.recommendation import (
    ENGINE,
    TRANSITIONS,
    Entry,
    IllegalTransition,
    Status,
    move_to,
)


def test_the_table_is_walked_and_nothing_else_is_possible() -> None:
    for before, after in product(Status, Status):
        found = replace(scale(3), status=before)
        if after in TRANSITIONS[before]:
            moved = move_to(found, after, at=NOW, by="ada", why="so")
            assert (moved.status, moved.version) == (after, 1)
            assert moved.history[-1] == Entry(at=NOW, status=after, by="ada", why="so")
        else:
            with pytest.raises(IllegalTransition, match=f"is {before} and cannot become {after}"):
                move_to(found, after, at=NOW, by="ada")


def test_an_illegal_move_tells_the_whole_story() -> None:
    found = move_to(scale(3), Status.APPROVED, at=NOW, by="ada", why="it is full")
    found = move_to(found, Status.CANCELLED, at=NOW + 5.0, by="bo", why="it is not")
    story = rf"approved by ada at {NOW:.1f} \(it is full\); cancelled by bo .*\(it is not\)"
    with pytest.raises(IllegalTransition, match=story):
        move_to(found, Status.APPLYING, at=NOW + 9.0, by=ENGINE)


def test_verdicts_and_records() -> None:
    out = scale(4)
    out = replace(
        out,
        before=replace(out.before, load={"a": 1.2}, executors={"a": 2}, work_cores=2.4),
        predicted=replace(out.before, load={"a": 0.6}, executors={"a": 4}, work_cores=2.4),
    )

    def measured(load: float, executors: int = 4, work: float = 2.4) -> object:
        return replace(out.before, load={"a": load}, executors={"a": executors}, work_cores=work)

    good = judge(out, measured(0.7), 0.5)
    assert (good.status, round(good.effectiveness or 0, 3)) == (Status.EFFECTIVE, 0.833)
    row = good.judgement
    assert (row.before, row.before_now, row.predicted, row.measured) == (1.2, 1.2, 0.6, 0.7)
    assert (row.came_true, row.helped) == (True, True)
    today = judge(out, measured(0.35, work=1.2), 0.5)  # half the input, and it was enough before
    row = today.judgement
    assert (row.before, row.before_now, row.predicted, row.measured) == (1.2, 0.6, 0.3, 0.35)
    needless = judge(
        replace(out, before=replace(out.before, load={"a": 0.8})), measured(0.2, work=1.2), 0.5
    )
    assert needless.status is Status.INEFFECTIVE
    assert (needless.judgement.helped, needless.judgement.came_true) == (False, False)
    assert "it was not needed: 2 executors would carry 40 %" in needless.judgement.why
    bad = judge(out, measured(1.1), 0.5)
    assert bad.status is Status.INEFFECTIVE
    partly = judge(out, measured(0.8, executors=3), 0.5)
    assert (partly.status, round(partly.effectiveness or 0, 3)) == (Status.EFFECTIVE, 0.667)
    short = judge(out, measured(1.2, executors=2), 0.5)
    assert short.verdict == "2 executors are there instead of 4."
    down = replace(out, decision=replace(out.decision, executors=1, before=2))
    down = replace(down, predicted=replace(out.predicted, load={"a": 1.3}, executors={"a": 1}))
    worse = judge(down, measured(1.6, executors=1), 0.5)
    assert worse.status is Status.INEFFECTIVE  # it rose to four times what was promised
    nothing = judge(out, replace(out.before, load={}, executors={"a": 4}), 0.5)
    assert (nothing.status, nothing.effectiveness) == (Status.UNMEASURED, None)
    record = track_record(
        [
            replace(out, id=str(i), status=s, effectiveness=e, measured=measured(m))
            for i, (s, e, m) in enumerate(
                [
                    (Status.EFFECTIVE, 0.8, 0.72),
                    (Status.EFFECTIVE, 0.6, 0.84),
                    (Status.INEFFECTIVE, 0.4, 0.96),
                    (Status.EFFECTIVE, None, 0.5),
                ]
            )
        ],
        "a",
        "drs",
    )
    assert (record.judged, record.effective, record.calibration) == (3, 2, 0.6)
    assert record.error_share == pytest.approx(0.4)
