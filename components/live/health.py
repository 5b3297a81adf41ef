"""Which parts are up, in a word each.

up        it gave a sign of life lately
starting  it says so itself
silent    no sign of life for longer than it should take
down      it said good-bye; of Redis: it does not answer
unseen    it has never reported
unknown   Redis, where it would report, does not answer
amiss     values in Redis cannot be read, or a process met what nobody expected
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from weir.components.live.world import World, stale
from weir.components.ui.text import plural
from weir.controllers.engine.ports import Part
from weir.controllers.engine.skipped import Skipped, merge_skips, skip_words
from weir.controllers.model.age import age_s
from weir.controllers.model.snapshot import stale_after_s
from weir.controllers.model.words import by_number

MANY = 12
"""Of a kind with more parts than these, the header does not name those that are well."""
NAMED = 3
"""Of a kind with more than `MANY` that are not well, these are named and the others counted."""
SILENT_AFTER_S = 6.0
"""Every part beats each one or two seconds; a missing third beat is worth a word."""

State = Literal["up", "starting", "silent", "down", "unseen", "unknown", "amiss"]
_ORDER = {"redis": 0, "engine": 1, "host": 2, "agent": 3, "generator": 4, "web": 5}
_TITLES = {"engine": "Engine", "host": "Host", "agent": "Job", "generator": "Generator"}


class PartHealth(Struct, frozen=True, kw_only=True):
    """One part as it is shown."""

    id: str
    kind: str
    title: str
    state: State
    at: float | None = None  # last sign of life; None: nothing to count from
    detail: str = ""


def part_state(part: Part, at: float) -> State:
    """What a part's last sign of life says now.

    >>> part_state(Part(id="engine", kind="engine", name="engine", at=10.0), at=24.0)
    'silent'
    """
    if part.status == "stopped":
        return "down"
    if age_s(part.at, at) > SILENT_AFTER_S:
        return "silent"
    return "starting" if part.status == "starting" else "up"


def health(world: World) -> list[PartHealth]:
    """Every part, Redis first; web workers together in one entry."""
    parts = [_redis(world), *_reader(world), *_amiss(world)]
    if world.redis_down_since is not None or not world.ready:
        return parts + [replace(p, state="unknown", at=None) for p in _others(world)]
    return parts + _others(world)


def together(parts: Sequence[PartHealth]) -> list[PartHealth]:
    """As the header shows them: of a kind with many parts, those that are up in one entry."""
    found: list[PartHealth] = []
    for kind, group in groupby(parts, key=lambda p: p.kind):
        these = list(group)
        up = [p for p in these if p.state == "up"]
        if len(these) > MANY and len(up) > 1:
            title = plural(len(up), _TITLES.get(kind, kind).lower())
            found.append(PartHealth(id=kind, kind=kind, title=title, state="up"))
            these = [p for p in these if p.state != "up"]
        shown = these if len(these) <= MANY else these[:NAMED]
        found += shown
        if len(these) > len(shown):
            more = f"{len(these) - len(shown)} more not up"
            found.append(PartHealth(id=f"{kind}-more", kind=kind, title=more, state="silent"))
    return found


def overall(world: World) -> Literal["ok", "degraded"]:
    """Whether everything that has ever reported is up and its data is fresh."""
    if world.redis_down_since is not None or not world.ready:
        return "degraded"
    if any(p.state in ("silent", "down", "unseen", "amiss") for p in health(world)):
        return "degraded"
    if any(cluster.cut for cluster in world.snapshot.clusters):
        return "degraded"
    return "degraded" if any(stale(world, name) for name in world.series) else "ok"


def health_json(world: World) -> dict[str, object]:
    """The answer of `GET /health`."""
    clusters = {}
    for name, samples in world.series.items():
        old_s = age_s(samples[-1].at, world.at)
        clusters[name] = {
            "data_age_s": round(old_s, 3),
            "stale": old_s > stale_after_s(samples[-1].period_s),
            "period_s": samples[-1].period_s,
            "left_out": samples[-1].cluster.cut,
        }
    return {
        "status": overall(world),
        "at": world.at,
        "redis": {
            "up": world.ready and world.redis_down_since is None,
            "address": world.redis_address,
            "down_since": world.redis_down_since,
        },
        "reader": {
            "up": world.reader_down_since is None,
            "down_since": world.reader_down_since,
        },
        # Names may be anybody's: they are for those who have signed in.
        "skipped": [
            {"kind": s.kind, "count": s.count, "since": s.since} for s in skipped_values(world)
        ],
        "engine": next((p.state for p in health(world) if p.kind == "engine"), "unknown"),
        "parts": [
            {
                "id": part.id,
                "kind": part.kind,
                "name": part.name,
                "state": part_state(part, world.at),
                "age_s": round(age_s(part.at, world.at), 3),
                "detail": part.detail,
            }
            for part in world.parts
        ],
        "clusters": clusters,
    }


def health_of_strangers(world: World) -> dict[str, object]:
    """The same without a name, an address or a word that anybody wrote: how much is well."""
    told = health_json(world)
    states = Counter(part_state(part, world.at) for part in world.parts)
    ages = [age_s(samples[-1].at, world.at) for samples in world.series.values()]
    return {
        "status": told["status"],
        "at": told["at"],
        "redis": {"up": world.ready and world.redis_down_since is None},
        "reader": told["reader"],
        "engine": told["engine"],
        "skipped": told["skipped"],
        "parts": dict(states),
        "clusters": len(ages),
        "oldest_data_s": round(max(ages), 3) if ages else None,
    }


def skipped_values(world: World) -> list[Skipped]:
    """What this worker and all parts could not read, by kind; several meet the same values."""
    return merge_skips([world.skipped, *(p.skipped for p in world.parts if _live(p, world.at))])


def _live(part: Part, at: float) -> bool:
    return part_state(part, at) in ("up", "starting")


def _amiss(world: World) -> list[PartHealth]:
    found = skipped_values(world)
    if not found:
        return []
    return [
        PartHealth(
            id="skipped",
            kind="skipped",
            title=plural(sum(s.count for s in found), "value") + " skipped",
            state="amiss",
            at=min(s.since for s in found),
            detail="; ".join(skip_words(s) for s in found),
        )
    ]


def _reader(world: World) -> list[PartHealth]:
    if world.reader_down_since is None:
        return []
    detail = "This worker does not read Redis any more; its log says why."
    return [
        PartHealth(id="reader", kind="reader", title="Reader", state="down",
                   at=world.reader_down_since, detail=detail)
    ]  # fmt: skip


def _redis(world: World) -> PartHealth:
    down = world.redis_down_since is not None or not world.ready
    return PartHealth(
        id="redis",
        kind="redis",
        title="Redis",
        state="down" if down else "up",
        at=world.redis_down_since,
        detail=world.redis_address,
    )


def _others(world: World) -> list[PartHealth]:
    single = [p for p in world.parts if p.kind not in ("web", "redis")]
    single.sort(key=lambda p: (_ORDER.get(p.kind, 9), by_number(p.name)))
    found = [
        PartHealth(
            id=part.id,
            kind=part.kind,
            title=_title(part),
            state=part_state(part, world.at),
            at=part.at,
            detail=part.detail,
        )
        for part in single
    ]
    if not any(p.kind == "engine" for p in found) and world.parts:
        found.insert(0, PartHealth(id="engine", kind="engine", title="Engine", state="unseen",
                                   detail="It has not reported yet."))  # fmt: skip
    web = [p for p in world.parts if p.kind == "web"]
    return [*found, _web(web, world.at)] if web else found


def _title(part: Part) -> str:
    title = _TITLES.get(part.kind, part.kind.capitalize())
    return title if part.name.lower() in ("", part.kind) else f"{title} {part.name}"


def _web(workers: Sequence[Part], at: float) -> PartHealth:
    up = [p for p in workers if part_state(p, at) == "up"]
    silent = [p for p in workers if part_state(p, at) == "silent"]
    detail = f"{plural(len(up), 'worker')} up"
    if silent:
        detail += f", {plural(len(silent), 'worker')} silent"
    return PartHealth(
        id="web",
        kind="web",
        title="Web",
        state="silent" if silent else "up",
        at=max((p.at for p in silent), default=None),
        detail=detail,
    )
