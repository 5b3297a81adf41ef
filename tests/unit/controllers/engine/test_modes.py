"""What each mode and its criteria let happen without asking."""

import pytest

from tests.unit.controllers.engine.asked import IN, NOW, OUT, moves, scale
from weir.controllers.engine.guard.modes import why_not_by_itself
from weir.controllers.engine.guard.rules import Criteria
from weir.controllers.engine.judge.verification import TrackRecord
from weir.controllers.engine.recommendation import (
    Recommendation,
)
from weir.controllers.model.sample import Mode


@pytest.mark.parametrize(
    ("mode", "criteria", "found", "record", "why"),
    [
        (Mode.AUTO, Criteria(scale_out=False), OUT, TrackRecord(), ""),
        (Mode.APPROVE, Criteria(), OUT, TrackRecord(), "somebody has to approve"),
        (Mode.RECOMMEND, Criteria(), OUT, TrackRecord(), "somebody has to approve"),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(), OUT, TrackRecord(), ""),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(scale_out=False), OUT, TrackRecord(), "not among"),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(scale_in=False), IN, TrackRecord(), "not among"),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(rebalance=False), moves(), TrackRecord(), "not among"),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(), scale(6), TrackRecord(), "a step of 4"),
        (
            Mode.AUTO_WITHIN_CRITERIA,
            Criteria(most_move_bytes=5),
            moves(),
            TrackRecord(),
            "10 B of state",
        ),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(hours="1-5"), OUT, TrackRecord(), "not between 1-5"),
        (Mode.AUTO_WITHIN_CRITERIA, Criteria(hours="8-18"), OUT, TrackRecord(), ""),
        (
            Mode.AUTO_WITHIN_CRITERIA,
            Criteria(least_judged=3),
            OUT,
            TrackRecord(judged=2),
            "2 of the 3",
        ),
        (
            Mode.AUTO_WITHIN_CRITERIA,
            Criteria(least_judged=3, least_effective_share=0.8),
            OUT,
            TrackRecord(judged=4, effective=3),
            "75 % of drs's actions",
        ),
    ],
)
def test_modes_and_criteria(
    mode: Mode, criteria: Criteria, found: Recommendation, record: TrackRecord, why: str
) -> None:
    own = dict.fromkeys(("a", "b"), criteria)
    said = why_not_by_itself(found, mode, own, dict.fromkeys(("a", "b"), record), NOW)
    assert (why in said) if why else said == ""
