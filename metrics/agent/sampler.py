"""From what a driver reports to a `ClusterSample`. No clock, no I/O."""

from collections.abc import Iterable

from msgspec.structs import replace

from weir.controllers.model.sample import Cluster, ClusterSample, Executor, OperatorSample
from weir.metrics.agent.listener import ExecutorWork, Poll, TaskWork
from weir.metrics.agent.track import OperatorFacts, QueryTrack

HIDDEN = "_"  # prefix of the host's own queries, which are not operators


class Sampler:
    """Keeps what is needed from one period to the next."""

    def __init__(self) -> None:
        self._tracks: dict[str, QueryTrack] = {}
        self._names: dict[str, str] = {}  # query id -> name
        self._gone: set[str] = set()

    def sample(
        self,
        poll: Poll,
        cluster: Cluster,
        facts: Iterable[OperatorFacts] = (),
        memory_max_bytes: int = 0,
    ) -> ClusterSample:
        """One period's sample. `cluster` brings what only the host knows."""
        period_s = max((poll.at_ms - poll.since_ms) / 1000.0, 1e-3)
        for started in poll.started:
            self._names[started.id] = started.name or f"query-{started.id[:8]}"
            self._gone.discard(started.id)
            self._track(started.id).begin(started.run_id)
        # A batch's tasks end before its commit, so their time counts first.
        for query_id, work in poll.queries.items():
            if query_id:
                self._track(query_id).run_s_total += work.run_ms / 1000.0
        for progress in poll.progress:
            self._names.setdefault(progress.id, progress.name or f"query-{progress.id[:8]}")
            self._track(progress.id).commit(progress)
        for ended in poll.terminated:
            if self._track(ended.id).run_id in (None, ended.run_id):
                self._gone.add(ended.id)
        known = list(facts)
        named = {f.query_id for f in known if f.query_id}
        taken = {f.name for f in known}
        for query_id in self._tracks.keys() - named - self._gone:
            name = self._names.get(query_id, "")
            if name and name not in taken and not name.startswith(HIDDEN):
                known.append(OperatorFacts(name=name, query_id=query_id))
        known.sort(key=lambda f: f.name)
        operators = tuple(self._operator(f, poll, period_s, cluster.name) for f in known)
        batches = tuple(b for f in known for b in self._track(_key(f)).hand_over(f.name))
        for query_id in self._gone - named:
            self._tracks.pop(query_id, None)
        executors = _executors(poll.executors, period_s, memory_max_bytes)
        return ClusterSample(
            at=poll.at_ms / 1000.0,
            period_s=period_s,
            cluster=replace(
                cluster,
                executors=len(executors),
                executors_wanted=max(cluster.executors_wanted, 0) or len(executors),
                busy_cores=sum(w.busy_ms for w in poll.queries.values()) / 1000.0 / period_s,
                failed_tasks=sum(w.failed for w in poll.queries.values()),
                dropped_events=poll.dropped_events + poll.lost_progress,
            ),
            operators=operators,
            executors=executors,
            batches=batches,
        )

    def _track(self, query_id: str) -> QueryTrack:
        return self._tracks.setdefault(query_id, QueryTrack())

    def _operator(
        self, fact: OperatorFacts, poll: Poll, period_s: float, cluster: str
    ) -> OperatorSample:
        now = poll.at_ms / 1000.0
        work = poll.queries.get(fact.query_id or "\0", TaskWork())
        track = self._track(_key(fact))
        figures = track.period(work, fact, now, period_s)
        return OperatorSample(
            name=fact.name,
            cluster=cluster,
            status=fact.status,
            message=fact.message,
            restarts=fact.restarts,
            lease_token=fact.lease_token,
            query_id=fact.query_id,
            run_id=track.run_id,
            reads=fact.reads,
            writes=fact.writes,
            trigger_s=fact.trigger_s,
            slice_of=fact.slice_of,
            key_groups=fact.key_groups,
            unsliced=fact.unsliced,
            weight=fact.weight,
            first_cores=fact.first_cores,
            busy_cores=work.busy_ms / 1000.0 / period_s,
            run_time_s=work.run_ms / 1000.0,
            cpu_time_s=work.cpu_ns / 1e9,
            tasks=work.tasks,
            failed_tasks=work.failed,
            skew=work.longest_ms / work.median_ms if work.median_ms else None,
            **figures,
        )


def _key(fact: OperatorFacts) -> str:
    return fact.query_id or f"\0{fact.name}"


def _executors(
    found: dict[str, ExecutorWork], period_s: float, memory_max_bytes: int
) -> tuple[Executor, ...]:
    return tuple(
        Executor(
            id=name,
            host=work.host,
            cores=work.cores,
            busy_share=min(1.0, work.busy_ms / 1000.0 / period_s / max(work.cores, 1)),
            tasks=work.tasks,
            failed_tasks=work.failed,
            memory_bytes=work.heap_bytes,
            memory_max_bytes=memory_max_bytes,
            added_at=work.added_ms / 1000.0,
        )
        for name, work in sorted(found.items(), key=lambda item: _by_number(item[0]))
    )


def _by_number(executor_id: str) -> tuple[int, str]:
    return (int(executor_id), "") if executor_id.isdigit() else (-1, executor_id)
