"""The store in Redis (or Valkey), 6.2 or later."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import redis
from msgspec.structs import replace
from redis.backoff import ExponentialBackoff
from redis.retry import Retry
from redis.typing import EncodableT

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Lease, Part, Placement, Rebalance, Workload
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.model.age import Time
from weir.controllers.model.command import Command, CommandResult, CommandStatus
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.failover import Death
from weir.metrics.store import keys, scripts
from weir.metrics.store.entries import name_of
from weir.metrics.store.redis_audit import AuditedChange, seen_as
from weir.metrics.store.redis_hosting import RedisHosting
from weir.metrics.store.redis_samples import Row
from weir.metrics.store.where import shown_url

COMMAND = "command"

_encode = msgspec.json.encode
_part = msgspec.json.Decoder(Part)
_command = msgspec.json.Decoder(Command)
_result = msgspec.json.Decoder(CommandResult)
_placement = msgspec.json.Decoder(Placement)
_outlook = msgspec.json.Decoder(Outlook)
_death = msgspec.json.Decoder(Death)
_workload = msgspec.json.Decoder(Workload)


def connect(url: str, *, timeout_s: float = 5.0) -> redis.Redis:
    """A client that gives up after `timeout_s`, so that no caller hangs on a dead server."""
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), 2),
            retry_on_error=[redis.exceptions.ConnectionError],
            health_check_interval=15,
        )
    except (ValueError, TypeError):
        raise InvalidInput(
            f"'{shown_url(url)}' is not the URL of a Redis; write it as redis://HOST:PORT/0, "
            "or rediss:// with TLS",
            field="redis",
        ) from None


class RedisStore(RedisHosting):
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
        self._release = client.register_script(scripts.RELEASE)
        self._placed: dict[str, Placement] = {}

    @classmethod
    def at(cls, url: str) -> "RedisStore":
        """The store behind a Redis URL."""
        return cls(connect(url))

    # -- signs of life

    def beat(self, part: Part) -> None:
        """Record a sign of life, with what could not be read lately."""
        said = replace(part, skipped=self.skipped())
        self.client.hset(keys.PARTS, part.id, _encode(said))

    def parts(self) -> list[Part]:
        """Every part with its last sign of life, by id."""
        found = self.entries.table(
            "sign of life", self._hash("sign of life", keys.PARTS), _part.decode
        )
        return [part for name, part in found.items() if part.id == name]

    def remove_part(self, part_id: str) -> None:
        """Forget a part that was taken away on purpose."""
        self.client.hdel(keys.PARTS, part_id)

    def save_deaths(self, deaths: Sequence[Death]) -> None:
        """Keep which clusters are dead, in place of those kept before."""
        pipe = self.client.pipeline()
        pipe.delete(keys.DEATHS)
        for death in deaths:
            pipe.hset(keys.DEATHS, death.cluster, _encode(death))
        pipe.execute()

    def deaths(self) -> list[Death]:
        """The clusters that are dead, as the engine noted, by name."""
        found = self.entries.table("death", self._hash("death", keys.DEATHS), _death.decode)
        return [death for name, death in sorted(found.items()) if death.cluster == name]

    # -- commands

    def submit(self, command: Command, audit: AuditEntry | None = None) -> None:
        """Make a command durable and visible to its agent, with its entry in the trail; the
        same id twice is one command."""
        result = CommandResult(id=command.id, status=CommandStatus.PENDING, at=command.issued_at)
        data = _encode(command)
        self._run_audited(
            self._submit,
            [keys.command(command.id), keys.open_commands(command.cluster), keys.COMMANDS],
            [
                command.id,
                data,
                _encode(result),
                command.issued_at,
                keys.COMMAND_KEPT_S,
                keys.COMMANDS_KEPT,
                self.keyring.signature(command.cluster, data),
            ],
            audit,
        )

    def open_commands(self, cluster: str) -> list[Command]:
        """Commands for a cluster that are not final, oldest first. One that is not signed with
        the cluster's key is refused here, so that no agent carries it out."""
        key = keys.open_commands(cluster)
        ids: list[bytes] = self.entries.ask(
            COMMAND, key, lambda: self.client.zrange(key, 0, -1), []
        )
        told = (
            self._vouched_command(i, cluster)
            for i in self.entries.values(COMMAND, zip(ids, ids, strict=True), name_of)
        )
        return [command for command in told if command]

    def _vouched_command(self, command_id: str, cluster: str) -> Command | None:
        """A command as it was signed; what somebody puts in its place meanwhile is not read."""
        data, said, signature = self._of_command(command_id, "signature")
        found = self._both(command_id, data, said)
        if found is None or data is None or found[0].cluster != cluster:
            return None
        why = self.keyring.why_not(cluster, data, (signature or b"").decode("ascii", "replace"))
        if not why:
            return found[0]
        self.entries.skip(COMMAND, command_id, why)
        refused = CommandStatus.REFUSED
        self.report(
            CommandResult(
                id=command_id, status=refused, at=self.now(), message=f"not carried out: {why}"
            )
        )
        return None

    def claim(self, command_id: str, holder: str, at: float, take_over: bool = False) -> bool:
        """Claim a command; True for one holder, or for one that knows the last one is dead."""
        args: list[EncodableT] = [holder, at, int(take_over)]
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
        data, said = self._of_command(command_id)
        return self._both(command_id, data, said)

    def _of_command(self, command_id: str, *more: str) -> list[bytes | None]:
        return self._fields(COMMAND, keys.command(command_id), "command", "result", *more)

    def _both(
        self, command_id: str, data: bytes | None, said: bytes | None
    ) -> tuple[Command, CommandResult] | None:
        if data is None or said is None:
            return None
        command = self.entries.read(COMMAND, command_id, data, _command.decode)
        result = self.entries.read(COMMAND, command_id, said, _result.decode)
        if command is None or result is None:
            return None
        if not command.id == result.id == command_id:
            self.entries.skip(COMMAND, command_id, "it has another id")
            return None
        return command, result

    def recent_commands(self, limit: int = 50) -> list[tuple[Command, CommandResult]]:
        """The newest commands, newest first."""
        rows: list[Row] = self.entries.ask(
            COMMAND, keys.COMMANDS, lambda: self.client.xrevrange(keys.COMMANDS, count=limit), []
        )
        ids = self.entries.values(COMMAND, ((at, f.get(b"id", b"\xff")) for at, f in rows), name_of)
        found = (self.command(command_id) for command_id in ids)
        return [pair for pair in found if pair is not None]

    # -- placement

    def place(self, placement: Placement) -> None:
        """Say where an operator should run."""
        self.client.hset(keys.PLACEMENT, placement.operator, _encode(placement))

    def place_if(self, placement: Placement, seen: Placement | None) -> bool:
        """The same, unless somebody has changed it since it was read."""
        args: list[EncodableT] = [placement.operator, _encode_seen(seen), _encode(placement)]
        return bool(self._place_if(keys=[keys.PLACEMENT], args=args))

    def placements(self) -> dict[str, Placement]:
        """Where every operator should run; as it was last known where that cannot be read."""
        found = self._hash("placement", keys.PLACEMENT)
        good = self.entries.table("placement", found, _placement.decode)
        known = {n: p for n, p in self._placed.items() if n.encode() in found}
        self._placed = {**known, **{n: p for n, p in good.items() if p.operator == n}}
        return dict(self._placed)

    def save_rebalance(
        self,
        rebalance: Rebalance,
        changes: Sequence[Placement] = (),
        leader: Lease | None = None,
        seen: Mapping[str, Placement] | None = None,
    ) -> bool:
        """Keep a rebalance and the placements it changes, at once; False for an old leader,
        and if somebody has changed one of them since it was seen."""
        args: list[EncodableT] = [leader.token if leader else "", rebalance.id, _encode(rebalance)]
        for change in changes:
            before = (seen or {}).get(change.operator)
            args += [change.operator, _encode_seen(before), _encode(change)]
        lease = keys.lease(leader.name if leader else "")
        return bool(self._rebalance(keys=[lease, keys.REBALANCES, keys.PLACEMENT], args=args))

    def rebalances(self) -> list[Rebalance]:
        """Every rebalance, newest first."""
        return sorted(self._rebalances(), key=lambda r: r.at, reverse=True)

    def save_outlook(self, outlook: Outlook) -> None:
        """Keep the engine's newest view of the balance."""
        self.client.set(keys.OUTLOOK, _encode(outlook))

    def outlook(self) -> Outlook | None:
        """The engine's newest view of the balance."""
        return self._value("outlook", keys.OUTLOOK, _outlook.decode)

    def set_last_commit(self, operator: str, at: float) -> None:
        """Record when an operator that has stopped committed its last batch."""
        self.client.hset(keys.COMMITS, operator, at)

    def last_commit(self, operator: str) -> float | None:
        """When the operator's last run committed its last batch."""
        return self._field("time of a commit", keys.COMMITS, operator, _time)

    # -- leases

    def acquire(self, name: str, holder: str, ttl_s: float) -> Lease | None:
        """The lease if it is free or already ours, else None."""
        token = self._acquire(
            keys=[keys.lease(name), keys.TOKENS], args=[name, holder, int(ttl_s * 1000)]
        )
        return None if token is None else Lease(name=name, holder=holder, token=int(token))

    def renew(self, lease: Lease, ttl_s: float) -> bool:
        """Keep a lease, also one that ran out while nobody else had it; False if it is no longer
        ours."""
        return bool(
            self._renew(
                keys=[keys.lease(lease.name), keys.TOKENS],
                args=[lease.name, lease.holder, lease.token, int(ttl_s * 1000)],
            )
        )

    def release(self, lease: Lease) -> None:
        """Give a lease back; nothing happens if it is no longer ours."""
        self._release(keys=[keys.lease(lease.name), keys.TOKENS], args=[lease.name, lease.token])

    def lease(self, name: str) -> Lease | None:
        """Who holds a lease now."""
        key = keys.lease(name)
        holder, token = self._fields("lease", key, "holder", "token")
        if holder is None or token is None:
            return None
        held_by = self.entries.read("lease", name, holder, bytes.decode)
        number = self.entries.read("lease", name, token, int)
        if held_by is None or number is None:
            return None
        return Lease(name=name, holder=held_by, token=number)

    def leases(self, names: Iterable[str]) -> dict[str, Lease]:
        """Those of these that somebody holds now."""
        asked = list(names)
        pipe = self.client.pipeline(transaction=False)
        for name in asked:
            pipe.hmget(keys.lease(name), "holder", "token")
        found: dict[str, Lease] = {}
        for name, values in zip(asked, pipe.execute(raise_on_error=False), strict=True):
            if isinstance(values, list) and None not in values:
                held_by = self.entries.read("lease", name, values[0], bytes.decode)
                number = self.entries.read("lease", name, values[1], int)
                if held_by is not None and number is not None:
                    found[name] = Lease(name=name, holder=held_by, token=number)
        return found

    # -- workload

    def set_workload(self, workload: Workload) -> None:
        """Tell a generator what to produce."""
        self.client.hset(keys.WORKLOADS, workload.name, _encode(workload))

    def change_workload(self, before: Workload, after: Workload, audit: AuditEntry) -> bool:
        """Ask a generator for something else and say so; False if it is asked for another now."""
        data = self._raw(keys.WORKLOADS, before.name)
        found = data and self.entries.read("workload", before.name, data, _workload.decode)
        if found != before:
            return False
        change = AuditedChange(keys.WORKLOADS, before.name, _encode(after), seen_as(data))
        return self._change([change], audit)

    def workloads(self) -> Sequence[Workload]:
        """What every generator is asked for."""
        found = self._hash("workload", keys.WORKLOADS)
        return list(self.entries.table("workload", found, _workload.decode).values())


def _time(data: bytes) -> float:
    return msgspec.convert(float(data), Time)


def _encode_seen(placement: Placement | None) -> bytes:
    return b"" if placement is None else _encode(placement)
