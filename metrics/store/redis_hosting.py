"""The part of the store in Redis that holds orders for hosts."""

import msgspec

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.model.hosting import HostOrder
from weir.controllers.model.placement import Lease
from weir.metrics.store import keys
from weir.metrics.store.redis_audit import AuditedChange, seen_as
from weir.metrics.store.redis_slicings import RedisSlicings

ORDER = "order of a host"

_order = msgspec.json.Decoder(HostOrder)


class RedisHosting(RedisSlicings):
    """See `weir.controllers.engine.ports.Store`."""

    def host_orders(self) -> dict[str, HostOrder]:
        """What is wanted of each host, by cluster."""
        found = self.entries.table(ORDER, self._hash(ORDER, keys.HOSTS), _order.decode)
        return {name: order for name, order in found.items() if order.cluster == name}

    def change_host_order(
        self,
        before: HostOrder | None,
        after: HostOrder | None,
        audit: AuditEntry,
        leader: Lease | None = None,
    ) -> bool:
        """Want something else of a host and say so; False if somebody else was first."""
        known = after or before
        if known is None:
            return False
        data = self._raw(keys.HOSTS, known.cluster)
        found = data and self.entries.read(ORDER, known.cluster, data, _order.decode)
        if (found or None) != before:
            return False
        value = None if after is None else msgspec.json.encode(after)
        change = AuditedChange(keys.HOSTS, known.cluster, value, seen_as(data))
        return self._change([change], audit, leader)
