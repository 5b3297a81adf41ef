"""How operators share the cores of their cluster: DRS's K_max mode, live.

Not a recommendation of its own: nothing stops or moves, and it can be taken back at once. The
engine says what the model would do; where it may act by itself it sets the weights, when the
gain is worth it, with an entry in the audit trail.
"""

from collections.abc import Mapping

from weir.controllers.engine.apply.effects import SetShares
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard import hours
from weir.controllers.engine.guard.rules import Criteria
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.recommendation import ENGINE
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster, Mode
from weir.controllers.model.shares import (
    ShareSettings,
    ShareSource,
    weights_text,
)
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import percent, span
from weir.controllers.scaling.drs.measure import stations
from weir.controllers.scaling.drs.shares import ShareAdvice, advise_shares
from weir.controllers.scaling.facts import Scope, observe
from weir.controllers.scaling.registry import create


def advise(
    part: Snapshot,
    cluster: str,
    memory: bytes | None,
    own: Mapping[str, object],
    weights: Mapping[str, int],
) -> ShareAdvice | None:
    """What the model says of a cluster's shares; None where there is nothing to say it of."""
    facts = observe(part, Scope(cluster=cluster))
    if facts is None or memory is None or not facts.cluster.hosted:
        return None
    try:
        drs = create("drs", own, Scope(cluster=cluster))
        known = drs.remember(memory)
        return advise_shares(facts, stations(known.tracks, drs.settings.variability), weights)
    except InvalidInput:
        return None


def set_shares(
    cluster: Cluster, advice: ShareAdvice, view: ScaleOutlook, facts: Facts, now: float
) -> tuple[SetShares | None, str]:
    """The weights to set by itself, or why there are none."""
    settings = facts.shares.get(cluster.name, ShareSettings())
    if not advice.weights or advice.weights == advice.now:
        return None, advice.why
    if advice.gain < settings.least_gain:
        return None, (
            f"{advice.why} A gain of {percent(advice.gain)} is less than "
            f"{percent(settings.least_gain)}."
        )
    why = _why_not(cluster.name, settings, facts, now)
    if not why and now - view.shared_at < settings.rest_s:
        why = f"the last change is {span(now - view.shared_at)} ago"
    if why:
        return None, why
    text = weights_text(advice.weights)
    said = AuditEntry(
        at=now, by=ENGINE, action="shares.changed", subject=cluster.name,
        before={"weights": settings.weights}, detail=text, why=advice.why,
    )  # fmt: skip
    return SetShares(cluster=cluster.name, seen=settings.weights, weights=text, audit=said), ""


def _why_not(cluster: str, settings: ShareSettings, facts: Facts, now: float) -> str:
    mode = facts.modes.get(cluster, Mode.APPROVE)
    if settings.source is ShareSource.HAND:
        return "a person chose the weights"
    if facts.engine.paused:
        return "every automatic action is paused"
    if mode is Mode.AUTO:
        return ""
    if mode is not Mode.AUTO_WITHIN_CRITERIA:
        return f"in mode {mode.value} a person sets them"
    criteria = facts.criteria.get(cluster, Criteria())
    if not criteria.shares:
        return "shares are not among what is automatic"
    if criteria.hours and not hours.is_within(criteria.hours, now):
        return f"it is not between {criteria.hours} UTC"
    return ""
