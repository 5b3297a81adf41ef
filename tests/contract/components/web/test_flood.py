"""Much of one thing at once keeps nobody from another."""

import asyncio
import multiprocessing
from collections import Counter
from pathlib import Path

import httpx

from tests.support.inside import ORIGIN, Inside
from weir.components.pages.what_if import ids
from weir.components.web.security import Role
from weir.components.web.security.limits import CALLBACK_PATH

ASKED = 150


def _what_if(inside: Inside) -> str:
    return next(o for o in inside.callbacks if ids.WI_RESULT in o)


def test_a_run_that_is_not_there_begins_no_process(inside: Inside) -> None:
    """It took eleven seconds to say so: the process for advice was started first."""
    for path in ("/api/replay/%00/advice", "/api/replay/none/advice"):
        assert inside.ask("GET", path, headers=inside.bearer(Role.VIEWER)).status_code == 404
    body = inside.callback(_what_if(inside), 7)
    headers, _ = inside.session(Role.VIEWER)
    said = inside.ask("POST", CALLBACK_PATH, headers=headers, json=body)
    assert "There is no run 7." in said.text
    assert not multiprocessing.active_children()


def test_a_viewers_what_ifs_keep_nobody_from_signing_in(inside: Inside) -> None:
    """They wait for a process that takes seconds to begin; a session is checked meanwhile."""
    run = Path(inside.settings.users).parent / "runs" / "1"
    run.mkdir(parents=True)
    (run / "meta.json").write_text("{}")  # of which the process finds that it cannot be read
    viewer, _ = inside.session(Role.VIEWER)
    admin, _ = inside.session(Role.ADMIN)
    body = inside.callback(_what_if(inside), 1)

    async def flood() -> tuple[list[httpx.Response], int, int]:
        transport = httpx.ASGITransport(inside.app, client=("10.1.1.2", 1))
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, timeout=120) as client:
            asked = [
                asyncio.ensure_future(client.post(CALLBACK_PATH, headers=viewer, json=body))
                for _ in range(ASKED)
            ]
            await asyncio.sleep(0)
            session = await client.get("/session", headers=admin)
            still = sum(not a.done() for a in asked)
            answers = await asyncio.gather(*asked)
            return answers, session.status_code, still

    found, session, still = inside.run(flood())
    assert session == 200
    assert still >= 1, "the session was checked only after the simulations"
    assert Counter(a.status_code for a in found) == {200: 1, 429: ASKED - 1}
    refused = next(a for a in found if a.status_code == 429)
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["error"].startswith("Your last simulation still runs")
