"""The size of each cluster: every scaler's answer, and the followed one's as a proposal."""

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from weir.controllers.engine.apply.effects import Chain, KeepScaling
from weir.controllers.engine.facts import Facts
from weir.controllers.engine.guard.rules import GuardSettings
from weir.controllers.engine.propose import scorecard
from weir.controllers.engine.propose.extract import Extracts
from weir.controllers.engine.propose.make import new_id, new_recommendation
from weir.controllers.engine.propose.proposing import offer
from weir.controllers.engine.propose.scaling import (
    ScaleOutlook,
    ScalerAnswer,
    ScaleSettings,
    ask_scalers,
    executors_in_use,
)
from weir.controllers.engine.propose.sharing import advise, set_shares
from weir.controllers.engine.propose.together import scale_in_plan
from weir.controllers.model.decision import Grounds, NoChange, Scale
from weir.controllers.model.sample import Cluster, Mode
from weir.controllers.model.shares import ShareSettings
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import span


def propose_scaling(
    facts: Facts,
    names: Iterable[str],
    now: float,
    challengers: Collection[str] | None = None,
    extracts: Extracts | None = None,
) -> list[Chain]:
    """Ask the scalers of these clusters; `challengers` narrows who is asked beside the chosen.

    `extracts` are those of the facts' snapshot, for callers that ask about a few clusters at a time.
    """
    chains: list[Chain] = []
    extracts = extracts or Extracts(facts.snapshot)
    total = facts.engine.total_executors or None
    left = None if total is None else total - executors_in_use(facts.snapshot)
    for name in names:
        cluster = extracts.cluster(name)
        if cluster is not None:
            chains += _propose_scaling(cluster, extracts.of(name), facts, now, left, challengers)
    return chains


def _propose_scaling(
    cluster: Cluster,
    part: Snapshot,
    facts: Facts,
    now: float,
    left: int | None,
    challengers: Collection[str] | None,
) -> list[Chain]:
    name = cluster.name
    settings = facts.scaling.get(name, ScaleSettings())
    view, memories = ask_scalers(
        part,
        cluster,
        settings,
        facts.own.get(name, {}),
        facts.memories.get(name, {}),
        now,
        left=left,
        before=facts.outlooks.get(name),
        only=None if challengers is None else {settings.scaler, *challengers},
    )
    view, shared = _share_cores(
        _score(view, cluster, part, now), cluster, part, memories, facts, now
    )
    answer = view.answer(settings.scaler)
    if answer is None:
        wait = f"there is no scaler '{settings.scaler}'"
        return [(KeepScaling(outlook=replace(view, wait=wait), memories=memories),), *shared]
    rules = facts.guards.get(name, GuardSettings())
    kept_s = max(rules.scale_in_delay_s, facts.engine.withdraw_s)
    view = _note_wish(view, answer, cluster, kept_s, now)
    chain, wait = _propose_size(cluster, answer, view, facts, now)
    keep = KeepScaling(outlook=replace(view, wait=wait), memories=memories)
    return [c for c in (chain, (keep,), *shared) if c]


def _share_cores(
    view: ScaleOutlook,
    cluster: Cluster,
    part: Snapshot,
    memories: Mapping[str, bytes],
    facts: Facts,
    now: float,
) -> tuple[ScaleOutlook, list[Chain]]:
    """How the model would share the cores out, and that being done where it may be."""
    memory = memories.get("drs") or facts.memories.get(cluster.name, {}).get("drs")
    own = facts.own.get(cluster.name, {}).get("drs", {})
    weights = facts.shares.get(cluster.name, ShareSettings()).by_operator
    advice = advise(part, cluster.name, memory, own, weights)
    if advice is None:
        return replace(view, shares=None, share_wait=""), []
    effect, wait = set_shares(cluster, advice, view, facts, now)
    view = replace(
        view, shares=advice, share_wait=wait, shared_at=now if effect else view.shared_at
    )
    return view, [(effect,)] if effect else []


