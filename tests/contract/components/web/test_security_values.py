"""Every callback and every kind of message, walked with what no page of Weir would send.

All of it comes from somebody with a valid session and every right. Each answer is a refusal
with a sentence or something that the page can show; nothing changes, and a refusal is logged
once.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from tests.support.inside import Inside, _flat
from weir.components.web.security.limits import BODY_MOST, CALLBACK_PATH

REFUSALS = (400, 404, 409, 413)
VALUES: list[Any] = [
    None, True, 1, -1, -1.5, 1e308, "x", "\x00" * 9, "../../etc/passwd", "9" * 5000, [], ["a"],
    [[1]], [{"id": 1}], {}, {"id": 1}, {"verb": 5, "name": [1]}, {"a": {"b": {"c": [1]}}},
    "x" * 200_000,
]  # fmt: skip


def walked(inside: Inside) -> list[str]:
    """Every callback but the feed, which only a socket may ask for."""
    return [o for o, k in inside.callbacks.items() if "push" not in k["callback"].__name__]


def bodies(inside: Inside, output: str) -> Iterator[tuple[str, Any]]:
    """What is wrong in one place at a time, or everywhere with the same value."""
    good = inside.callback(output, 1)
    for field in ("output", "outputs", "inputs", "state", "changedPropIds"):
        yield f"no {field}", {k: v for k, v in good.items() if k != field}
        for value in (5, "x", [5], {"x": 1}):
            yield f"{field} {value!r}", {**good, field: value}
    for value in VALUES:
        yield f"all {str(value)[:30]!r}", inside.callback(output, value)
        for part in ("inputs", "state"):
            for i in range(len(good[part])):
                body = deepcopy(good)
                for one in _flat([body[part][i]]):
                    one["value"] = value
                yield f"{part} {i} {str(value)[:30]!r}", body
    for part in ("inputs", "state"):
        for i, item in enumerate(good[part]):
            if isinstance(item, list):
                for twice in ([], [*item, *item], [{**item[0], "id": {"type": "other"}}]):
                    body = deepcopy(good)
                    body[part][i] = twice
                    yield f"{part} {i} as {len(twice)}", body


@pytest.mark.usefixtures("unchanged")
@pytest.mark.timeout(900)
def test_no_callback_breaks_on_what_it_is_sent(inside: Inside, said: Any) -> None:
    headers, tried = inside.session()[0], 0
    for output in walked(inside):
        for what, body in bodies(inside, output):
            said.clear()
            answer = inside.ask("POST", CALLBACK_PATH, headers=headers, json=body)
            where = f"{output}: {what}: {answer.status_code} {answer.text[:200]}"
            tried += 1
            loud = [r for r in said.records if r.levelname in ("ERROR", "CRITICAL")]
            assert not loud, f"{where}: {loud[0].getMessage()}"
            if answer.status_code in (200, 204):
                continue
            assert answer.status_code in REFUSALS, where
            sentence = answer.json()["error"]
            assert sentence[0].isupper(), where
            assert sentence.endswith("."), where
            if answer.status_code != 409:
                refused = [r for r in said.records if ".refused by " in r.getMessage()]
                assert len(refused) == 1, where
    assert tried > 50 * len(walked(inside))


@pytest.mark.usefixtures("unchanged")
def test_no_callback_takes_more_than_its_share(inside: Inside, said: Any) -> None:
    headers = inside.session()[0]
    for output in walked(inside):
        body = {**inside.callback(output, 1), "more": "x" * BODY_MOST[CALLBACK_PATH]}
        answer = inside.ask("POST", CALLBACK_PATH, headers=headers, json=body)
        assert answer.status_code == 413, output
    assert said.text.count("size.refused") == len(walked(inside))


@pytest.mark.usefixtures("unchanged")
def test_no_message_breaks_the_feed(inside: Inside, said: Any) -> None:
    """What a socket says in the right form but with wrong contents: it goes on or is closed."""
    headers = inside.session()[0]
    push = next(o for o, k in inside.callbacks.items() if k.get("websocket"))
    request = {"type": "callback_request", "requestId": "1", "rendererId": "r"}
    beat = '{"type": "heartbeat"}'
    for value in VALUES:
        asked = json.dumps({**request, "payload": inside.callback(push, value)})
        reply = json.dumps({"type": "get_props_response", "requestId": "1", "payload": value})
        strange = json.dumps({**request, "rendererId": value, "payload": inside.callback(push)})
        for text in (asked, reply, strange):
            said.clear()
            sent = inside.socket(headers, text, beat)
            loud = [r.getMessage() for r in said.records if r.levelname in ("ERROR", "CRITICAL")]
            assert not loud, (text[:100], loud)
            closed = [m["code"] for m in sent if m["type"] == "websocket.close"]
            alive = any("heartbeat_ack" in m.get("text", "") for m in sent)
            assert alive or closed in ([1007], [1009]), (text[:100], [str(m)[:100] for m in sent])
            if closed:
                assert said.text.count(".refused by ") == 1
