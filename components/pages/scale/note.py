"""How the engine fares with a cluster's size, in words, with the reason of the last decision."""

from msgspec import Struct
from msgspec.structs import replace

from weir.components.live.recommendation_words import MEANINGS
from weir.components.live.world import World
from weir.components.pages.scale.view import (
    ReasonNumber,
    answer_text,
    numbers,
    old,
    outlook_of,
    settings_of,
    title_of,
)
from weir.components.ui.figure import State
from weir.components.ui.path import recommendation_path
from weir.controllers.engine.recommendation import ENGINE, Recommendation
from weir.controllers.model.decision import Scale


class ScalerNote(Struct, frozen=True, kw_only=True):
    """How the engine fares here, and what the scaler that it follows says and why."""

    state: State
    text: str
    since: float | None = None  # shown as a growing age behind the text
    scaler: str = ""
    answer: str = ""
    why: str = ""
    rule: str = ""
    numbers: tuple[ReasonNumber, ...] = ()
    message: str = ""  # of the cluster, e.g. that an executor is overdue
    last: "Last | None" = None


class Last(Struct, frozen=True, kw_only=True):
    """The last time that something was to be done about the executors of a cluster."""

    at: float
    title: str
    status: str
    by: str
    why: str
    rule: str
    numbers: tuple[ReasonNumber, ...]
    href: str


def last_decision(world: World, cluster: str) -> Last | None:
    """The newest recommendation to scale this cluster: who, what, why, what became of it."""
    for found in world.control.known:
        decision = found.decision
        if isinstance(decision, Scale) and decision.cluster == cluster:
            return Last(
                at=found.at,
                title=answer_text(decision),
                status=f"{found.status.value}: it {MEANINGS[found.status]}",
                by=_requester(found),
                why=decision.reason.text,
                rule=decision.reason.rule,
                numbers=numbers(decision.reason),
                href=recommendation_path(found.id),
            )
    return None


def _requester(found: Recommendation) -> str:
    """Whose idea it was: a scaler's, or a person's."""
    if found.by == ENGINE:
        return f"by {title_of(found.source)}"
    return f"{found.source}, asked for by {found.by}"


def note(world: World, cluster: str) -> ScalerNote:
    """Silent, holding back or ready; and the reason of the answer that counts."""
    return replace(_note(world, cluster), last=last_decision(world, cluster))


def _note(world: World, cluster: str) -> ScalerNote:
    view, found = outlook_of(world, cluster), world.snapshot.cluster(cluster)
    message = found.message if found else ""
    if view is None:
        return ScalerNote(
            state="warn",
            text=f"The engine has not asked the scalers about {cluster} yet; "
            "once it runs, it does so every few seconds.",
            message=message,
        )
    if old(world, cluster):
        return ScalerNote(
            state="bad",
            text="The engine is not at work: the answers below are old, and nothing is done "
            "about them. It last asked the scalers",
            since=view.at,
            message=message,
        )
    followed = settings_of(world, cluster).scaler
    answer = view.answer(followed)
    waits, no_agent = view.wait, found is not None and not found.can_scale
    state: State = "warn" if waits or no_agent or message else "ok"
    said = f"The engine follows {title_of(followed)}."
    if no_agent:
        said += f" {cluster} has no agent that could carry it out: recommendations only."
    elif waits and answer is not None and waits == answer.decision.reason.text:
        state, said = ("warn" if message else "ok"), f"{said} It asks for no change."
    elif waits:
        said += f" It holds back: {waits.rstrip('.')}."
    if answer is None:
        return ScalerNote(
            state=state, text=said, scaler=title_of(followed), answer="", message=message
        )
    reason = answer.decision.reason
    return ScalerNote(
        state=state,
        text=said,
        scaler=answer.title,
        answer=answer_text(answer.decision),
        why=reason.text,
        rule=reason.rule,
        numbers=numbers(reason),
        message=message,
    )
