"""Answers that are no opinion are told by their grounds, whatever words they use."""

import pytest

from weir.controllers.engine.propose.resizing import executors_wanted
from weir.controllers.engine.propose.scaling import ScalerAnswer
from weir.controllers.model.decision import NoChange
from weir.controllers.model.sample import Cluster
from weir.controllers.scaling.answers import cannot_tell, not_now, stay

CLUSTER = Cluster(name="a", executors=3)


@pytest.mark.parametrize(
    ("decision", "wanted"),
    [
        (stay("It is well.", "now is well"), 3),
        (cannot_tell("The load is not known.", "no load"), None),
        (not_now("Every five minutes.", "every 300 s"), None),
    ],
)
def test_only_an_opinion_counts_as_a_size(decision: NoChange, wanted: int | None) -> None:
    answer = ScalerAnswer(scaler="own", title="Own", decision=decision)
    assert executors_wanted(answer, CLUSTER) == wanted
