"""What would have been recommended at a moment, next to what was done."""

from msgspec import Struct

from weir.components.live.commands import CommandRow, rows
from weir.components.pages.balance.view import plan_rows, state
from weir.components.pages.replay.view import with_outlook, with_scaling, within, world_at
from weir.components.pages.settings.then import SettingsShown, settings_then
from weir.components.ui import text
from weir.controllers.model.decision import Scale
from weir.metrics.runs.replay import RecordedRun

CLUSTERS_MOST = 6
DONE_WITHIN_S = 120.0


class AdvisedAnswer(Struct, frozen=True, kw_only=True):
    """One answer."""

    who: str
    followed: bool  # by the settings of then
    answer: str
    why: str
    acts: bool
    agree: tuple[str, ...] = ()  # who else says so


class Answers(Struct, frozen=True, kw_only=True):
    """Everybody's answer to one question."""

    about: str  # "Balance", or a cluster
    asked: str  # who answers: "Planner" or "Scaler"
    now: str  # how it stands
    answers: tuple[AdvisedAnswer, ...]


class Advice(Struct, frozen=True, kw_only=True):
    """All of it at one moment."""

    at: float
    settings: SettingsShown
    asked: tuple[Answers, ...]
    done: tuple[CommandRow, ...]  # shortly before or after


def advice(run: RecordedRun, at: float, target_latency_s: float) -> Advice:
    """Every planner's and every scaler's answer, and what was really done around then."""
    at = within(run, at)
    world = with_outlook(world_at(run, at, target_latency_s))
    clusters = world.snapshot.clusters[:CLUSTERS_MOST]
    world = with_scaling(world, run, [c.name for c in clusters])
    asked = []
    if state(world) == "ready" and world.outlook is not None:
        asked.append(
            Answers(
                about="Balance",
                asked="Planner",
                now=f"load distance {world.outlook.proposals[0].plan.before.load_distance:.1f} points",
                answers=tuple(
                    AdvisedAnswer(
                        who=row.label,
                        followed=row.followed,
                        answer=row.moves,
                        why=row.words,
                        acts=row.moves_any,
                        agree=tuple(label for _, label in row.agree),
                    )
                    for row in plan_rows(world)
                ),
            )
        )
    for cluster in clusters:
        found = world.scale_outlooks.get(cluster.name)
        if found is None:
            continue
        asked.append(
            Answers(
                about=cluster.name,
                asked="Scaler",
                now=f"{text.plural(cluster.executors, 'executor')}, "
                f"load {text.load(world.snapshot.load(cluster.name))}",
                answers=tuple(
                    AdvisedAnswer(
                        who=a.title,
                        followed=a.chosen,
                        answer=_words(a.decision) if isinstance(a.decision, Scale) else "no change",
                        why=a.decision.reason.text,
                        acts=isinstance(a.decision, Scale),
                    )
                    for a in found.answers
                ),
            )
        )
    later = world_at(run, within(run, at + DONE_WITHIN_S), target_latency_s)
    done = [r for r in rows(later, limit=30) if abs(r.at - at) <= DONE_WITHIN_S]
    return Advice(
        at=at,
        settings=settings_then(run.settings.then(at), [c.name for c in clusters]),
        asked=tuple(asked),
        done=tuple(done),
    )


def _words(decision: Scale) -> str:
    return f"{decision.before} → {text.plural(decision.executors, 'executor')}"
