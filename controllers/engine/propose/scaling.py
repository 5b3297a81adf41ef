"""Asking the scalers: one that the engine follows per cluster, all others in shadow."""

import logging
from collections.abc import Collection, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.engine.propose.scorecard import Pending, Score
from weir.controllers.model.age import Time
from weir.controllers.model.decision import Decision, Grounds, NoChange, Prediction, Reason, Scale
from weir.controllers.model.errors import UNREADABLE, InvalidInput, WeirError
from weir.controllers.model.sample import Cluster
from weir.controllers.model.settings import setting
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import are, number_of
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.drs.shares import ShareAdvice
from weir.controllers.scaling.facts import ClusterFacts, observe
from weir.controllers.scaling.registry import create, scalers

log = logging.getLogger(__name__)

HISTORY, HISTORY_S = 360, 900.0
"""Points, and how far back, of one comparison: as far as the series on the pages."""


class ScaleSettings(Struct, frozen=True, kw_only=True):
    """How one cluster is scaled; the group is named by `scale_group`."""

    scaler: Annotated[str, setting("Scaler that the engine follows here")] = "horizon"
    min_executors: Annotated[int, setting("Fewest executors to ask for", ge=0)] = 0
    max_executors: Annotated[
        int, setting("Most executors to ask for; 0: as many as the cluster itself allows", ge=0)
    ] = 0


class ScalerAnswer(Struct, frozen=True, kw_only=True):
    """What one scaler says at this moment; only the chosen one's answer has consequences."""

    scaler: str
    title: str
    decision: Scale | NoChange
    chosen: bool = False


class ScaleOutlook(Struct, frozen=True, kw_only=True):
    """What the Scale page shows of one cluster."""

    at: Time
    cluster: str
    scaler: str
    answers: tuple[ScalerAnswer, ...] = ()
    wait: str = ""  # why nothing is asked now
    sojourn: tuple[tuple[float, float | None, float | None], ...] = ()
    """Time, latency by the queueing model, latency measured; in seconds."""
    sample_at: Time = 0.0  # end of the period that was looked at
    asked: tuple[tuple[float, int], ...] = ()
    """When the followed scaler asked for how many executors; as far back as anybody looks."""
    scores: tuple[Score, ...] = ()
    pending: Pending | None = None  # answers to be judged in hindsight
    shares: ShareAdvice | None = None  # how the model would share the cores out
    share_wait: str = ""  # why that is not done now
    shared_at: Time = 0.0  # when the engine did it last

    def answer(self, scaler: str) -> ScalerAnswer | None:
        """One scaler's answer."""
        return next((a for a in self.answers if a.scaler == scaler), None)


def scale_group(cluster: str) -> str:
    """Name of the settings of a cluster's scaling."""
    return f"scale:{cluster}"


def scaler_group(cluster: str, scaler: str) -> str:
    """Name of the settings of one scaler in one cluster."""
    return f"scale:{cluster}:{scaler}"


def executors_in_use(snapshot: Snapshot) -> int:
    """Executors over all clusters: asked for, or present where nothing was asked."""
    return sum(c.executors_asked for c in snapshot.clusters)


def scope_of(cluster: str, settings: ScaleSettings, left: int | None) -> Scope:
    """The limits of one cluster: its own, those set for it, and what is left of the total."""
    return Scope(
        cluster=cluster,
        min_executors=settings.min_executors,
        max_executors=settings.max_executors or None,
        total_left=left,
    )


