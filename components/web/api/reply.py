"""Answers in JSON, described by the same Structs that they are made of."""

from typing import Any

import msgspec
from starlette.responses import Response

REF = "#/components/schemas/{name}"


class ApiProblem(msgspec.Struct):
    """What went wrong, in one sentence."""

    error: str


def json(data: object, status: int = 200) -> Response:
    """Data as the body of an answer."""
    return Response(
        msgspec.json.encode(data),
        status_code=status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


def schemas_of(kinds: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """Their schemas and the components that those refer to; `object` is anything."""
    return msgspec.json.schema_components(kinds, ref_template=REF, schema_hook=_anything)


def answers(kind: Any, *others: int, status: int = 200) -> dict[str, Any]:
    """Arguments of a route: what it answers with, and which refusals it knows.

    FastAPI would describe pydantic models; ours are msgspec's, so the schema is given.
    """
    schema = schemas_of([kind])[0][0]
    refusals = {401: "Not signed in", 403: "Another role is needed", 422: "Not valid",
                503: "Redis cannot be reached",
                **{s: _WORDS[s] for s in others}}  # fmt: skip
    return {
        "status_code": status,
        "responses": {
            status: {"description": "Done", "content": _content(schema)},
            **{
                s: {
                    "description": words,
                    "content": _content({"$ref": REF.format(name="ApiProblem")}),
                }
                for s, words in sorted(refusals.items())
            },
        },
        "openapi_extra": {"x-struct": kind},
        "response_model": None,
    }


_WORDS = {
    400: "Not acceptable",
    404: "Not there",
    409: "Not possible now",
    503: "Nobody is there to do it",
}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _anything(_kind: type) -> dict[str, Any]:
    return {"description": "any JSON value"}
