"""Settings as they are kept. One that no longer fits counts as its default."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import fields

from weir.controllers.engine.guard.rules import ENGINE, EngineSettings
from weir.controllers.engine.ports import Rules
from weir.controllers.engine.propose.scaling import ScaleSettings, scale_group
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.failover import FAILOVER, FailoverSettings
from weir.controllers.model.hosting import CLUSTERS, ClusterSettings
from weir.controllers.model.settings import build
from weir.controllers.model.shares import ShareSettings, share_group

S = TypeVar("S", bound=Struct)


def read_leniently(kind: type[S], values: Mapping[str, Any]) -> S:
    """Settings from what is kept; the default for each that no longer fits.

    >>> kept = read_leniently(EngineSettings, {"gone": 1, "ttl_s": "soon", "paused": True})
    >>> kept.ttl_s, kept.paused
    (300.0, True)
    """
    if not values:
        return kind()
    known = {field.encode_name for field in fields(kind)}
    given = {key: value for key, value in values.items() if key in known}
    try:
        return build(kind, given)
    except InvalidInput:
        fitting: dict[str, Any] = {}
        for key, value in given.items():
            with suppress(InvalidInput):
                build(kind, {**fitting, key: value})
                fitting[key] = value
        return build(kind, fitting)


def engine_settings(store: Rules) -> EngineSettings:
    """What holds for all clusters."""
    return read_leniently(EngineSettings, store.settings(ENGINE))


def cluster_settings(store: Rules) -> ClusterSettings:
    """Within which limits clusters come and go."""
    return read_leniently(ClusterSettings, store.settings(CLUSTERS))


def failover_settings(store: Rules) -> FailoverSettings:
    """When a cluster counts as dead, and what is then done."""
    return read_leniently(FailoverSettings, store.settings(FAILOVER))


def share_settings(store: Rules, cluster: str) -> ShareSettings:
    """How the operators of a cluster share its cores."""
    return read_leniently(ShareSettings, store.settings(share_group(cluster)))


def scale_settings(store: Rules, cluster: str) -> ScaleSettings:
    """How a cluster is scaled."""
    return read_leniently(ScaleSettings, store.settings(scale_group(cluster)))
