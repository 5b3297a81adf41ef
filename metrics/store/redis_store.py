"""The store in Redis (or Valkey), 6.2 or later."""

from collections.abc import Mapping, Sequence

import msgspec
import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from weir.controllers.engine.ports import KEPT_S, Lease, Part, Placement, Rebalance, Tier, Workload
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.model.command import Command, CommandResult, CommandStatus
from weir.controllers.model.errors import NotFound
from weir.controllers.model.limits import MOST_CLUSTERS, within_limits
from weir.controllers.model.snapshot import ClusterSample, Snapshot
from weir.metrics.store import keys, scripts
from weir.metrics.store.decoded import Decoded
from weir.metrics.store.redis_control import RedisControl

_encode = msgspec.json.encode
_sample = msgspec.json.Decoder(ClusterSample)
_snapshot = msgspec.json.Decoder(Snapshot)
_part = msgspec.json.Decoder(Part)
_command = msgspec.json.Decoder(Command)
_result = msgspec.json.Decoder(CommandResult)
_placement = msgspec.json.Decoder(Placement)
_rebalance = msgspec.json.Decoder(Rebalance)
_outlook = msgspec.json.Decoder(Outlook)
_workload = msgspec.json.Decoder(Workload)


def connect(url: str, *, timeout_s: float = 5.0) -> redis.Redis:
    """A client that gives up after `timeout_s`, so that no caller hangs on a dead server."""
    return redis.Redis.from_url(
        url,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), 2),
        retry_on_error=[redis.exceptions.ConnectionError],
        health_check_interval=15,
    )


