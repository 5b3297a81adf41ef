"""Threads of their own for one kind of work, so that no other kind can keep it waiting.

Who is signed in must be known, and Redis be read, however many simulations somebody asks for:
each of these has its own threads. Where the work is long, nobody may have more than `each` of it
at a time and no more than `most` is taken; what goes beyond is refused at once, with 429.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

from weir.components.web.security.person import current_user
from weir.controllers.model.errors import Busy

P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool of threads; `await workers(function, ...)` runs one thing in it."""

    def __init__(
        self, name: str, threads: int, *, each: int | None = None, most: int | None = None
    ) -> None:
        self._name = name
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._each = each
        self._most = most
        self._taken: Counter[str] = Counter()  # by person, waiting or being done
        self._lock = threading.Lock()

    async def __call__(self, function: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """What the function returns or raises; Busy if there is too much of it already."""
        person = current_user().name
        self._take(person)
        # The place is free when the work has ended, not when somebody stops waiting for it.
        context = copy_context()
        future: Future[T] = self._pool.submit(lambda: context.run(function, *args, **more))
        future.add_done_callback(lambda _: self._leave(person))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Stop taking requests; those that wait are dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _take(self, person: str) -> None:
        with self._lock:
            if self._each is not None and self._taken[person] >= self._each:
                raise Busy(f"Your last {self._name} still runs; this one has to wait for it.")
            if self._most is not None and self._taken.total() >= self._most:
                raise Busy(f"Too many wait for a {self._name} already; try again in a minute.")
            self._taken[person] += 1

    def _leave(self, person: str) -> None:
        with self._lock:
            self._taken[person] -= 1
            if self._taken[person] <= 0:
                del self._taken[person]
