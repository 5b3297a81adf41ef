"""The Scale page as data: what every scaler answers now, whom the engine follows, how it fares.

Pure functions of a `World`: its scale outlooks, the scalers' memories and the settings that
people gave. A replay shows past data by the same functions.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from weir.components.live.charts import highest
from weir.components.live.figures import limit_state, load_state
from weir.components.live.world import World, stale
from weir.components.ui import text
from weir.components.ui.figure import Figure, Figures, State
from weir.controllers.engine.propose.scaling import (
    ScaleOutlook,
    ScalerAnswer,
    ScaleSettings,
    scale_group,
    scaler_group,
)
from weir.controllers.model.decision import Grounds, NoChange, Reason, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster
from weir.controllers.model.settings import build, describe
from weir.controllers.scaling.registry import scaler_type, scalers

OLD_AFTER_S = 20.0
"""The engine asks the scalers every few seconds; so long without means it is not at work."""
NOT_TOLD = "grants not reported"
NAMED = 5
SUMMARY = "scale/summary"
_AIMS = ("target_latency_s", "t_max_s")  # settings that say which latency a scaler aims at


class ReasonNumber(Struct, frozen=True, kw_only=True):
    """One number of a reason, named and with its unit."""

    name: str
    value: str


def outlook_of(world: World, cluster: str) -> ScaleOutlook | None:
    """What the engine last heard from the scalers of a cluster."""
    return world.scale_outlooks.get(cluster)


def old(world: World, cluster: str) -> bool:
    """Whether the engine has stopped asking."""
    view = outlook_of(world, cluster)
    return view is None or world.at - view.at > OLD_AFTER_S


def settings_of(world: World, cluster: str) -> ScaleSettings:
    """How a cluster is scaled; settings that no longer fit count as the defaults."""
    try:
        return build(ScaleSettings, world.scale_settings.get(scale_group(cluster), {}))
    except InvalidInput:
        return ScaleSettings()


def own_settings(world: World, cluster: str, scaler: str) -> Mapping[str, Any]:
    """What people set of one scaler here; the rest has its default."""
    return world.scale_settings.get(scaler_group(cluster, scaler), {})


def title_of(scaler: str) -> str:
    """A scaler's name as people know it.

    >>> title_of("drs"), title_of("gone")
    ('DRS queueing model', 'gone')
    """
    kind = scalers().get(scaler)
    return kind.title if kind else scaler


def answer_text(decision: Scale | NoChange) -> str:
    """What a scaler answers, in as few words as it takes.

    >>> answer_text(Scale(cluster="a", executors=3, before=2, reason=Reason(text="")))
    '2 → 3'
    """
    if isinstance(decision, Scale):
        return f"{decision.before} → {decision.executors}"
    return "stay"


def numbers(reason: Reason) -> tuple[ReasonNumber, ...]:
    """The numbers of a reason with names that can be read.

    >>> [f"{n.name} {n.value}" for n in numbers(Reason(text="", numbers={"t_max_s": 10.0}))]
    ['t max 10 s']
    """
    return tuple(
        ReasonNumber(name=name, value=value)
        for name, value in (text.name_value(k, v) for k, v in reason.numbers.items())
    )


def figures(world: World, cluster: Cluster) -> Figures:
    """Key figures of a cluster, and the cells of the table of answers."""
    name, view = cluster.name, outlook_of(world, cluster.name)
    settings = settings_of(world, name)
    found = {
        **brief(world, cluster),
        f"scale/{name}/limits": Figure(limits_text(cluster, settings)),
        f"scale/{name}/scaler": Figure(title_of(settings.scaler)),
        f"scale/{name}/aims": Figure(aims_text(world, name)),
        f"scale/{name}/steps": _steps(cluster),
    }
    for scaler in scalers():
        answer = view.answer(scaler) if view else None
        found |= _answer_figures(name, scaler, answer, followed=scaler == settings.scaler)
    return found


def summary(world: World) -> Figure:
    """What the scalers that are followed want, over all clusters, in a sentence."""
    wanted = {}
    for cluster in world.snapshot.clusters:
        name = cluster.name
        view = None if stale(world, name) or old(world, name) else outlook_of(world, name)
        answer = view.answer(settings_of(world, name).scaler) if view else None
        if answer:
            wanted[name] = answer.decision
    count = len(world.snapshot.clusters)
    if not wanted:
        return Figure("No scaler has answered lately: the engine is not at work.", "bad")
    silent = count - len(wanted)
    but = f" Of {text.plural(silent, 'cluster')} there is no fresh answer." if silent else ""
    changes = {n: d for n, d in wanted.items() if isinstance(d, Scale)}
    if not changes:
        which = "" if silent or count == 1 else " Every cluster stays as it is."
        said = f"No scaler that is followed asks for another size.{which}{but}"
        return Figure(said, "warn" if silent else "ok")
    first = [f"{n} {d.before} → {d.executors}" for n, d in list(changes.items())[:NAMED]]
    more = f" and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    subject = f"{len(changes)} of {text.plural(count, 'cluster')}"
    verb = "wants" if len(changes) == 1 else "want"
    return Figure(f"{subject} {verb} another size: {', '.join(first)}{more}.{but}", "warn")


def brief(world: World, cluster: Cluster) -> Figures:
    """What the choice of a cluster shows of each."""
    name = cluster.name
    load = world.snapshot.load(name)
    latency = highest(o.latency_s for o in world.snapshot.operators_of(name))
    view, followed = outlook_of(world, name), settings_of(world, name).scaler
    answer = view.answer(followed) if view else None
    missing = cluster.executors != cluster.executors_wanted
    base = f"scale/{name}"
    return {
        f"{base}/present": Figure(f"{cluster.executors}", "warn" if missing else ""),
        f"{base}/asked": Figure(asked_text(cluster)),
        f"{base}/load": Figure(text.load(load), load_state(load)),
        f"{base}/latency": Figure(
            text.seconds(latency), limit_state(latency, world.target_latency_s)
        ),
        f"{base}/followed": Figure(title_of(followed)),
        f"{base}/says": Figure(
            answer_text(answer.decision) if answer else text.NOTHING,
            "off" if stale(world, name) or old(world, name) else "",
        ),
    }


def executors_text(cluster: Cluster) -> str:
    """The three numbers beside the chart; what the cluster manager does not tell is said so.

    >>> executors_text(Cluster(name="a", executors=2, executors_wanted=4))
    '4 wanted, 2 present, grants not reported'
    """
    present = f"{asked_text(cluster)}, {cluster.executors} present"
    return f"{present}, {NOT_TOLD}" if cluster.executors_granted is None else present


def asked_text(cluster: Cluster) -> str:
    """What was asked for, and what of it the cluster manager granted where it says so."""
    granted = cluster.executors_granted
    said = "" if granted is None else f", {granted} granted"
    return f"{cluster.executors_wanted} wanted{said}"


def aims_text(world: World, cluster: str) -> str:
    """Which latency the pages mark as too high, and which one the followed scaler aims at."""
    pages_s = world.target_latency_s
    scaler = settings_of(world, cluster).scaler
    kept = own_settings(world, cluster, scaler)
    own_s = next(
        (
            kept.get(info.key, info.default)
            for info in describe(scaler_type(scaler).settings_type)
            if info.key in _AIMS
        ),
        None,
    )
    if own_s is None:
        return f"target {text.target(pages_s)} on the pages, none for the scaler"
    if own_s == pages_s:
        return f"target {text.target(pages_s)} on the pages and for the scaler"
    return f"target {text.target(pages_s)} on the pages, {text.target(own_s)} for the scaler"


def limits_text(cluster: Cluster, settings: ScaleSettings) -> str:
    """The limits that hold: the narrower of the cluster's own and those that were set.

    >>> limits_text(Cluster(name="a", max_executors=6), ScaleSettings(max_executors=4))
    '1 to 4'
    """
    most = min(cluster.max_executors, settings.max_executors or cluster.max_executors)
    least = min(max(cluster.min_executors, settings.min_executors), most)
    return f"{least} to {most}"


def course(world: World, cluster: Cluster) -> Figures:
    """What stands at the chart of one cluster of few: its executors, and what its scaler says."""
    name, followed = cluster.name, settings_of(world, cluster.name).scaler
    view = outlook_of(world, name)
    answer = view.answer(followed) if view else None
    why = answer.decision.reason.text if answer else "The engine has not asked its scaler yet."
    return {
        f"scale/{name}/steps": _steps(cluster),
        f"scale/{name}/why": Figure(f"{title_of(followed)}: {why}"),
    }


def _steps(cluster: Cluster) -> Figure:
    missing = cluster.executors != cluster.executors_wanted
    return Figure(executors_text(cluster), "warn" if missing else "")


def _answer_figures(
    cluster: str, scaler: str, answer: ScalerAnswer | None, *, followed: bool
) -> Figures:
    base = f"answer/{scaler}"
    tag = Figure("followed" if followed else "")
    if answer is None:
        empty = dict.fromkeys(("answer", "load", "latency"), Figure(text.NOTHING))
        cells = {**empty, "why": Figure("Not asked yet."), "rule": Figure("")}
    else:
        decision = answer.decision
        cells = {
            "answer": Figure(answer_text(decision), _answer_state(decision)),
            "why": Figure(decision.reason.text),
            "rule": Figure(rule_text(decision.reason)),
            **_prediction(cluster, decision),
        }
    return {f"{base}/followed": tag} | {f"{base}/{key}": cell for key, cell in cells.items()}


def rule_text(reason: Reason) -> str:
    """The inequality that fired, then its numbers.

    >>> rule_text(Reason(text="", rule="load > max_load", numbers={"load": 0.9}))
    'load > max load: load 90 %'
    """
    named = ", ".join(f"{n.name} {n.value}" for n in numbers(reason))
    return ": ".join(part for part in (reason.rule.replace("_", " "), named) if part)


def _prediction(cluster: str, decision: Scale | NoChange) -> Figures:
    if isinstance(decision, NoChange):
        return {"load": Figure(text.NOTHING), "latency": Figure(text.NOTHING)}
    load, latency = decision.prediction.load.get(cluster), decision.prediction.latency_s
    return {
        "load": Figure(text.load(load), load_state(load)),
        "latency": Figure(text.seconds(latency)),
    }


def _answer_state(decision: Scale | NoChange) -> State:
    if isinstance(decision, Scale):
        return "ok"
    return "bad" if decision.reason.grounds is Grounds.UNUSABLE else ""