def ask_scalers(
    snapshot: Snapshot,
    cluster: Cluster,
    settings: ScaleSettings,
    own: Mapping[str, Mapping[str, Any]],
    memories: Mapping[str, bytes],
    now: float,
    *,
    left: int | None = None,
    before: ScaleOutlook | None = None,
    only: Collection[str] | None = None,
) -> tuple[ScaleOutlook, dict[str, bytes]]:
    """Every scaler's answer for one cluster, and the memories to keep.

    `own` are each scaler's settings. A scaler whose settings cannot be used or that fails
    says so instead of an answer, and what it remembered stands; one whose memory cannot be
    read begins with a fresh one. With `only` the others are not asked, and what they said
    before stands.
    """
    scope = scope_of(cluster.name, settings, left)
    facts = observe(snapshot, scope)
    answers, kept = [], {}
    for name, kind in scalers().items():
        last = before.answer(name) if before else None
        if only is not None and name not in only:
            if last is not None:
                answers.append(replace(last, chosen=name == settings.scaler))
            continue
        try:
            scaler = create(name, own.get(name, {}), scope)
            try:
                memory = scaler.remember(memories.get(name))
            except InvalidInput:
                memory = scaler.fresh()
            decision, memory = scaler.decide_on(facts, memory, now)
            kept[name] = msgspec.json.encode(memory)
        except WeirError as error:
            decision = NoChange(
                reason=Reason(text=str(error), rule="not usable", grounds=Grounds.UNUSABLE)
            )
        except Exception as error:  # one scaler's mistake is no reason to stop the engine
            log.exception("scaler %s failed on %s", name, cluster.name)
            text = f"not usable: {type(error).__name__}; the engine's log says more"
            decision = NoChange(
                reason=Reason(text=text, rule="not usable", grounds=Grounds.UNUSABLE)
            )
        answers.append(
            ScalerAnswer(
                scaler=name,
                title=kind.title,
                decision=_shown_decision(decision),
                chosen=name == settings.scaler,
            )
        )
    outlook = replace(
        before or ScaleOutlook(at=now, cluster=cluster.name, scaler=settings.scaler),
        at=now,
        cluster=cluster.name,
        scaler=settings.scaler,
        answers=tuple(answers),
        wait="",
        sample_at=now - cluster.heartbeat_age_s,
        sojourn=_sojourn(before, kept.get("drs"), facts, now),
    )
    return outlook, kept


def hand_scope(
    snapshot: Snapshot, cluster: str, settings: ScaleSettings, total_executors: int
) -> Scope:
    """How far a person may go: the limits that the engine keeps to, so that both agree."""
    left = total_executors - executors_in_use(snapshot) if total_executors else None
    return scope_of(cluster, settings, left)


def scale_by_hand(
    snapshot: Snapshot, cluster: str, executors: int, scope: Scope | None = None
) -> Scale:
    """A number that a person chose, with what it should bring."""
    facts = observe(snapshot, scope or Scope(cluster=cluster))
    if facts is None:
        raise InvalidInput(f"there is no cluster {cluster}", field="cluster")
    if not facts.cluster.can_scale:
        raise InvalidInput(
            facts.cluster.message or f"{cluster} cannot be scaled: no agent is attached to it",
            field="cluster",
        )
    if not facts.low <= executors <= facts.high:
        raise InvalidInput(
            f"{number_of(executors, 'executor')} {are(executors)} outside the limits {facts.low} to {facts.high}",
            field="executors",
        )
    load = facts.load_cores
    return Scale(
        cluster=cluster,
        executors=executors,
        before=facts.executors,
        reason=Reason(text="Chosen by hand."),
        prediction=Prediction(
            load={} if load is None else {cluster: load / (max(executors, 1) * facts.cores)},
            executors={cluster: executors},
        ),
    )


def _shown_decision(decision: Decision) -> Scale | NoChange:
    if isinstance(decision, Scale | NoChange):
        return decision
    return NoChange(reason=decision.reason)


class _Predicted(Struct):
    """What of the queueing model's memory is shown."""

    predicted_s: float | None = None


def _sojourn(
    before: ScaleOutlook | None,
    drs: bytes | None,
    facts: ClusterFacts | None,
    now: float,
) -> tuple[tuple[float, float | None, float | None], ...]:
    """The queueing model's latency beside the measured one, as they come.

    The model's is a prediction: what this measurement says of the overhead is not in it.
    """
    known = before.sojourn[-HISTORY + 1 :] if before else ()
    past = tuple(point for point in known if point[0] > now - HISTORY_S)
    if drs is None or facts is None:
        return past
    try:
        predicted_s = msgspec.json.decode(drs, type=_Predicted).predicted_s
    except UNREADABLE:
        return past
    return (*past, (now, predicted_s, facts.own_latency_s))
