"""`shares`: how operators share the cores of their cluster, on the command line."""

import time
from collections.abc import Mapping

from weir.commands.trail import request
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import share_settings
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.shares import ShareSource, deal, weights_text
from weir.controllers.model.snapshot import Snapshot


def shares(
    store: Store, cluster: str, weights: Mapping[str, str] | None, model: bool, comment: str = ""
) -> str:
    """Set them if something is given, and say how they are."""
    if weights and model:
        raise InvalidInput("Either weights or --model, not both.", field="model")
    if weights is not None or model:
        source = ShareSource.MODEL if model else ShareSource.HAND
        service.set_shares(store, request(comment), cluster, weights, source=source)
    return _words(store, cluster)


def _words(store: Store, name: str) -> str:
    snapshot = Snapshot.of(store.latest(), time.time())
    cluster = snapshot.cluster(name)
    if cluster is None:
        raise NotFound(f"there is no cluster '{name}'")
    settings = share_settings(store, name)
    set_ = settings.by_operator
    weights = {o.name: set_.get(o.name, 1) for o in snapshot.operators_of(name)}
    cores = deal(weights, cluster.executors * max(1, cluster.cores_per_executor))
    lines = [f"{name}: weights by {settings.source.value}"]
    for operator, value in sorted(weights.items()):
        first = f", {cores[operator]} cores first" if len(set(weights.values())) > 1 else ""
        lines.append(f"  {operator}: {value}{first}")
    outlook = store.scale_outlooks().get(name)
    if outlook and outlook.shares and outlook.shares.weights:
        advice = outlook.shares
        lines.append(f"the model: {weights_text(advice.weights)}. {advice.why}")
    if outlook and outlook.share_wait:
        lines.append(f"not done: {outlook.share_wait}")
    return "\n".join(lines)
