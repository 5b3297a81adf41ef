"""What a host does for a re-slice: rewrite state under the leases of all slices concerned."""

import logging
import shutil
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from redis.exceptions import RedisError

from weir.controllers.engine.ports import Lease, Store
from weir.controllers.engine.stored import failover_settings
from weir.controllers.model.command import DropState, RewriteState
from weir.controllers.model.errors import Fenced, NotFound, Refused
from weir.controllers.model.placement import operator_lease
from weir.controllers.model.slicing import Slicing, sliced_operator
from weir.metrics.agent.commands import Report
from weir.metrics.store.redis_store import connect
from weir.pipeline.edges.stream import EdgeStream
from weir.pipeline.hosts.operator import Operator, local_path, slice_folder
from weir.pipeline.hosts.state import StoppedSlice, Target, hand_over

log = logging.getLogger(__name__)


class Handover:
    """Carries out what re-slices ask of a driver; doing it again gives the same."""

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        holder: str,
        redis_url: str,
        checkpoints: Path,
        operators: Mapping[str, Operator],
    ) -> None:
        self._spark = spark
        self._store = store
        self._holder = f"{holder}/state"  # not the host's own, who may still run one of them
        self._redis_url = redis_url
        self._checkpoints = checkpoints
        self._operators = operators

    def rewrite(self, action: RewriteState, report: Report) -> str:
        """Write the new slices' checkpoints; the old ones stay as they are."""
        operator = self._operator(action.operator)
        changed = action.after.changed(action.before)
        report(0.1, f"taking over {', '.join(changed)}")
        with _Leases(self._store, self._holder, changed) as leases:
            if self._store.slicings().get(action.operator) != action.before:
                raise Refused(f"the slices of {action.operator} are others by now")
            self._fence(operator, leases.held)
            old = [name for name in changed if name in action.before.owners]
            new = [name for name in changed if name in action.after.owners]
            sources = [StoppedSlice.of(n, self._folder(operator, action.before, n)) for n in old]
            targets = [
                Target(n, action.after.groups_of(n), self._folder(operator, action.after, n))
                for n in new
            ]
            report(0.3, f"rewriting the state of {', '.join(new)}")
            rows = hand_over(self._spark, sources, targets, operator.key or "", operator.groups)
            leases.check()
        moved = action.after.moved_share(action.before)
        return f"{rows:,} keys of {len(old)} slices, {moved:.1%} of the key groups moved"

    def drop(self, action: DropState, report: Report) -> str:
        """Remove checkpoints, unless a slice has come to use one again."""
        operator = self._operator(action.operator)
        slicing = self._store.slicings().get(action.operator)
        used = slicing.born if slicing else {}
        dropped = 0
        for name, born in action.born.items():
            if sliced_operator(name) == operator.name and used.get(name) != born:
                folder = self._base(operator) / slice_folder(name, born)
                shutil.rmtree(folder, ignore_errors=True)
                dropped += 1
        return f"{dropped} old checkpoints dropped"

    def _operator(self, name: str) -> Operator:
        found = self._operators.get(name)
        if found is None or found.unsliced:
            raise NotFound(f"there is no operator '{name}' with slices here")
        return found

    def _base(self, operator: Operator) -> Path:
        return local_path(operator.checkpoint or str(self._checkpoints / operator.name)).resolve()

    def _folder(self, operator: Operator, slicing: Slicing, name: str) -> Path:
        return self._base(operator) / slice_folder(name, slicing.born.get(name, 1))

    def _fence(self, operator: Operator, leases: Mapping[str, Lease]) -> None:
        """A run that was cut off and comes back must not write any more, though the slice may
        never run again."""
        with connect(self._redis_url) as client:
            for edge in operator.writes:
                for name, lease in leases.items():
                    EdgeStream(client, edge).fence(name, lease.token)


class _Leases:
    """The leases of some slices, kept until the end."""

    def __init__(self, store: Store, holder: str, names: Iterable[str]) -> None:
        self._store = store
        self._holder = holder
        self._names = tuple(names)
        self._settings = failover_settings(store)
        self._over = threading.Event()
        self.held: dict[str, Lease] = {}

    def __enter__(self) -> "_Leases":
        for name in self._names:
            lease = self._store.acquire(operator_lease(name), self._holder, self._settings.lease_s)
            if lease is None:
                self._release()
                raise Refused(f"{name} is still running")
            self.held[name] = lease
        threading.Thread(target=self._keep, name="weir-handover", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._release()

    def check(self) -> None:
        """Raise unless all of them are still ours."""
        for name, lease in self.held.items():
            if not self._store.renew(lease, self._settings.lease_s):
                raise Fenced(f"the lease of {name} was lost meanwhile")

    def _keep(self) -> None:
        while not self._over.wait(self._settings.renew_s):
            for lease in tuple(self.held.values()):
                try:
                    self._store.renew(lease, self._settings.lease_s)
                except (RedisError, OSError):
                    log.debug("the store is away; a lease that is lost is seen at the end")

    def _release(self) -> None:
        for lease in self.held.values():
            try:
                self._store.release(lease)
            except (RedisError, OSError):
                log.info("the store is away; leases end by themselves")
