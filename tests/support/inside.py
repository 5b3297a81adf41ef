"""The whole web side in this process, asked without a network: for tests of what is refused."""

import asyncio
import json
import threading
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx
from fastapi.routing import APIRoute

from weir.components.pages.sign_in.service import SignIn
from weir.components.web.app import create_app
from weir.components.web.security import declared_role
from weir.components.web.security.gate import cookie_name
from weir.components.web.security.limits import CALLBACK_PATH
from weir.components.web.security.settings import SignInSettings
from weir.components.web.security.tokens import new_token
from weir.controllers.engine.audit import AuditEntry
from weir.metrics.store.redis_store import RedisStore, connect
from weir.metrics.store.users import Role, UsersFile

T = TypeVar("T")

SAFE = ("GET", "HEAD")
HOST = "127.0.0.1:8050"
ORIGIN = f"http://{HOST}"
SOCKET_PATH = "/_dash-ws-callback"  # Dash's, of the one feed


class Inside:
    """`create_app` with a user and a token of every role."""

    def __init__(self, redis_url: str, folder: Path, **sign_in: Any) -> None:
        self.redis_url = redis_url
        self.settings = SignInSettings(users=str(folder / "users.json"), **sign_in)
        self.store = RedisStore.at(redis_url)
        self.users = UsersFile(self.settings.users)
        self.people = SignIn(connect(redis_url), self.users, self.settings)
        self.tokens: dict[Role, str] = {}
        for role in Role:
            self.users.add(role, role, time.time())
            self.tokens[role], kept = new_token(role, role, time.time())
            self.users.add_token(kept)
        # What tests look at inside is nobody else's business, so it has no types.
        self.app: Any = create_app(redis_url, sign_in=self.settings, runs_dir=folder / "runs")
        self.server: Any = self.app._app
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self._start())

    async def _start(self) -> None:
        """What the server does before the first request."""
        self._lifespan = self.server.router.lifespan_context(self.server)
        await self._lifespan.__aenter__()
        self.server.middleware_stack = self.server.build_middleware_stack()

    def stop(self) -> None:
        """End the readers of Redis, and the loop."""
        self.run(asyncio.wait_for(self._lifespan.__aexit__(None, None, None), 60))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the application's loop, which goes on between requests."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def session(self, role: Role = Role.ADMIN) -> tuple[dict[str, str], str]:
        """Headers of a browser that has signed in, and its session's cookie."""
        cookie, claim = self.people.sessions.begin(role, "test", "password")
        headers = {
            "cookie": f"{cookie_name(self.redis_url)}={cookie}",
            "x-csrftoken": self.people.sessions.csrf(claim),
            "origin": ORIGIN,
        }
        return headers, cookie

    def bearer(self, role: Role = Role.ADMIN) -> dict[str, str]:
        """Headers of a program."""
        return {"authorization": f"Bearer {self.tokens[role]}"}

    def ask(self, method: str, path: str, address: str = "10.1.1.1", **more: Any) -> httpx.Response:
        """One request and its answer."""

        async def work() -> httpx.Response:
            transport = httpx.ASGITransport(
                self.app, raise_app_exceptions=False, client=(address, 1)
            )
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
                return await client.request(method, path, **more)

        return self.run(work())

    def socket(self, headers: dict[str, str], *said: str) -> list[Any]:
        """Open the feed's socket, say something, and return all that the server sends.

        That is until it closes the socket or answers a heartbeat, whatever comes first.
        """
        return self.run(self._socket(headers, said))

    async def _socket(self, headers: dict[str, str], said: tuple[str, ...]) -> list[Any]:
        sent: list[Any] = []
        over = asyncio.Event()
        waiting: asyncio.Queue[Any] = asyncio.Queue()
        waiting.put_nowait({"type": "websocket.connect"})
        for text in said:
            waiting.put_nowait({"type": "websocket.receive", "text": text})

        async def send(message: Any) -> None:
            sent.append(message)
            if message["type"] == "websocket.close" or "heartbeat_ack" in message.get("text", ""):
                over.set()

        encoded = [(k.encode(), v.encode()) for k, v in {"host": HOST, **headers}.items()]
        scope = {
            "type": "websocket", "path": "/_dash-ws-callback", "headers": encoded,
            "client": ("10.1.1.1", 1), "scheme": "ws", "query_string": b"", "subprotocols": [],
            "raw_path": b"/_dash-ws-callback", "root_path": "", "asgi": {"version": "3.0"},
        }  # fmt: skip
        task = asyncio.ensure_future(self.app(scope, waiting.get, send))
        task.add_done_callback(lambda _: over.set())
        await asyncio.wait_for(over.wait(), 60)
        waiting.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await asyncio.wait([task], timeout=60)
        task.cancel()
        return sent

    def everything(self) -> dict[bytes, Any]:
        """All that Weir keeps, except what changes by itself: signs of life, leases, and the door's
        own."""
        client, found = self.store.client, {}
        own = (b"weir:parts", b"weir:session", b"weir:sessions", b"weir:failures", b"weir:link",
               b"weir:audit", b"weir:clusters", b"weir:samples")  # fmt: skip
        for key in client.scan_iter("weir:*"):
            if not key.startswith(own) and b"lease" not in key:
                found[key] = client.dump(key)
        return found

    def callback(self, output: str, values: Any = None) -> dict[str, Any]:
        """A body as the browser sends it, with the same value for every input and state."""
        known = self.app._form._callbacks[output]
        inputs = [_filled(d, values) for d in known["inputs"]]
        return {
            "output": output,
            "outputs": _outputs(known),
            "inputs": inputs,
            "state": [_filled(d, values) for d in known["state"]],
            "changedPropIds": [_prop_id(i) for i in _flat(inputs)][:1],
        }

    @property
    def callbacks(self) -> dict[str, Any]:
        """Every callback of the pages that runs on the server."""
        found = self.app._form._callbacks
        return {output: known for output, known in found.items() if "callback" in known}


