"""The description of the API: `/openapi.json`, and a page of our own that shows it.

FastAPI's page loads its scripts from elsewhere; ours is plain HTML made of the same JSON.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from starlette.responses import Response

from weir.components.assets import API_STYLES, head
from weir.components.web.api.reply import ApiProblem, json, schemas_of
from weir.components.web.security import Role, declared_role, require

VERSION = "1"
DOCS = "/api/v1"
_ABOUT = (
    "Everything that the pages show and do. Send a token as `Authorization: Bearer ...`; make "
    "one with `weir token add NAME --role viewer|approver|admin`. Errors are JSON with "
    "one sentence."
)


def register(server: FastAPI) -> None:
    """The description and its page; to be called after all other routes."""

    structs = [
        route.openapi_extra.pop("x-struct")
        for route in server.routes
        if isinstance(route, APIRoute) and route.openapi_extra and "x-struct" in route.openapi_extra
    ]

    @server.get("/openapi.json", tags=["description"], response_model=None)
    @require(Role.VIEWER)
    async def openapi() -> Response:
        """This description."""
        return json(document(server, structs))

    @server.get(DOCS, include_in_schema=False)
    @require(Role.VIEWER)
    async def docs() -> Response:
        return HTMLResponse(page(document(server, structs)))


def document(server: FastAPI, structs: Sequence[Any]) -> dict[str, Any]:
    """The OpenAPI document; every operation says which role it needs."""
    routes = [r for r in server.routes if isinstance(r, APIRoute) and r.include_in_schema]
    found = get_openapi(title="Weir", version=VERSION, description=_ABOUT, routes=routes)
    _, components = schemas_of([ApiProblem, *structs])
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(components)
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"token": []}]
    for route in routes:
        role = declared_role(route.endpoint)
        for method in route.methods or ():
            operation = found["paths"][route.path_format][method.lower()]
            operation["x-role"] = str(role) if role else "none"
    return found


def page(described: dict[str, Any]) -> str:
    """The description for people, without a script."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            row = _row(method.upper(), path, operation)
            by_tag.setdefault(operation.get("tags", ["other"])[0], []).append(row)
    tags = sorted(by_tag, key=lambda tag: (tag == "other", list(by_tag).index(tag)))
    parts = [f"<h2>{escape(tag)}</h2>{''.join(by_tag[tag])}" for tag in tags]
    return _PAGE.format(head=head(*API_STYLES), about=_html(_ABOUT), operations="".join(parts))


def _row(method: str, path: str, operation: dict[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    takes = body.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
    params = ", ".join(p["name"] for p in operation.get("parameters", ()) if p["in"] == "query")
    facts = [f"role {operation['x-role']}" if operation["x-role"] != "none" else "open to all"]
    facts += [f"takes {takes}"] if takes else []
    facts += [f"may be asked with {params}"] if params else []
    return (
        f'<section class="api-row"><p><b>{method}</b> <code>{escape(path)}</code></p>'
        f"<p>{_html(operation.get('description', ''))}</p>"
        f'<p class="quiet">{escape("; ".join(facts))}</p></section>'
    )


def _html(text: str) -> str:
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


_PAGE = """<!DOCTYPE html>
<html lang="en">
  <head>
    <title>HTTP API - Weir</title>
    {head}
  </head>
  <body class="api">
    <main>
      <p><a href="/">Weir</a></p>
      <h1>HTTP API</h1>
      <p>{about} The whole description: <a href="/openapi.json">openapi.json</a>.</p>
      {operations}
    </main>
  </body>
</html>
"""
