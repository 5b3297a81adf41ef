"""What the agent makes of what the driver tells about executors."""

import pytest

from weir.metrics.agent.agent import _cores
from weir.metrics.agent.listener import ExecutorWork, Poll
from weir.metrics.agent.removal import is_loss


@pytest.mark.parametrize(
    ("reason", "lost"),
    [
        ("Executor heartbeat timed out after 128273 ms", True),
        ("Command exited with code 137", True),
        ("Command exited with code 1", True),
        (
            "Remote RPC client disassociated. Likely due to containers exceeding thresholds, or "
            "network issues. Check driver logs for WARN messages.",
            True,
        ),
        ("worker lost", True),
        ("worker lost: Not receiving heartbeat for 60 seconds", True),
        ("Executor Process Lost", True),
        ("Container from a bad node. Exit status: 137. Container killed on request.", True),
        ("", True),
        (None, True),
        ("Executor decommission: scaled in by Weir", False),
        ("Executor killed by driver.", False),
        ("Finished decommissioning", False),
        ("Command exited with code 0", False),
        ("Container container_e18_1 exited from explicit termination request.", False),
    ],
)
def test_an_executor_is_lost_unless_somebody_asked_it_to_go(reason: str | None, lost: bool) -> None:
    assert is_loss(reason) is lost


@pytest.mark.parametrize(("cores", "found"), [([], 1), ([8, 8], 8), ([8, 4, 4], 5), ([0], 1)])
def test_cores_are_those_that_executors_have(cores: list[int], found: int) -> None:
    there = {str(i): ExecutorWork(host="h", cores=n, added_ms=0) for i, n in enumerate(cores)}
    assert _cores(Poll(at_ms=1, since_ms=0, executors=there), before=1) == found
