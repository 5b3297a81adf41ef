"""The simulator against measurements that others made, where they lie beside the project."""

import pytest

from benchmarks.simulator import FEW, FILE, MANY, NEAR, measured_share, phoebe_samples, served
from tests.support.processes import ROOT
from weir.controllers.simulator import calibrate

TRACES = ROOT.parent / "shared" / "data" / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the traces are not there")


def test_calibrated_on_many_workers_it_predicts_that_few_fall_behind():
    few, many = (phoebe_samples(TRACES / FILE.format(n), n) for n in (FEW, MANY))
    predicted = served(calibrate(many), FEW)
    assert predicted < 1.0 - NEAR
    assert predicted == pytest.approx(measured_share(few), abs=NEAR)
