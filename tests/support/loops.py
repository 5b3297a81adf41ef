"""Running coroutines in tests."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """`asyncio.run` in a thread of its own: a browser of other tests may occupy this one's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, asyncio.run, work).result()
