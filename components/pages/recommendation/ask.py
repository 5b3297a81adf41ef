"""What the dialog says before something is decided: exactly what will happen."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from weir.components.live import recommendation_rows
from weir.components.live import recommendation_words as words
from weir.components.live.commands import scale_text
from weir.components.live.world import World, stale
from weir.components.pages.control_room.modes import (
    AUTOMATIC,
    LABELS,
    MEANINGS,
    record,
    record_words,
    step_up,
)
from weir.components.ui import text
from weir.components.ui.text import plural
from weir.controllers.engine.guard.guards import HARD, POLICY, TIMING
from weir.controllers.engine.propose.make import undoing_decision
from weir.controllers.engine.recommendation import Recommendation, Status, hash_of
from weir.controllers.model.decision import Change, Reslice, Scale
from weir.controllers.model.errors import InvalidInput, NotFound, Refused
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import Mode
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.words import by_number
from weir.controllers.placement.words import hand_overs


class DecisionDialog(Struct, frozen=True, kw_only=True):
    """A question with all that is needed to answer it."""

    title: str
    lines: tuple[str, ...]  # what will happen
    confirm: str
    subject: str = ""  # title of the recommendation that it is about
    rows: tuple[recommendation_rows.FigureRow, ...] = ()
    warning: str = ""
    comment: str = "Comment"
    comment_required: bool = False
    danger: bool = False
    modes: tuple[tuple[str, str, str], ...] = ()  # value, label, meaning
    mode: str = ""  # the present one
    mode_words: str = ""  # what to keep it means
    record: str = ""
    pending: dict[str, Any] = {}  # what the confirming click sends


def decision(
    world: World,
    verb: words.Verb,
    recommendation_id: str,
    plan_hash: str,
    placements: Mapping[str, Placement] | None = None,
    slicings: Mapping[str, Slicing] | None = None,
) -> DecisionDialog:
    """Approve, reject, cancel or roll back one recommendation, as it was shown."""
    found = world.control.recommendation(recommendation_id)
    if found is None:
        raise NotFound(f"There is no recommendation {recommendation_id} any more.")
    match verb:
        case "approve":
            lines = _approve(world, found)
        case "reject":
            again_s = world.control.settings.reconsider_s
            lines = [
                f"Nothing is done. The same plan is not proposed again for {text.seconds(again_s)}."
            ]
        case "cancel":
            lines = ["It is cancelled before it begins; nothing is done."]
        case "rollback":
            back = undoing_decision(found, world.snapshot, placements or {}, "", slicings or {})
            if back is None:
                raise Refused("There is nothing left of it to undo.")
            # What is confirmed is the undoing, exactly as it is shown here.
            lines, plan_hash = _rollback(world, back), hash_of(back)
    return DecisionDialog(
        title={"rollback": "Roll back?"}.get(verb, f"{verb.capitalize()}?"),
        subject=words.title_of(found),
        lines=tuple(lines),
        rows=recommendation_rows.promised_rows(found) if verb == "approve" else (),
        warning=_silent(world, found) if verb in ("approve", "rollback") else "",
        comment_required=world.control.settings.comment_required,
        confirm={"rollback": "Roll back", "cancel": "Take it back"}.get(verb, verb.capitalize()),
        danger=verb in ("reject", "cancel"),
        pending={"verb": verb, "id": recommendation_id, "hash": plan_hash},
    )


def happens(world: World, decided: Change) -> list[str]:
    """What carrying it out means, step by step."""
    if isinstance(decided, Scale):
        cluster = world.snapshot.cluster(decided.cluster)
        cores = cluster.cores_per_executor if cluster else 1
        return [scale_text(decided.before, decided.executors, cores, decided.cluster)]
    if isinstance(decided, Reslice):
        return reslice_happens(decided)
    return [
        f"{m.operator} ends its present batch on {m.source}, commits it and goes on from its "
        f"checkpoint on {m.target}. Rows wait meanwhile; nothing is lost or counted twice."
        for m in decided.moves
    ]


def reslice_happens(decided: Reslice) -> list[str]:
    """What a re-slice does to the slices that it changes, and what it should cost."""
    said = decided.prediction
    changed = sorted({name for pair in hand_overs(decided) for name in pair}, key=by_number)
    lines = [
        f"{', '.join(changed)} end their present batch and commit it; their state is handed to "
        "the new owners, which go on from there. Nothing is lost or counted twice, and should a "
        "step fail, the old owners go on.",
    ]
    costs = []
    if said.moved_share is not None:
        costs.append(f"{text.share(said.moved_share)} of the keys change their owner")
    if said.pause_s is not None:
        costs.append(f"these slices pause for about {text.seconds(said.pause_s)}")
    if costs:
        sentence = "; ".join(costs)
        lines.append(f"{sentence[0].upper()}{sentence[1:]}.")
    return lines


def mode_change(world: World, cluster: str) -> DecisionDialog:
    """Choose how much the engine may do on a cluster."""
    if world.snapshot.cluster(cluster) is None:
        raise NotFound(f"There is no cluster {cluster} any more.")
    present = world.control.mode(cluster)
    return DecisionDialog(
        title=f"Mode of {cluster}",
        lines=(),
        confirm="Set mode",
        modes=tuple((mode.value, LABELS[mode], MEANINGS[mode]) for mode in Mode),
        mode=present.value,
        mode_words=mode_words(world, cluster, present.value),
        record=record_words(record(world, cluster)),
        pending={"verb": "mode", "id": cluster},
    )


def mode_words(world: World, cluster: str, chosen: object) -> str:
    """What choosing a mode means, with what the record says about a step up."""
    try:
        mode = Mode(str(chosen))
    except ValueError:
        raise InvalidInput(f"There is no mode {chosen}.", field="mode") from None
    if mode is world.control.mode(cluster):
        return f"{cluster} is in this mode now; nothing would change."
    advice = step_up(mode, record(world, cluster))
    return f"{MEANINGS[mode]} {advice}".strip()


def pause_all(world: World) -> DecisionDialog:
    """Stop every automatic action at once."""
    flying = [r for r in world.control.recommendations if r.status is Status.APPLYING]
    lines = [
        "The engine does nothing by itself any more, on no cluster, until somebody resumes. "
        "This survives restarts.",
        "It goes on to watch and to propose; what a person approves is still carried out.",
    ]
    cut = [r for r in flying if r.mode and r.kind == "rebalance"]
    whole = len(flying) - len(cut)
    if whole:
        count = plural(whole, "action")
        lines.append(f"{count} under way {'is' if whole == 1 else 'are'} carried to the end.")
    if cut:
        lines.append(
            "Of an automatic rebalance, operators that have not begun to move stay where they are, "
            "and those that have moved go back: what is half done is undone also while paused."
        )
    return DecisionDialog(
        title="Pause everything?",
        lines=tuple(lines),
        confirm="Pause all",
        danger=True,
        pending={"verb": "pause", "id": ""},
    )


def resume_all(world: World) -> DecisionDialog:
    """Let the engine act again."""
    return DecisionDialog(
        title="Resume?",
        lines=(
            f"The engine acts by itself again where a cluster's mode says so: {_automatic(world)}.",
        ),
        confirm="Resume",
        pending={"verb": "resume", "id": ""},
    )


def _approve(world: World, found: Recommendation) -> list[str]:
    lines = happens(world, found.decision)
    shut = words.closed_guards(found.guards)
    hard = [g.reason for g in shut if g.name in HARD]
    timing = [g.reason for g in shut if g.name in TIMING]
    policy = [g.reason for g in shut if g.name in POLICY]
    if hard:
        lines.append(f"It cannot be done at present: {'; '.join(hard)}.")
    if timing:
        lines.append(f"It begins once it may: {'; '.join(timing)}.")
    if policy:
        lines.append(f"These hold back the engine, not you: {'; '.join(policy)}.")
    lines.append("If things have changed so much that the plan no longer holds, it is refused.")
    return lines


def _rollback(world: World, back: Change) -> list[str]:
    name = words.title(back)
    consent = (
        "Somebody else has to approve it (four eyes)."
        if world.control.settings.four_eyes
        else "This click also approves it."
    )
    return [
        f"It is undone by a recommendation of its own: {name[0].lower()}{name[1:]}. {consent}",
        *happens(world, back),
    ]


def _silent(world: World, found: Recommendation) -> str:
    silent = [c for c in found.clusters if stale(world, c)]
    return f"{', '.join(silent)} has sent no data lately." if silent else ""


def _automatic(world: World) -> str:
    names = [c.name for c in world.snapshot.clusters if world.control.mode(c.name) in AUTOMATIC]
    return ", ".join(names) or "at present none does"
