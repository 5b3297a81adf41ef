"""The web application, and how gunicorn is told to run it."""

import asyncio
import gzip
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import dash_cytoscape
import plotly
from dash import Dash
from fastapi import FastAPI
from fastapi.responses import Response

import weir
from weir.components import assets
from weir.components.live import feed
from weir.components.live.hub import Hub
from weir.components.pages.base import Site
from weir.components.pages.registry import PAGES
from weir.components.pages.replay.library import Library
from weir.components.pages.sign_in.service import SignIn
from weir.components.ui.dialog import Dialog
from weir.components.ui.theme import INDEX
from weir.components.web import api, presence, router
from weir.components.web.api.guarded import GuardedRoute
from weir.components.web.security import Gate, Security, cookie_name
from weir.components.web.security.events import Background, keep
from weir.components.web.security.limits import CallbackForm
from weir.components.web.security.settings import SignInSettings, from_env, to_env
from weir.components.web.security.workers import Workers
from weir.components.web.shell import shell
from weir.metrics.process_memory import collect_rarely, one_heap
from weir.metrics.store.anchor import AnchorFile
from weir.metrics.store.redis_store import RedisStore, connect
from weir.metrics.store.users import UsersFile

ASSETS = Path(weir.__file__).parent / "assets"
VENDOR = {
    "plotly.min.js": Path(plotly.__file__).parent / "package_data" / "plotly.min.js",
    # With the layered layout of the map.
    "cytoscape.min.js": Path(dash_cytoscape.__file__).parent / "dash_cytoscape_extra.min.js",
}
"""Scripts that pages load when they need them (`assets/ui/late.js`)."""
REDIS_TIMEOUT_S = 2.0


def create_app(
    redis_url: str,
    *,
    target_latency_s: float = 5.0,
    allowed_hosts: Sequence[str] = (),
    runs_dir: str | Path = "runs",
    sign_in: SignInSettings | None = None,
) -> Security:
    """The whole web side as one ASGI application. Keeps nothing that is not in Redis."""
    store = RedisStore(connect(redis_url, timeout_s=REDIS_TIMEOUT_S))
    hub = Hub(redis_url, store, target_latency_s, PAGES)
    library = Library(runs_dir)
    settings = sign_in or SignInSettings()
    people = SignIn(store.client, UsersFile(settings.users), settings)
    gate = Gate(people.sessions, people.users, settings, cookie_name(redis_url))
    anchor = AnchorFile.beside(settings.users, redis_url)
    site = Site(
        pages=PAGES, hub=hub, library=library, people=people, gate=gate, anchor=anchor,
        dialog=Dialog(), target_latency_s=target_latency_s,
        visiting=Workers("page", 8, each=8, most=128),
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(_server: FastAPI) -> AsyncIterator[None]:
        # Dash does this with the first request for "/"; until then a worker refuses to hand out
        # the scripts of its components.
        app._setup_server()
        hub.start()
        beating = [
            asyncio.create_task(presence.beat(store, people.users)),
            asyncio.create_task(presence.keep_anchor(store, anchor)),
        ]
        yield
        for task in beating:
            task.cancel()
        await asyncio.gather(*beating, return_exceptions=True)
        await hub.stop()
        library.close()

    # FastAPI's own pages of documentation load from a CDN: off.
    server = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    server.router.route_class = GuardedRoute
    for kind in PAGES.kinds.values():
        if kind.routes:
            kind.routes(server, site)
    api.register(server, hub)

    for name in VENDOR:
        server.get(f"/vendor/{name}", include_in_schema=False)(_vendor(name))

    app = Dash(
        __name__,
        server=server,  # type: ignore[arg-type]  # any server that Dash has a backend for
        title="Weir",
        update_title=None,  # type: ignore[arg-type]  # documented: no title while it updates
        assets_folder=str(ASSETS),
        include_assets_files=False,  # not by letters: in the order of `components/assets.py`
        index_string=INDEX,
        compress=True,
        suppress_callback_exceptions=True,
        enable_mcp=False,
        csrf_token_name=gate.csrf_cookie,
    )
    dash_cytoscape._js_dist.clear()  # `assets/ui/late.js` loads it where a map is shown
    assets.load(app)
    app.layout = shell
    router.register(app, site)
    feed.register(app, hub, PAGES)
    for kind in PAGES.kinds.values():
        if kind.register:
            kind.register(app, site)
    site.dialog.register(app)
    return Security(
        server,
        script_hashes=app.csp_hashes(),
        allowed_hosts=allowed_hosts,
        gate=gate,
        form=CallbackForm(app.callback_map),
        sink=Background(lambda event: keep(store, event)),
    )


def _vendor(name: str) -> Callable[[], Awaitable[Response]]:
    async def script() -> Response:
        headers = {"Cache-Control": "public, max-age=86400", "Content-Encoding": "gzip"}
        return Response(_compress(name), media_type="text/javascript", headers=headers)

    return script


@cache
def _compress(name: str) -> bytes:
    """Done once, not for every browser that opens the page."""
    return gzip.compress(VENDOR[name].read_bytes(), 6)


def app_from_env() -> Security:
    """What a gunicorn worker calls; the settings come through the environment."""
    one_heap()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("weir.security").setLevel(logging.INFO)
    app = create_app(
        os.environ.get("WEIR_REDIS_URL", "redis://127.0.0.1:6379/0"),
        target_latency_s=float(os.environ.get("WEIR_TARGET_LATENCY_S", "5")),
        allowed_hosts=os.environ.get("WEIR_ALLOWED_HOSTS", "").split(","),
        runs_dir=os.environ.get("WEIR_RUNS", "runs"),
        sign_in=from_env(),
    )
    collect_rarely()
    return app


def gunicorn_argv(host: str, port: int, workers: int = 2) -> list[str]:
    """The command line of the web server.

    >>> gunicorn_argv("127.0.0.1", 8050)[-1]
    'weir.components.web.app:app_from_env()'
    """
    return [
        sys.executable, "-m", "gunicorn",
        "--worker-class", "weir.components.web.worker.Worker",
        "--workers", str(workers),
        "--bind", f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
        "--graceful-timeout", "5",
        "--no-control-socket",
        "--log-level", "warning",
        "weir.components.web.app:app_from_env()",
    ]  # fmt: skip


def web_env(
    redis_url: str,
    *,
    target_latency_s: float = 5.0,
    allowed_hosts: Sequence[str] = (),
    runs_dir: str | Path = "runs",
    sign_in: SignInSettings | None = None,
) -> dict[str, str]:
    """The environment that goes with `gunicorn_argv`."""
    return {
        **to_env(sign_in or SignInSettings()),
        "WEIR_REDIS_URL": redis_url,
        "WEIR_TARGET_LATENCY_S": str(target_latency_s),
        "WEIR_ALLOWED_HOSTS": ",".join(allowed_hosts),
        "WEIR_RUNS": str(runs_dir),
    }
