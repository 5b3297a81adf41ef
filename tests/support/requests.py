"""Requests to a web server under test, by somebody who is signed in."""

from typing import Any

import httpx


class Requests:
    """What a system answers; who inherits it signs `_client` in."""

    _client: httpx.Client

    def ask(self, path: str) -> httpx.Response:
        """The answer, whatever its status; OSError if none came."""
        try:
            return self._client.get(path)
        except httpx.TransportError as error:
            raise OSError(str(error)) from None

    def health(self) -> dict[str, Any]:
        """What /health says, also when it says 503."""
        found: dict[str, Any] = self.ask("/health").json()
        return found