def _propose_size(
    cluster: Cluster, answer: ScalerAnswer, view: ScaleOutlook, facts: Facts, now: float
) -> tuple[Chain, str]:
    """The followed scaler's answer as a proposal, or why there is none."""
    decision = answer.decision
    if facts.modes.get(cluster.name, Mode.APPROVE) is Mode.OBSERVE:
        return (), "mode observe: the engine only looks"
    if isinstance(decision, NoChange):
        # Between two decisions, what held the last one back is still the reason.
        before = facts.outlooks.get(cluster.name)
        between = decision.reason.grounds is Grounds.NOT_NOW
        return (), (between and before and before.wait) or decision.reason.text
    decision, why = _limit_step(decision, view, facts, now)
    if why:
        return (), why
    decision, why, options = scale_in_plan(decision, facts, now)
    if why:
        return (), why
    facts = _with(facts, view)
    source = answer.scaler
    fresh = new_recommendation(
        decision,
        facts.snapshot,
        id=new_id(source, cluster.name, now),
        source=source,
        now=now,
        ttl_s=facts.engine.ttl_s,
        outlook=facts.outlook,
        recent=facts.lately([cluster.name], now),
        track=facts.track(cluster.name, source),
    )
    return offer(replace(fresh, options=options), facts, now)


def _limit_step(decision: Scale, view: ScaleOutlook, facts: Facts, now: float) -> tuple[Scale, str]:
    """The step cut to what may change at once; scaling in, to the largest recently asked for."""
    rules = facts.guards.get(decision.cluster, GuardSettings())
    target, said = decision.executors, decision.reason.text
    if target < decision.before:
        since = now - rules.scale_in_delay_s
        target = max([target, *(n for at, n in view.asked if at > since)])
        if target >= decision.before:
            return decision, (
                f"as many as there are were asked for within the last {span(rules.scale_in_delay_s)}"
            )
        if target != decision.executors:
            said += f" {target} is the largest number asked for of late."
    if rules.largest_step and abs(target - decision.before) > rules.largest_step:
        sign = 1 if target > decision.before else -1
        target = decision.before + sign * rules.largest_step
        said += f" {rules.largest_step} at once is the most, so {target} for now."
    if target == decision.executors:
        return decision, ""
    scale = decision.executors / target if target else 1.0
    load = {name: value * scale for name, value in decision.prediction.load.items()}
    return replace(
        decision,
        executors=target,
        reason=replace(decision.reason, text=said),
        prediction=replace(
            decision.prediction, load=load, latency_s=None, executors={decision.cluster: target}
        ),
    ), ""


def _note_wish(
    view: ScaleOutlook, answer: ScalerAnswer, cluster: Cluster, kept_s: float, now: float
) -> ScaleOutlook:
    """Remember what the followed scaler asked for, as far back as anybody looks."""
    target = executors_wanted(answer, cluster)
    if target is None:
        return view
    since = now - kept_s
    older = [a for a in view.asked if a[0] <= since][-1:]
    kept_ = (*older, *(a for a in view.asked if a[0] > since), (now, target))
    return replace(view, asked=kept_)


def executors_wanted(answer: ScalerAnswer, cluster: Cluster) -> int | None:
    """The number of executors that an answer comes to; None if it is no opinion."""
    decision = answer.decision
    if isinstance(decision, Scale):
        return decision.executors
    if not decision.reason.is_opinion:
        return None
    return cluster.executors_asked


def _score(view: ScaleOutlook, cluster: Cluster, part: Snapshot, now: float) -> ScaleOutlook:
    targets = {a.scaler: n for a in view.answers if (n := executors_wanted(a, cluster)) is not None}
    scores, pending = scorecard.advance_scores(
        view.scores,
        view.pending,
        targets,
        executors=cluster.executors,
        work_cores=sum(o.load for o in part.operators_of(cluster.name)),
        cores_per_executor=max(1, cluster.cores_per_executor),
        now=now,
    )
    return replace(view, scores=scores, pending=pending)


def _with(facts: Facts, view: ScaleOutlook) -> Facts:
    return replace(facts, outlooks={**facts.outlooks, view.cluster: view})
