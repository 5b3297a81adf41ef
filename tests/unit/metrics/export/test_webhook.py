"""Telling others: each happening once, whatever becomes of the address."""

import threading
from collections.abc import Iterator
from http.client import InvalidURL

import pytest
from msgspec.structs import replace

from tests.support.waiting import wait_until
from weir.controllers.engine.apply.effects import News
from weir.controllers.engine.guard.rules import EngineSettings
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build
from weir.metrics.export import webhook as notify
from weir.metrics.export.webhook import Notifier

NEWS = News(
    at=1.0, event="mode.backed_off", subject="a", clusters=("a",), text="a: mode approve from now on"
)  # fmt: skip


@pytest.fixture
def notifier() -> Iterator[Notifier]:
    found = Notifier()
    found.url = "http://127.0.0.1/hook"
    yield found
    found.close()


def test_the_thread_outlives_every_address(
    notifier: Notifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bytes] = []
    real = notify._post
    monkeypatch.setattr(
        notify,
        "_post",
        lambda url, body: real(url, body) if "80a" in url else told.append(body),
    )
    notifier.url = "http://127.0.0.1:80a/x"
    with pytest.raises(InvalidURL):  # which is neither an OSError nor a ValueError of urllib
        real(notifier.url, b"")
    notifier.tell(NEWS)
    notifier.url = "http://127.0.0.1/hook"
    notifier.tell(replace(NEWS, subject="b"))
    notifier.close()
    assert len(told) == 1


def test_the_same_is_told_once_and_what_happens_later_again(
    notifier: Notifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bytes] = []
    monkeypatch.setattr(notify, "_post", lambda url, body: told.append(body))
    notifier.tell(NEWS)
    notifier.tell(replace(NEWS, at=2.0))
    notifier.tell(replace(NEWS, at=900.0, text="a: mode approve from now on. r2 was ineffective"))
    notifier.close()
    assert len(told) == 2


def test_closing_does_not_wait_for_a_full_queue(
    notifier: Notifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging, hangs, ended = threading.Event(), threading.Event(), threading.Event()

    def post(url: str, body: bytes) -> None:
        hanging.set()
        hangs.wait()
        ended.set()

    monkeypatch.setattr(notify, "_post", post)
    for i in range(notify.REMEMBERED + 5):
        notifier.tell(replace(NEWS, subject=str(i)))
    assert hanging.wait(120.0)
    notifier.close(timeout_s=0.1)
    assert not ended.is_set(), "it has waited"
    hangs.set()
    wait_until(notifier._waiting.empty, 5, "all is delivered")


@pytest.mark.parametrize(
    "url", ["ftp://hook", "http://", "http://127.0.0.1:80a/x", "http://h:70000", "http://h/a b"]
)
def test_an_address_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="webhook_url must") as refused:
        build(EngineSettings, {"webhook_url": url})
    assert url not in str(refused.value)  # it may hold a key


def test_an_address_that_can_is_kept() -> None:
    for url in (
        "",
        "http://127.0.0.1:8080/key?x=1",
        "https://hooks.example/T0/B1",
        "http://[::1]:9",
    ):
        assert build(EngineSettings, {"webhook_url": url}).webhook_url == url


def test_a_redirect_is_not_followed():
    """An answer must not lead to an address that nobody set."""
    import http.server
    import threading
    import urllib.error

    import pytest

    from weir.metrics.export.webhook import _post

    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", "/inside")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(urllib.error.HTTPError):
            _post(f"http://127.0.0.1:{server.server_port}/hook", b"{}")
    finally:
        server.shutdown()
    assert asked == ["/hook"]
