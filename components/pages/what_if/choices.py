"""What was asked of the simulator, as the address of the page carries it."""

from typing import Any
from urllib.parse import parse_qs, urlencode

import msgspec
from msgspec import Struct

from weir.controllers.model.errors import UNREADABLE
from weir.controllers.scaling.registry import scalers


class Choices(Struct, frozen=True, kw_only=True):
    """A filled form; `policies` is None where the address asks nothing."""

    cluster: str = ""
    target_latency_s: float | None = None
    policies: tuple[str, ...] | None = None
    scaler: str = ""  # the one with settings of one's own
    settings: dict[str, Any] = {}


def query_of(choices: Choices) -> str:
    """The part of the address behind the question mark, with it.

    >>> query_of(Choices(cluster="wide", target_latency_s=4.0, policies=("drs",)))
    '?cluster=wide&target=4&policies=drs'
    """
    parts = {
        "cluster": choices.cluster,
        "target": "" if choices.target_latency_s is None else f"{choices.target_latency_s:g}",
        "policies": ",".join(choices.policies or ()) or "none",
        "scaler": choices.scaler,
        "settings": msgspec.json.encode(choices.settings).decode() if choices.settings else "",
    }
    return "?" + urlencode({name: value for name, value in parts.items() if value})


def choices_in(search: str | None) -> Choices:
    """What an address asks; parts that mean nothing here are left out.

    >>> choices_in("?target=4&policies=drs,gone&cluster=wide").policies
    ('drs',)
    >>> choices_in("?target=x") == choices_in("") == Choices()
    True
    """
    given = {name: values[0] for name, values in parse_qs((search or "").lstrip("?")).items()}
    known = scalers()
    named = given.get("policies")
    scaler = given.get("scaler", "")
    return Choices(
        cluster=given.get("cluster", ""),
        target_latency_s=_seconds(given.get("target", "")),
        policies=None if named is None else tuple(n for n in named.split(",") if n in known),
        scaler=scaler if scaler in known else "",
        settings=_settings(given.get("settings", "")) if scaler in known else {},
    )


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 < found < 86_400 else None


def _settings(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except UNREADABLE:
        return {}
