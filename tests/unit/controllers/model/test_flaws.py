"""Reports whose structure is right and which cannot be true."""

import pytest

from weir.controllers.model.flaws import flaw
from weir.controllers.model.sample import Cluster, ClusterSample, OperatorSample


def report(operator: OperatorSample) -> ClusterSample:
    return ClusterSample(at=10.0, period_s=2.0, cluster=Cluster(name="a"), operators=(operator,))


@pytest.mark.parametrize("name", ["count", "count.x", "other.1", "count.", "count.²"])
def test_a_slice_is_named_after_its_operator_and_has_a_number(name: str) -> None:
    """Pages sort slices by that number: one that has none took the operator's page away."""
    slice_ = OperatorSample(name=name, cluster="a", slice_of="count")
    assert "slice_of" in flaw(report(slice_))


def test_a_real_slice_has_no_flaw() -> None:
    assert flaw(report(OperatorSample(name="count.12", cluster="a", slice_of="count"))) == ""
