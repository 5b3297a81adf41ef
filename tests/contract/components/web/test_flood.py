"""Much of one thing at once keeps nobody from another."""

import asyncio
from collections import Counter

import httpx

from tests.support.inside import ORIGIN, Inside
from weir.components.pages.what_if import ids
from weir.components.web.security import Role
from weir.components.web.security.limits import CALLBACK_PATH

ASKED = 150


def test_a_viewers_what_ifs_keep_nobody_from_signing_in(inside: Inside) -> None:
    """They wait for a process that takes seconds to begin; a session is checked meanwhile."""
    viewer, _ = inside.session(Role.VIEWER)
    admin, _ = inside.session(Role.ADMIN)
    output = next(o for o in inside.callbacks if ids.WI_RESULT in o)
    body = inside.callback(output, 1)

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
