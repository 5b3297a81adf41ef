"""Import by upload: a log comes in parts, so that no part needs much memory."""

import asyncio

import msgspec
from fastapi import FastAPI, Request
from starlette.responses import Response

from weir.components.pages.replay.library import Library
from weir.components.web.security import Role, require
from weir.metrics.runs.upload import Jobs


def register(server: FastAPI, library: Library) -> None:
    """begin -> part ... part -> done; then `status` until it is read."""
    jobs = Jobs(library.root)

    @server.post("/api/import/begin")
    @require(Role.APPROVER)
    async def begin(name: str, size: int) -> Response:
        """A new upload of a file of this size."""
        return _json({"job": await asyncio.to_thread(jobs.begin, name, size)})

    @server.post("/api/import/part")
    @require(Role.APPROVER)
    async def part(request: Request, job: str, at: int) -> Response:
        """The bytes of the file from `at` on."""
        body = await request.body()
        return _json({"have": await asyncio.to_thread(jobs.add, job, at, body)})

    @server.post("/api/import/done")
    @require(Role.APPROVER)
    async def done(job: str) -> Response:
        """All parts are there: read the log."""
        await asyncio.to_thread(jobs.read, job)
        return _json({"job": job})

    @server.get("/api/import/status")
    @require(Role.VIEWER)
    async def status(job: str) -> Response:
        """How far the log is read, and what became of it."""
        return _json(await asyncio.to_thread(jobs.status, job))


def _json(data: object) -> Response:
    return Response(
        msgspec.json.encode(data),
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )
