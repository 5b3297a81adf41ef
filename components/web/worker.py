"""gunicorn's worker for ASGI, which also ends connections that never say what they want.

gunicorn imports this file before it forks, and with it all of the web side: once for all
workers, who share that memory. What is opened and started comes after, in each worker.
"""

import asyncio
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol  # type: ignore[import-untyped]
from gunicorn.workers import gasgi  # type: ignore[import-untyped]

import weir.components.web.app  # noqa: F401

HEADERS_S = 15.0
"""How long the headers of a connection's first request may take; later ones have `keepalive`."""


class PromptProtocol(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait. The timer is the one that gunicorn cancels when headers are there."""
        super().connection_made(transport)
        if self._keepalive_handle is None:
            self._keepalive_handle: asyncio.TimerHandle | None = self.worker.loop.call_later(
                HEADERS_S, self._keepalive_timeout
            )


class Worker(gasgi.ASGIWorker):  # type: ignore[misc]
    """The same with our protocol."""

    def init_process(self) -> Any:
        """gunicorn names its protocol in its module only."""
        gasgi.ASGIProtocol = PromptProtocol
        return super().init_process()
