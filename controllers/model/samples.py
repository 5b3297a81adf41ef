"""Samples over longer periods: what a tier of lower resolution keeps."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from msgspec.structs import replace

from weir.controllers.model.sample import ClusterSample, Executor, OperatorSample

_MEANS = ("arrival_rows_per_s", "processed_rows_per_s", "load", "busy_cores")
_TOTALS = ("run_time_s", "cpu_time_s", "batches", "rows", "tasks", "failed_tasks")
_HIGHEST = ("queue_rows", "processing_s", "scheduling_s", "latency_p50_s", "latency_max_s", "skew")


def merge_samples(samples: Sequence[ClusterSample]) -> ClusterSample:
    """One sample for several consecutive ones of a cluster, oldest first.

    Rates and loads become means, counts are added, queues and latencies keep
    their highest value (a peak must not vanish from the record), and the rest is
    as it was at the end; what had left before the end is not part of it. Batches are left
    out: who wants each of them reads the reports themselves, and an hour of them is no sample.
    """
    last = samples[-1]
    by_name: dict[str, list[OperatorSample]] = defaultdict(list)
    by_id: dict[str, list[Executor]] = defaultdict(list)
    for sample in samples:
        for o in sample.operators:
            by_name[o.name].append(o)
        for e in sample.executors:
            by_id[e.id].append(e)
    operators = []
    for newest in last.operators:
        parts = by_name[newest.name]
        changes: dict[str, object] = {}
        for field in _MEANS:
            changes[field] = sum(getattr(o, field) for o in parts) / len(parts)
        for field in _TOTALS:
            changes[field] = sum(getattr(o, field) for o in parts)
        for field in _HIGHEST:
            known = [v for o in parts if (v := getattr(o, field)) is not None]
            changes[field] = max(known) if known else None
        operators.append(replace(newest, **changes))
    executors = []
    for executor in last.executors:
        same = by_id[executor.id]
        executors.append(
            replace(
                executor,
                busy_share=fmean(e.busy_share for e in same),
                tasks=sum(e.tasks for e in same),
                failed_tasks=sum(e.failed_tasks for e in same),
            )
        )
    return ClusterSample(
        at=last.at,
        period_s=sum(s.period_s for s in samples),
        cluster=replace(
            last.cluster,
            busy_cores=fmean(s.cluster.busy_cores for s in samples),
            failed_tasks=sum(s.cluster.failed_tasks for s in samples),
        ),
        operators=tuple(operators),
        executors=tuple(executors),
    )
