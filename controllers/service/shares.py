"""How operators share the cores of their cluster, as a person or program sets it."""

from collections.abc import Mapping
from typing import Any

from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import engine_settings, read_leniently
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.shares import (
    ShareSettings,
    ShareSource,
    share_group,
    weight,
    weights_text,
)
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.service.request import Request, require_cluster, require_comment


def set_shares(
    store: Store,
    request: Request,
    cluster: str,
    weights: Mapping[str, Any] | None = None,
    *,
    source: ShareSource = ShareSource.HAND,
) -> ShareSettings:
    """Give operators weights; those not named have 1, none named: all alike. They hold until
    somebody sets others; `source` says whether the model may. None: the weights stay."""
    require_cluster(store, cluster)
    snapshot = Snapshot.of(store.latest(), request.at)
    found = snapshot.cluster(cluster)
    if found is None or not found.hosted:
        raise Refused(
            f"{cluster} is a job of its own: only the operators of a host have shares to set."
        )
    here = {o.name for o in snapshot.operators_of(cluster)}
    strange = sorted(set(weights or ()) - here)
    if strange:
        raise NotFound(f"there is no operator '{strange[0]}' in cluster {cluster}")
    checked = {name: weight(name, value) for name, value in (weights or {}).items()}
    if len(weights_text(checked)) > 4000:
        raise InvalidInput("That are too many weights at once.", field="weights")
    require_comment(request, engine_settings(store))

    def change(kept: dict[str, Any]) -> dict[str, Any]:
        after = {**kept, "source": source.value}
        return after if weights is None else {**after, "weights": weights_text(checked)}

    def entry_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> AuditEntry:
        return request.entry(
            "shares.changed", cluster,
            before={k: before.get(k) for k in ("weights", "source") if k in before},
            detail=f"{after.get('weights') or 'all alike'}, by {after['source']}",
        )  # fmt: skip

    _, after = store.change_settings(
        share_group(cluster), change, entry_of, by=request.by, at=request.at
    )
    return read_leniently(ShareSettings, after)
