"""Telling others: each piece of news once to the log, and to a webhook if one is set.

The POST is made by a thread of its own with a short timeout: an address that does not
answer costs the engine nothing. What cannot be delivered is dropped and logged.
"""

import contextlib
import logging
import queue
import threading
import urllib.request
from collections import OrderedDict
from typing import Any

import msgspec

from weir.controllers.engine.apply.effects import News

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
REMEMBERED = 1000


class Notifier:
    """Takes news and passes them on, the same news only once."""

    def __init__(self) -> None:
        self.url = ""
        self._told: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._waiting: queue.Queue[tuple[str, bytes] | None] = queue.Queue(maxsize=REMEMBERED)
        self._thread: threading.Thread | None = None

    def tell(self, news: News) -> None:
        """Log it, and hand it to the webhook."""
        key = (news.event, news.subject, news.text)
        if key in self._told:
            return
        self._told[key] = None
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        log.info("%s %s: %s", news.event, news.subject, news.text)
        if not self.url:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._post_all, name="weir-news", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait((self.url, msgspec.json.encode(news)))
        except queue.Full:
            log.warning("the webhook is too slow: %s was not delivered", news.event)

    def close(self, timeout_s: float = 2 * TIMEOUT_S) -> None:
        """Deliver what is waiting, within `timeout_s`."""
        if self._thread is not None:
            with contextlib.suppress(queue.Full):  # more is waiting than could be delivered in time
                self._waiting.put_nowait(None)
            self._thread.join(timeout_s)

    def _post_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            try:
                _post(*item)
            except Exception as error:  # whatever it is, the next piece of news is told again
                # The address may hold a key: it is not named.
                log.warning("the webhook was not told: %s", type(error).__name__)


def _post(url: str, body: bytes) -> None:
    request = urllib.request.Request(
        url, data=body, headers={"Content-Type": "application/json"}, method="POST"
    )
    with _OPENER.open(request, timeout=TIMEOUT_S):
        pass


class _Stay(urllib.request.HTTPRedirectHandler):
    """Goes where it was told and nowhere else: an answer must not lead into a private network."""

    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        """None makes the answer an error."""
        return


_OPENER = urllib.request.build_opener(_Stay)
