"""The checks that Weir's own planners and scalers pass, for those of your own too.

    from weir.checks import check_planner, check_scaler

    def test_round_robin():
        check_planner(RoundRobin())

    def test_target_load():
        check_scaler(TargetLoad, {"target": 0.6})

They need no test framework; `CheckFailed` says in a sentence which rule was broken, and on what.
"""

from weir.controllers.checks import CheckFailed
from weir.controllers.checks.planner import check_plan, check_planner
from weir.controllers.checks.scaler import check_answer, check_scaler

__all__ = ["CheckFailed", "check_answer", "check_plan", "check_planner", "check_scaler"]
