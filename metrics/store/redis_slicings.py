"""The part of the store in Redis that holds slices: who owns which key groups."""

from collections.abc import Sequence

import msgspec
import redis

from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.model.placement import Lease, Placement
from weir.controllers.model.slicing import Slicing
from weir.metrics.store import keys
from weir.metrics.store.redis_audit import AuditedChange, seen_as
from weir.metrics.store.redis_samples import RedisSamples

SLICING = "slicing"

_encode = msgspec.json.encode
_slicing = msgspec.json.Decoder(Slicing)


class RedisSlicings(RedisSamples):
    """See `weir.controllers.engine.ports.Store`."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self._sliced: dict[str, Slicing] = {}

    def slicings(self) -> dict[str, Slicing]:
        """The slices of every operator that has some; as they were last known where that cannot
        be read: a slice must not end, nor own other keys, because a value is broken."""
        found = self._hash(SLICING, keys.SLICINGS)
        good = self.entries.table(SLICING, found, _slicing.decode)
        known = {n: s for n, s in self._sliced.items() if n.encode() in found}
        self._sliced = {**known, **{n: s for n, s in good.items() if s.operator == n}}
        return dict(self._sliced)

    def slice_if(self, after: Slicing, seen: Slicing | None) -> bool:
        """Give an operator other slices, unless somebody else has since they were seen. What
        cannot be read may be replaced, as nobody can have seen it."""
        change = self._slicing_change(after, seen)
        return change is not None and self._change([change])

    def _slicing_change(self, after: Slicing, seen: Slicing | None) -> AuditedChange | None:
        """The change to these slices; None if they are not as they were seen."""
        data = self._raw(keys.SLICINGS, after.operator)
        found = data and self.entries.read(SLICING, after.operator, data, _slicing.decode)
        if (found and found != seen) or (data is None and seen is not None):
            return None
        return AuditedChange(keys.SLICINGS, after.operator, _encode(after), seen_as(data))

    def save_reslicing(
        self,
        reslicing: Reslicing,
        leader: Lease | None = None,
        slicing: Slicing | None = None,
        seen: Slicing | None = None,
        place: Sequence[Placement] = (),
        unplace: Sequence[str] = (),
    ) -> bool:
        """Keep how far a re-slice has come, with the slices and placements that it changes, at
        once; False for an old leader, and if somebody has changed the slices since they were
        seen."""
        changes = [AuditedChange(keys.RESLICINGS, reslicing.id, _encode(reslicing))]
        if slicing is not None:
            change = self._slicing_change(slicing, seen)
            if change is None:
                return False
            changes.append(change)
        changes += [AuditedChange(keys.PLACEMENT, p.operator, _encode(p)) for p in place]
        changes += [AuditedChange(keys.PLACEMENT, name) for name in unplace]
        return self._change(changes, leader=leader)
