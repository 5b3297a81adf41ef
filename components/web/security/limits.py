"""How much anybody may send, and in what form. Checked before anything else looks at it."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

CALLBACK_PATH = "/_dash-update-component"
BODY_MOST = {CALLBACK_PATH: 1 << 20, "/api/import/part": 4 << 20}
BODY_MOST_ELSE = 64 << 10
BODY_MOST_STRANGERS = 8 << 10
"""Enough for a name and a password; nobody else is read any further."""
BODY_S = 60.0
"""How long a body may take to arrive."""
SOCKET_MOST = 256 << 10

TOO_LARGE = "This request is larger than Weir takes."
TOO_SLOW = "This request took too long to arrive."
MALFORMED = "This request is not in the form that Weir's pages send."
_KINDS: dict[str, type] = {
    "pathname": str, "search": str, "href": str, "n_clicks": int, "checked": bool,
}  # fmt: skip
"""Properties whose values every callback may rely on."""
_SOCKET_TYPES = ("callback_request", "get_props_response", "heartbeat")


async def read_body(
    receive: Receive, path: str, length: str | None, *, known: bool = True
) -> bytes | None:
    """The whole body, or None if it is larger than this path takes, or than a stranger may send."""
    most = BODY_MOST.get(path, BODY_MOST_ELSE) if known else BODY_MOST_STRANGERS
    if length is not None and (not length.isdigit() or int(length) > most):
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body"):
            return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """`receive` for the application: the body that was read, then what comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


class CallbackForm:
    """What the browser may send to a callback: exactly the inputs that it declares.

    Dash looks at none of this; a wrong shape would end as an error of the server's.
    """

    def __init__(self, callbacks: Mapping[str, Mapping[str, Any]]) -> None:
        self._callbacks = callbacks

    def fits(self, body: bytes) -> bool:
        """Whether a body asks a callback that there is, with what it takes."""
        data = _object(body)
        return data is not None and self._fits(data)

    def fits_socket(self, text: object) -> bool:
        """The same for one message of a WebSocket; only some callbacks are open to those."""
        data = _object(text)
        if data is None or data.get("type") not in _SOCKET_TYPES:
            return False
        if data["type"] != "callback_request":
            return data["type"] == "heartbeat" or isinstance(data.get("requestId"), str)
        payload = data.get("payload")
        if not isinstance(payload, dict) or not isinstance(data.get("requestId"), str):
            return False
        known = self._callbacks.get(str(payload.get("output")))
        return known is not None and bool(known.get("websocket")) and self._fits(payload)

    def _fits(self, data: dict[str, Any]) -> bool:
        output = data.get("output")
        known = self._callbacks.get(output) if isinstance(output, str) else None
        if not isinstance(output, str) or known is None or "callback" not in known:
            # Those of the browser have none.
            return False
        inputs, state = data.get("inputs") or [], data.get("state") or []
        if not _is_declared(inputs, known["inputs"]) or not _is_declared(state, known["state"]):
            return False
        outputs: Any = [] if known.get("no_output", False) else data.get("outputs")
        if not _all_items(outputs):
            return False
        declared = [*known["inputs"], *known["state"], *_declared_outputs(output)]
        sent = [*inputs, *state, *(outputs if output.startswith("..") else [outputs])]
        if not _same_components(sent, declared):
            return False
        changed = data.get("changedPropIds") or []
        return isinstance(changed, list) and set(map(str, changed)) <= _prop_ids(inputs)


def _object(body: object) -> dict[str, Any] | None:
    try:
        data = json.loads(body) if isinstance(body, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _is_declared(sent: object, declared: list[dict[str, Any]]) -> bool:
    if not isinstance(sent, list) or len(sent) != len(declared):
        return False
    return all(_one(s, d) for s, d in zip(sent, declared, strict=True))


def _one(sent: object, declared: dict[str, Any]) -> bool:
    """One input; where the declaration is a pattern, as many as the page has."""
    if isinstance(sent, list):
        return _pattern(declared["id"]) is not None and all(_one(s, declared) for s in sent)
    if not isinstance(sent, dict) or sent.get("property") != declared["property"]:
        return False
    if not _can_be(sent):
        return False
    pattern = _pattern(declared["id"])
    if pattern is None:
        return bool(sent.get("id") == declared["id"])
    found = sent.get("id")
    return (
        isinstance(found, dict)
        and found.keys() == pattern.keys()
        and all(isinstance(v, str | int | float) for v in found.values())
        and all(isinstance(p, list) or found[k] == p for k, p in pattern.items())
    )


def _can_be(sent: dict[str, Any]) -> bool:
    """Whether a property can have this value; those not named here can have any."""
    name, value = sent["property"], sent.get("value")
    if name == "id":
        return bool(value == sent.get("id"))
    return value is None or isinstance(value, _KINDS.get(name, object))


def _same_components(sent: list[Any], declared: list[dict[str, Any]]) -> bool:
    """Two properties of one pattern are those of the same components, in the same order."""
    if len(sent) != len(declared):
        return False
    names: dict[str, list[Any]] = {}
    for items, of in zip(sent, declared, strict=True):
        if isinstance(items, list):
            found = [item["id"] for item in items]
            if names.setdefault(of["id"], found) != found:
                return False
    return True


def _declared_outputs(output: str) -> list[dict[str, str]]:
    """The ids in the name of a callback.

    >>> _declared_outputs('..{"name":["ALL"]}.error...toast.children@1..')
    [{'id': '{"name":["ALL"]}'}, {'id': 'toast'}]
    """
    names = output[2:-2].split("...") if output.startswith("..") else [output]
    return [{"id": name.rpartition(".")[0]} for name in names]


def _pattern(declared: object) -> dict[str, Any] | None:
    """The id of a pattern; wildcards stand in it as lists."""
    return _object(declared) if isinstance(declared, str) and declared[:1] == "{" else None


def _prop_ids(inputs: list[Any]) -> set[str]:
    found = set()
    for item in inputs:
        for one in item if isinstance(item, list) else [item]:
            name = one["id"]
            text = name if isinstance(name, str) else json.dumps(
                name, sort_keys=True, separators=(",", ":"), ensure_ascii=False
            )  # fmt: skip
            found.add(f"{text}.{one['property']}")
    return found


def _all_items(outputs: object) -> bool:
    if isinstance(outputs, list):
        return all(_all_items(o) for o in outputs)
    return isinstance(outputs, dict) and "id" in outputs and "property" in outputs
