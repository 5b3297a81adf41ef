"""Scaling by hand: what a number of executors should bring, said before it is asked for."""

from math import inf
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.live.commands import scale_text
from weir.components.live.figures import load_state
from weir.components.live.world import World, stale
from weir.components.pages.scale.view import own_settings, settings_of
from weir.components.ui import text
from weir.components.ui.figure import State
from weir.controllers.engine.propose.scaling import hand_scope, scale_by_hand
from weir.controllers.model.decision import Scale
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.scaling.drs.foresee import latency_with
from weir.controllers.scaling.facts import ClusterFacts, Scope, observe


class Bound(Struct, frozen=True, kw_only=True):
    """Between which numbers a person may choose, and why not at all if so."""

    executors: int  # asked for at present
    least: int
    most: int
    refusal: str = ""


class HandPreview(Struct, frozen=True, kw_only=True):
    """The prediction of a number that a person chose."""

    decision: Scale
    words: str
    load_before: float | None
    load_after: float | None
    latency_before_s: float | None
    latency_after_s: float | None  # infinite: the cores would not keep up
    warning: str = ""

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.decision.executors != self.decision.before

    @property
    def load_state(self) -> State:
        """What to think of the load after."""
        return load_state(self.load_after)


def bounds_of(world: World, cluster: str) -> Bound:
    """The limits of a cluster, or why it cannot be scaled from here."""
    facts = observe(world.snapshot, _scope(world, cluster))
    if facts is None:
        return Bound(executors=0, least=0, most=0, refusal=f"There is no cluster {cluster}.")
    refusal = ""
    if not facts.cluster.can_scale:
        refusal = (
            f"{cluster} has no agent that could add or remove executors, so it gets "
            "recommendations only. attach() in its job brings one."
        )
    elif facts.low == facts.high == facts.executors:
        refusal = f"{cluster} may have {text.plural(facts.high, 'executor')}, no more and no fewer."
    return Bound(
        executors=facts.executors, least=max(1, facts.low), most=facts.high, refusal=refusal
    )


def preview(world: World, cluster: str, executors: Any) -> HandPreview:
    """What so many executors should bring; refused in words where they cannot be had."""
    if world.snapshot.cluster(cluster) is None:
        raise NotFound(f"There is no cluster {cluster} any more.")
    if not isinstance(executors, int) or isinstance(executors, bool) or executors < 1:
        raise InvalidInput("Choose a whole number of executors, 1 or more.", field="executors")
    scope = _scope(world, cluster)
    decision = scale_by_hand(world.snapshot, cluster, executors, scope)
    facts = observe(world.snapshot, scope)
    assert facts is not None
    return HandPreview(
        decision=decision,
        words=_words(decision, facts),
        load_before=facts.load,
        load_after=decision.prediction.load.get(cluster),
        latency_before_s=facts.own_latency_s,
        latency_after_s=latency_at(world, cluster, executors),
        warning=f"{cluster} has sent no data lately; the prediction rests on old figures."
        if stale(world, cluster)
        else "",
    )


def _scope(world: World, cluster: str) -> Scope:
    settings, engine = settings_of(world, cluster), world.control.settings
    return hand_scope(world.snapshot, cluster, settings, engine.total_executors)


def _words(decision: Scale, facts: ClusterFacts) -> str:
    said = scale_text(decision.before, decision.executors, facts.cores, decision.cluster)
    there = facts.cluster.executors
    if there == decision.before:
        return said
    then = (
        "Nothing would change."
        if decision.executors == decision.before
        else f"It would be asked for {decision.executors} instead, "
        f"{text.plural(decision.executors * facts.cores, 'core')} in all."
    )
    return (
        f"{decision.cluster} was asked for {text.plural(decision.before, 'executor')} and has "
        f"{there}. {then}"
    )


def latency_at(world: World, cluster: str, executors: int) -> float | None:
    """The queueing model's latency with so many executors; None where it cannot say."""
    kept = world.memories.get(cluster, {}).get("drs")
    settings = own_settings(world, cluster, "drs")
    return latency_with(world.snapshot, cluster, executors, kept, settings)


def latency_words(shown: HandPreview) -> str:
    """The latency then, by the queueing model."""
    after = shown.latency_after_s
    if after is None:
        return "not known: the queueing model has no figures yet"
    if after == inf:
        return "grows without end: the cores would not keep up"
    return f"about {text.seconds(after)} by the queueing model"


class SizeRequest(Struct, frozen=True, kw_only=True):
    """What a browser sends back of a prediction."""

    id: str
    cluster: str
    executors: int
    before: int


def read_request(data: Any) -> SizeRequest:
    """The number that was predicted."""
    try:
        return msgspec.convert(data, SizeRequest)
    except msgspec.ValidationError:
        raise InvalidInput("Choose a number of executors first.", field="executors") from None
