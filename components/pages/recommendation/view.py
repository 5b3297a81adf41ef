"""Everything about one recommendation, for its page."""

from collections.abc import Sequence

from msgspec import Struct

from weir.components.live import recommendation_rows
from weir.components.live import recommendation_words as words
from weir.components.live.charts import Chart, cluster_charts
from weir.components.live.world import World
from weir.components.pages.control_room import inbox
from weir.components.ui import text
from weir.controllers.engine.recommendation import Entry, GuardState, Recommendation, Status

BEFORE_S = 180.0
AFTER_S = 300.0


class RelatedLink(Struct, frozen=True, kw_only=True):
    """Another recommendation that belongs to this one."""

    id: str
    text: str
    title: str


class Detail(Struct, frozen=True, kw_only=True):
    """The panel that is sent again when the recommendation changes."""

    id: str
    plan_hash: str
    status: Status
    meaning: str
    source: str
    comment: str
    at: float
    expires_at: float | None  # while it can expire
    applied_at: float | None
    clusters: tuple[str, ...]
    why: words.Why
    rows: tuple[recommendation_rows.FigureRow, ...]
    options: tuple[recommendation_rows.OptionRow, ...]
    error_share: float | None
    measured: bool
    verdict: str  # in words, where there is no row
    row: recommendation_rows.JudgedRow | None
    hint: str
    guards: tuple[GuardState, ...]
    way: inbox.UnderWay | None  # while it is carried out, and afterwards what was done
    history: tuple[Entry, ...]
    links: tuple[RelatedLink, ...]
    verbs: tuple[words.Verb, ...]


def detail(world: World, found: Recommendation) -> Detail:
    """All of it, in words."""
    begun = any(e.status is Status.APPLYING for e in found.history)
    way = inbox.under_way(world, found) if begun else None
    others = tuple(r for r in world.control.recommendations if r.id != found.id)
    return Detail(
        id=found.id,
        plan_hash=found.plan_hash,
        status=found.status,
        meaning=words.MEANINGS[found.status],
        source=words.source(found),
        comment=found.comment,
        at=found.at,
        expires_at=found.expires_at if found.status is Status.PROPOSED else None,
        applied_at=found.applied_at,
        clusters=found.clusters,
        why=words.why(found.decision.reason),
        rows=recommendation_rows.figure_rows(found),
        options=recommendation_rows.option_rows(found),
        error_share=found.error_share,
        measured=begun,
        verdict="" if found.judgement else found.verdict or _ended_why(found),
        row=recommendation_rows.judged_row(found),
        hint=inbox.hint(world, found) if found.status is Status.PROPOSED else "",
        guards=(*words.closed_guards(found.guards), *(g for g in found.guards if g.open)),
        way=way,
        history=found.history,
        links=tuple(_links(world, found, others)),
        verbs=tuple(inbox.verbs(world, found)),
    )


def _ended_why(found: Recommendation) -> str:
    """Why it came to nothing, as its last line says."""
    last = words.last_entry(found)
    if last is None or not found.status.final or found.status in words.DONE or not last.why:
        return ""
    return text.sentence(last.why)


def charts(world: World, found: Recommendation) -> list[Chart]:
    """The series of the clusters that it touches."""
    return [
        chart
        for cluster in found.clusters
        for chart in cluster_charts(cluster, world.target_latency_s)
    ]


def span(found: Recommendation) -> tuple[float, float]:
    """The time around it: some minutes before it was proposed to some after its last step."""
    last = max([found.at, *(e.at for e in found.history)])
    return found.at - BEFORE_S, last + AFTER_S


def _links(
    world: World, found: Recommendation, others: Sequence[Recommendation]
) -> list[RelatedLink]:
    links = []
    if found.rollback_of:
        origin = world.control.recommendation(found.rollback_of)
        title = words.title_of(origin) if origin else f"recommendation {found.rollback_of}"
        links.append(RelatedLink(id=found.rollback_of, text="It undoes", title=title))
    for other in others:
        if other.rollback_of == found.id:
            links.append(RelatedLink(id=other.id, text="Undone by", title=words.title_of(other)))
    newer = inbox.successor(world, found)
    if newer is not None:
        links.append(
            RelatedLink(id=newer.id, text="Proposed now instead", title=words.title_of(newer))
        )
    return links