class RedisStore(RedisControl):
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self._submit = client.register_script(scripts.SUBMIT)
        self._claim = client.register_script(scripts.CLAIM)
        self._report = client.register_script(scripts.REPORT)
        self._acquire = client.register_script(scripts.ACQUIRE)
        self._place_if = client.register_script(scripts.PLACE_IF)
        self._rebalance = client.register_script(scripts.REBALANCE)
        self._renew = client.register_script(scripts.RENEW)
        self._latest = Decoded(lambda data: within_limits(_sample.decode(data)))

    @classmethod
    def at(cls, url: str) -> "RedisStore":
        """The store behind a Redis URL."""
        return cls(connect(url))

    # -- samples

    def append(self, sample: ClusterSample, tier: Tier = Tier.FULL) -> bool:
        """Add a sample; False if the tier already has this period or a later one."""
        name = sample.cluster.name
        key = keys.samples(name, tier)
        data = _encode(within_limits(sample))
        oldest = max(0, int((sample.at - KEPT_S[tier]) * 1000))
        try:
            self.client.xadd(
                key, {"s": data}, id=f"{int(sample.at * 1000)}-0", minid=oldest, approximate=True
            )
        except redis.exceptions.ResponseError as error:
            if "equal or smaller" in str(error):
                return False
            raise
        pipe = self.client.pipeline(transaction=False)
        pipe.expire(key, int(KEPT_S[tier]) + 60)
        if tier is Tier.FULL:
            pipe.hset(keys.CLUSTERS, name, data)
        pipe.execute()
        return True

    def samples(
        self, cluster: str, since: float, until: float, tier: Tier = Tier.FULL
    ) -> list[ClusterSample]:
        """Samples whose period ended in [since, until], oldest first."""
        rows = self.client.xrange(keys.samples(cluster, tier), min=_ms(since), max=_ms(until))
        return [within_limits(_sample.decode(fields[b"s"])) for _, fields in rows]

    def latest(self) -> list[ClusterSample]:
        """The newest sample of every cluster, by name; of `MOST_CLUSTERS` at most."""
        found = self.client.hgetall(keys.CLUSTERS)
        return self._latest(found[name] for name in sorted(found)[:MOST_CLUSTERS])

    def clusters(self) -> list[str]:
        """Names of the clusters that have ever reported and were not forgotten."""
        return sorted(name.decode() for name in self.client.hkeys(keys.CLUSTERS))

    def forget(self, cluster: str) -> None:
        """Remove a cluster with all its samples and what is known of its scaling."""
        pipe = self.client.pipeline()
        pipe.hdel(keys.CLUSTERS, cluster)
        pipe.hdel(keys.MODES, cluster)
        pipe.hdel(keys.SCALE_OUTLOOKS, cluster)
        pipe.delete(keys.memory(cluster))
        for tier in Tier:
            pipe.delete(keys.samples(cluster, tier))
        pipe.execute()

    def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep the engine's newest snapshot."""
        self.client.set(keys.SNAPSHOT, _encode(snapshot))

    def snapshot(self) -> Snapshot | None:
        """The snapshot that the engine saved last."""
        data = self.client.get(keys.SNAPSHOT)
        return _snapshot.decode(data) if data else None

    # -- signs of life

    def beat(self, part: Part) -> None:
        """Record a sign of life."""
        self.client.hset(keys.PARTS, part.id, _encode(part))

    def parts(self) -> list[Part]:
        """Every part with its last sign of life, by id."""
        found = self.client.hgetall(keys.PARTS)
        return [_part.decode(found[name]) for name in sorted(found)]

    def remove_part(self, part_id: str) -> None:
        """Forget a part that was taken away on purpose."""
        self.client.hdel(keys.PARTS, part_id)

    # -- commands

    def submit(self, command: Command) -> None:
        """Make a command durable and visible to its agent; the same id twice is one command."""
        result = CommandResult(id=command.id, status=CommandStatus.PENDING, at=command.issued_at)
        self._submit(
            keys=[
                keys.command(command.id),
                keys.open_commands(command.cluster),
                keys.COMMANDS,
            ],
            args=[
                command.id,
                _encode(command),
                _encode(result),
                command.issued_at,
                keys.COMMAND_KEPT_S,
                keys.COMMANDS_KEPT,
            ],
        )

    def open_commands(self, cluster: str) -> list[Command]:
        """Commands for a cluster that are not final, oldest first."""
        ids = self.client.zrange(keys.open_commands(cluster), 0, -1)
        found = [self.client.hget(keys.command(i.decode()), "command") for i in ids]
        return [_command.decode(data) for data in found if data]

    def claim(self, command_id: str, holder: str, at: float, take_over: bool = False) -> bool:
        """Take a command on; True for one holder, or who knows that the last one is dead."""
        args = [holder, at, int(take_over)]
        return bool(self._claim(keys=[keys.command(command_id)], args=args))

    def report(self, result: CommandResult) -> None:
        """Record progress or the end of a command; a final result stays."""
        found = self.command(result.id)
        if found is None:
            raise NotFound(f"there is no command {result.id}")
        self._report(
            keys=[keys.command(result.id), keys.open_commands(found[0].cluster)],
            args=[_encode(result), result.status.value, int(result.status.final), result.id],
        )

    def command(self, command_id: str) -> tuple[Command, CommandResult] | None:
        """A command and what has become of it."""
        data, result = self.client.hmget(keys.command(command_id), "command", "result")
        if data is None or result is None:
            return None
        return _command.decode(data), _result.decode(result)

    def recent_commands(self, limit: int = 50) -> list[tuple[Command, CommandResult]]:
        """The newest commands, newest first."""
        rows = self.client.xrevrange(keys.COMMANDS, count=limit)
        found = (self.command(fields[b"id"].decode()) for _, fields in rows)
        return [pair for pair in found if pair is not None]

    # -- placement

    def place(self, placement: Placement) -> None:
        """Say where an operator should run."""
        self.client.hset(keys.PLACEMENT, placement.operator, _encode(placement))

    def place_if(self, placement: Placement, seen: Placement | None) -> bool:
        """The same, unless somebody has said something else since it was seen."""
        args = [placement.operator, _seen(seen), _encode(placement)]
        return bool(self._place_if(keys=[keys.PLACEMENT], args=args))

    def placements(self) -> dict[str, Placement]:
        """Where every operator should run."""
        found = self.client.hgetall(keys.PLACEMENT)
        return {name.decode(): _placement.decode(data) for name, data in found.items()}

    def save_rebalance(
        self,
        rebalance: Rebalance,
        changes: Sequence[Placement] = (),
        leader: Lease | None = None,
        seen: Mapping[str, Placement] | None = None,
    ) -> bool:
        """Keep a rebalance and the placements it changes, at once; False for an old leader,
        and if somebody has changed one of them since it was seen."""
        args: list[object] = [leader.token if leader else "", rebalance.id, _encode(rebalance)]
        for change in changes:
            before = (seen or {}).get(change.operator)
            args += [change.operator, _seen(before), _encode(change)]
        lease = keys.lease(leader.name if leader else "")
        return bool(self._rebalance(keys=[lease, keys.REBALANCES, keys.PLACEMENT], args=args))

    def rebalances(self) -> list[Rebalance]:
        """Every rebalance, newest first."""
        found = (_rebalance.decode(data) for data in self.client.hvals(keys.REBALANCES))
        return sorted(found, key=lambda r: r.at, reverse=True)

    def save_outlook(self, outlook: Outlook) -> None:
        """Keep the engine's newest view of the balance."""
        self.client.set(keys.OUTLOOK, _encode(outlook))

    def outlook(self) -> Outlook | None:
        """The engine's newest view of the balance."""
        data = self.client.get(keys.OUTLOOK)
        return _outlook.decode(data) if data else None

    def set_last_commit(self, operator: str, at: float) -> None:
        """Record when an operator that has stopped committed its last batch."""
        self.client.hset(keys.COMMITS, operator, at)

    def last_commit(self, operator: str) -> float | None:
        """When the operator's last run committed its last batch."""
        found = self.client.hget(keys.COMMITS, operator)
        return None if found is None else float(found)

    # -- leases

    def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None:
        """The lease if it is free or already ours, else None."""
        token = self._acquire(
            keys=[keys.lease(name), keys.TOKENS], args=[name, holder, int(ttl_s * 1000)]
        )
        return None if token is None else Lease(name=name, holder=holder, token=int(token))

    def renew(self, lease: Lease, ttl_s: float) -> bool:
        """Keep a lease; False if it is no longer ours."""
        return bool(
            self._renew(keys=[keys.lease(lease.name)], args=[lease.token, int(ttl_s * 1000)])
        )

    def release(self, lease: Lease) -> None:
        """Give a lease back; nothing happens if it is no longer ours."""
        self._renew(keys=[keys.lease(lease.name)], args=[lease.token, 0])

    def lease(self, name: str) -> Lease | None:
        """Who holds a lease now."""
        holder, token = self.client.hmget(keys.lease(name), "holder", "token")
        if holder is None or token is None:
            return None
        return Lease(name=name, holder=holder.decode(), token=int(token))

    # -- workload

    def set_workload(self, workload: Workload) -> None:
        """Tell a generator what to produce."""
        self.client.hset(keys.WORKLOADS, workload.name, _encode(workload))

    def workloads(self) -> Sequence[Workload]:
        """What every generator is asked for."""
        found = self.client.hgetall(keys.WORKLOADS)
        return [_workload.decode(found[name]) for name in sorted(found)]


def _seen(placement: Placement | None) -> bytes:
    return b"" if placement is None else _encode(placement)


def _ms(at: float) -> int | str:
    if at == float("inf"):
        return "+"
    return max(0, int(at * 1000))
