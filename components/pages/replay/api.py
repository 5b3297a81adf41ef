"""What the replay asks the server for while it plays: a timeline once, then moments."""

import json
from typing import Any

from fastapi import FastAPI
from msgspec import to_builtins
from plotly.utils import PlotlyJSONEncoder
from starlette.responses import Response

from weir.components.live.recommendation_words import source_title
from weir.components.pages.base import Registry
from weir.components.pages.replay import child as replay_child
from weir.components.pages.replay.library import ANSWER_S, Library
from weir.components.pages.replay.moments import moment
from weir.components.pages.replay.render_advice import advice_card
from weir.components.pages.replay.view import PastPage
from weir.components.pages.settings.view import group_words
from weir.components.web.security import Role, require
from weir.metrics.runs.timeline import Mark, RunTimeline


def register(server: FastAPI, pages: Registry, library: Library, target_latency_s: float) -> None:
    """Routes that only read."""

    @server.get("/api/replay/{run}/timeline")
    @require(Role.VIEWER)
    async def timeline(run: str) -> Response:
        """The run at a glance: one series, marks, clusters and bounds."""
        found = await library.reading(library.timeline, run)
        return _json({**to_builtins(found), "marks": _marks(found), "run": run,
                      "name": library.run(run).info.name, "kind": library.run(run).info.kind})  # fmt: skip

    @server.get("/api/replay/{run}/moment")
    @require(Role.VIEWER)
    async def moment_(
        run: str,
        path: str = "/",
        at: float = 0.0,
        have: int = 0,
        page: str = "",
        soon: bool = False,
    ) -> Response:
        """What changes on a page when it goes to `at` (ms); `soon`: the series first."""
        past = PastPage(run, path)
        args = (pages, library, past, at / 1000, have, page, target_latency_s, soon)
        return _json(await library.reading(moment, *args))

    @server.get("/api/replay/{run}/advice")
    @require(Role.VIEWER)
    async def advice_(run: str, at: float = 0.0) -> Response:
        """What every planner and scaler would have recommended at `at` (ms)."""
        found = await library.reading(
            library.ask, library.helper, ANSWER_S, replay_child.advice_of,
            run, at / 1000, target_latency_s,
        )  # fmt: skip
        return _json({"at": at, "children": advice_card(found)})


def _marks(found: RunTimeline) -> list[dict[str, Any]]:
    return [{"at": round(m.at * 1000), "kind": m.kind, "text": mark_words(m)} for m in found.marks]


def mark_words(mark: Mark) -> str:
    """A mark with the names that people know.

    >>> mark_words(Mark(at=1.0, kind="settings", text="scale:wide: max executors 3 → 4"))
    'Scaling of wide: max executors 3 → 4'
    >>> mark_words(Mark(at=1.0, kind="recommendation", text="milp: top_n to wide"))
    'Optimiser: top_n to wide'
    """
    name, colon, rest = mark.text.partition(": ")
    if mark.kind == "settings":
        name = group_words(name)
    elif mark.kind == "recommendation":
        name = source_title(name)
    return f"{name}{colon}{rest}"


def _json(data: object) -> Response:
    """JSON with components in it."""
    text = json.dumps(data, cls=PlotlyJSONEncoder, separators=(",", ":"))
    return Response(text, media_type="application/json", headers={"cache-control": "no-store"})
