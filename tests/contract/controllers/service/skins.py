"""One store and three ways to ask for something: page, HTTP API and command line.

The page is the dialog's callback, as a browser sends it. What each way leaves behind is compared
without who, where, when and under which id.
"""

import random
import re
import time
from typing import Any

from msgspec import to_builtins
from typer.testing import CliRunner

from tests.support.clicks import click
from tests.support.inside import Inside
from tests.support.models import demo, sample_of
from weir.commands.main import app
from weir.components.ui import ids
from weir.controllers.engine.guard.rules import ENGINE
from weir.controllers.engine.ports import Workload
from weir.controllers.model.errors import WeirError
from weir.controllers.model.placement import LEADER, Placement
from weir.metrics.store.users import Role

CHANGING = {
    "at", "id", "by", "address", "expires_at", "history", "number", "seal", "previous", "fence",
    "issued_at", "version", "plan_hash", "subject_id", "signature",
}  # fmt: skip
"""Who, when, from where and under which id: the only things that may differ."""


class Skins:
    """One store, and three ways to ask for something."""

    def __init__(self, inside: Inside) -> None:
        self.inside = inside
        self.store = inside.store

    def begin(self, settings: dict[str, Any] | None = None) -> None:
        """The same world as for the others, reported just now."""
        self.store.client.flushdb()
        self.store.acquire(LEADER, "engine/test", 3600.0)
        now = time.time()
        for model in demo():
            for back in (4.0, 2.0, 0.0):
                sample = sample_of(model, 400.0, now - back, 2.0, random.Random(1))
                assert self.store.append(sample)
            for operator in model.operators:
                self.store.place(Placement(operator=operator.name, cluster=model.name))
        self.store.set_workload(Workload(name="tweets", rows_per_s=100.0))
        if settings:
            self.store.save_settings(ENGINE, settings)

    def page(self, asker: str, about: dict[str, Any], comment: str = "", **fields: Any) -> str:
        answer = click(self.inside, asker, about, comment, **fields)
        assert answer.status_code == 200, answer.text
        said = answer.json()["response"].get(ids.DIALOG_ERROR, {}).get("children") or ""
        return "".join(said) if isinstance(said, list) else said

    def api(self, method: str, path: str, body: dict[str, Any] | None = None) -> str:
        headers = self.inside.bearer(Role.ADMIN)
        answer = self.inside.ask(method, f"/api/v1{path}", headers=headers, json=body)
        return "" if answer.status_code < 300 else answer.json()["error"]

    def terminal(self, *words: str) -> str:
        done = CliRunner().invoke(app, [words[0], "--redis", self.inside.redis_url, *words[1:]])
        if done.exception is None or isinstance(done.exception, SystemExit):
            return ""
        assert isinstance(done.exception, WeirError), done.exception
        said = str(done.exception)
        # Whoever sits there waits for the end; that it waits for another person is no refusal.
        return "" if said.endswith("waits for somebody else to approve it") else said

    def left(self) -> dict[str, Any]:
        """What the store holds now, without what may differ."""
        return {
            "recommendations": [_bare(r) for r in self.store.recommendations()],
            "commands": [_bare(c) for c, _ in self.store.recent_commands()],
            "audit": [_bare(e) for e in self.store.audit_since(0)],
            "modes": self.store.modes(),
            "settings": {k: v for k, v in self.store.all_settings().items() if k != "pause"},
            "workloads": _bare(list(self.store.workloads())),
            "memories": sorted(self.store.memories("wide")),
            "clusters": self.store.clusters(),
            "hosts": {n: _bare(o) for n, o in self.store.host_orders().items()},
        }


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _bare(v) for k, v in value.items() if k not in CHANGING and not _named(k, v)}
    if isinstance(value, list | tuple):
        return [_bare(v) for v in value]
    if isinstance(value, float):
        return round(value, 6)
    if hasattr(value, "__struct_fields__"):
        return _bare(to_builtins(value))
    return value


def _named(key: str, value: Any) -> bool:
    """The id of a recommendation in an audit entry."""
    return key == "subject" and bool(re.fullmatch(r"[0-9a-f]{24}", str(value)))