_IN_FORM = {"pathname": "/", "search": "", "href": "", "checked": True}


def _filled(declared: dict[str, Any], value: Any) -> Any:
    """One input; a pattern is one list with one element. What has a form has it."""
    value = _IN_FORM.get(declared["property"], value)
    if not declared["id"].startswith("{"):
        return {"id": declared["id"], "property": declared["property"], "value": value}
    pattern = json.loads(declared["id"])
    name = {k: ("x" if isinstance(p, list) else p) for k, p in pattern.items()}
    own = name if declared["property"] == "id" else value
    return [{"id": name, "property": declared["property"], "value": own}]


def _flat(inputs: list[Any]) -> list[Any]:
    return [one for item in inputs for one in (item if isinstance(item, list) else [item])]


def _prop_id(item: dict[str, Any]) -> str:
    name = item["id"]
    text = name if isinstance(name, str) else json.dumps(
        name, sort_keys=True, separators=(",", ":")
    )  # fmt: skip
    return f"{text}.{item['property']}"


def _outputs(known: Mapping[str, Any]) -> Any:
    found = known["output"]
    if isinstance(found, list | tuple):
        return [_one_output(o) for o in found]
    return _one_output(found)


def _one_output(output: Any) -> Any:
    name = output.component_id
    if isinstance(name, dict):
        return [{"id": {k: (v if isinstance(v, str) else "x") for k, v in name.items()},
                 "property": output.component_property}]  # fmt: skip
    return {"id": name, "property": output.component_property}


def routes(inside: Inside) -> list[tuple[str, str, APIRoute]]:
    """Every method of every route, with something in the place of its parameters."""
    return [
        (method, filled(route.path), route)
        for route in inside.server.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]


def filled(path: str) -> str:
    """A route's path with names in it that exist or could."""
    for part in ("{id}", "{cluster}", "{operator}", "{workload}", "{group}", "{run}"):
        path = path.replace(part, "wide")
    path = path.replace("{verb}", "stop").replace("{rest:path}", "x").replace("{path:path}", "/x")
    path = path.replace("{package_name}", "dash").replace("{fingerprinted_path:path}", "x.js")
    assert "{" not in path, path
    return path


def callbacks(inside: Inside) -> list[tuple[str, Role]]:
    """Every callback with the role it declares."""
    found = [(o, declared_role(known["callback"])) for o, known in inside.callbacks.items()]
    return [(output, role) for output, role in found if role is not None]


def post(inside: Inside, output: str, headers: dict[str, str]) -> httpx.Response:
    """One callback, asked with the value 1 for everything."""
    return inside.ask("POST", CALLBACK_PATH, headers=headers, json=inside.callback(output, 1))


def settled(inside: Inside) -> list[AuditEntry]:
    """The audit trail, once what was recorded in the background is there."""
    inside.app._sink._worker.submit(lambda: None).result()  # it keeps one after the other
    return inside.store.audit(500)
