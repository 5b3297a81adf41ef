"""Who has to wait for whom."""

import asyncio
import threading

import pytest

from tests.support.loops import run
from weir.components.web.security import Person, Role, acting_as
from weir.components.web.security.workers import Workers
from weir.controllers.model.errors import Busy


async def _asked(workers: Workers, who: str, work):
    acting_as(Person(name=who, role=Role.VIEWER))
    return await workers(work)


def test_one_at_a_time_of_each_and_few_of_all():
    async def work():
        workers, go = Workers("simulation", 1, each=1, most=2), threading.Event()
        ada = asyncio.ensure_future(_asked(workers, "ada", go.wait))
        bob = asyncio.ensure_future(_asked(workers, "bob", go.wait))
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="Your last simulation"):
            await asyncio.ensure_future(_asked(workers, "ada", go.wait))
        with pytest.raises(Busy, match="Too many"):
            await asyncio.ensure_future(_asked(workers, "eve", go.wait))
        go.set()
        assert await asyncio.gather(ada, bob) == [True, True]
        assert await asyncio.ensure_future(_asked(workers, "ada", go.wait))
        workers.close()

    run(work())


def test_work_that_nobody_waits_for_any_more_still_counts():
    async def work():
        workers, go, begun = Workers("simulation", 1, each=1), threading.Event(), threading.Event()
        ada = asyncio.ensure_future(_asked(workers, "ada", lambda: (begun.set(), go.wait())))
        await asyncio.to_thread(begun.wait)
        ada.cancel()
        with pytest.raises(Busy):
            await asyncio.ensure_future(_asked(workers, "ada", go.wait))
        go.set()
        workers.close()

    run(work())
