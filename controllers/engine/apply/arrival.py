"""Whether an operator or a slice works as it should by now, as its reports and commits show."""

from collections.abc import Collection

from weir.controllers.model.sample import OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot


def has_arrived(operator: OperatorSample | None, cluster: str, run_before: str | None) -> bool:
    """Has it committed a batch there, in a new run, or found nothing to do?"""
    return (
        operator is not None
        and _runs(operator, cluster)
        and operator.run_id != run_before
        and (operator.first_batch_at is not None or _without_input(operator))
    )


def goes_on(
    operator: OperatorSample | None, cluster: str, snapshot: Snapshot, since: float
) -> bool:
    """Was it never let go, and has it worked since then, or had nothing to do?"""
    if operator is None or not _runs(operator, cluster):
        return False
    found = snapshot.cluster(cluster)
    told_at = snapshot.at - found.heartbeat_age_s if found else 0.0
    return (operator.batch_at or 0.0) > since or (told_at > since and operator.idle)


def has_taken_over(
    operator: OperatorSample | None, groups: Collection[int], run_before: str
) -> bool:
    """Has it committed a batch with these key groups, in a new run, or found nothing to do?"""
    return (
        operator is not None
        and operator.status is OperatorStatus.RUNNING
        and operator.run_id != run_before
        and set(operator.key_groups) == set(groups)
        and (operator.first_batch_at is not None or (operator.idle and not operator.queue_rows))
    )


def has_committed_since(operator: OperatorSample | None, since: float) -> bool:
    """Does it run, and has it committed a batch since then?"""
    return (
        operator is not None
        and operator.status is OperatorStatus.RUNNING
        and (operator.batch_at or 0.0) > since
    )


def _runs(operator: OperatorSample, cluster: str) -> bool:
    return operator.cluster == cluster and operator.status is OperatorStatus.RUNNING


def _without_input(operator: OperatorSample) -> bool:
    """Spark itself says that there was nothing to do, and nothing has come since."""
    return operator.idle and not operator.queue_rows and operator.arrival_rows_per_s == 0.0
