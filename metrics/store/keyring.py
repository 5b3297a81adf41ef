"""The key that is not in Redis: it signs what nobody with Redis alone may make up.

    master key --+-- audit               seals of the audit trail
                 +-- commands:CLUSTER    what that cluster's agent is told

Whoever tells agents something or writes to the trail (engine, web, command line) has the master
key: the first of them makes the file, `.weir/key`, readable by its owner alone. An agent needs no
more than the key of its own cluster (`weir key CLUSTER`): with that it can neither tell other
clusters anything nor write to the trail.

Where somebody has signed already, no second key is made: it would fit nothing.

The key is taken from WEIR_KEY, else from the file that WEIR_KEY_FILE names, else from
`.weir/key` (or `key` in the folder that WEIR_HOME names):

    <64 hex digits>                      the master key
    agent CLUSTER <64 hex digits>        that of one cluster's agent
"""

import contextlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from weir.controllers.model.errors import InvalidInput, Unavailable
from weir.metrics.store.where import home

_MASTER = re.compile(r"[0-9a-f]{64}")
_AGENT = re.compile(r"agent (.{1,200}) ([0-9a-f]{64})")


class Keyring:
    """The key of this process, found when it is first needed."""

    def __init__(
        self,
        env: Mapping[str, str] | None = None,
        in_use: Callable[[], bool] = lambda: False,
    ) -> None:
        """`in_use`: whether something is signed with a key, ours or not."""
        self._env = os.environ if env is None else env
        self._in_use = in_use
        self._master: bytes | None = None
        self._agents: dict[str, bytes] = {}

    @property
    def path(self) -> Path:
        """The file that the key is read from."""
        named = self._env.get("WEIR_KEY_FILE")
        return Path(named) if named else home(self._env) / "key"

    @property
    def in_env(self) -> bool:
        """Whether the environment holds it itself."""
        return bool(self._env.get("WEIR_KEY"))

    def audit_key(self) -> bytes:
        """What seals the audit trail; made if there is none yet."""
        return _derive(self._make_key(), "audit")

    def agent_line(self, cluster: str) -> str:
        """The key of one cluster's agent, as its file or WEIR_KEY holds it."""
        return f"agent {cluster} {_derive(self._make_key(), f'commands:{cluster}').hex()}"

    def signature(self, cluster: str, data: bytes) -> str:
        """What proves to a cluster's agent that a command comes from Weir."""
        own = self._agents.get(cluster) if self._find() and self._master is None else None
        key = own or _derive(self._make_key(), f"commands:{cluster}")
        return hmac.new(key, data, "sha256").hexdigest()

    def why_not(self, cluster: str, data: bytes, signature: str) -> str:
        """Why a command must not be trusted; empty if it may be."""
        if not self._find():
            return (
                f"the agent of {cluster} has no key to check it with; give it one with "
                "WEIR_KEY or WEIR_KEY_FILE (see docs/security.md)"
            )
        if self._master is None and cluster not in self._agents:
            return f"the agent has the key of another cluster than {cluster}"
        if not signature:
            return "it is not signed"
        if not hmac.compare_digest(self.signature(cluster, data).encode(), signature.encode()):
            return f"it is not signed with the key of {cluster}"
        return ""

    def _find(self) -> bool:
        """Whether there is a key; one that appears later is found then."""
        if self._master is None and not self._agents:
            text = self._env.get("WEIR_KEY") or self._in_file()
            if text:
                self._take(text)
        return self._master is not None or bool(self._agents)

    def _in_file(self) -> str:
        try:
            return self.path.read_text()
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise Unavailable(f"the key {self.path} cannot be read: {error}") from None

    def _take(self, text: str) -> None:
        for line in filter(None, map(str.strip, text.splitlines())):
            agent = _AGENT.fullmatch(line)
            if agent:
                self._agents[agent[1]] = bytes.fromhex(agent[2])
            elif _MASTER.fullmatch(line):
                self._master = bytes.fromhex(line)
            else:
                raise InvalidInput(
                    "the key in WEIR_KEY or its file is 64 hex digits, or a line that "
                    "`weir key CLUSTER` printed",
                    field="key",
                )

    def _make_key(self) -> bytes:
        """The master key; made, by one process alone, where there is none."""
        if not self._find():
            if self._in_use():
                raise Unavailable(
                    f"this needs Weir's key, and {self.path} is not there: copy it from where "
                    "Weir runs, or name it with WEIR_KEY_FILE; if it is lost, `weir key` makes "
                    "another one, and the audit trail begins anew"
                )
            self._make()
            self._find()
        if self._master is None:
            raise InvalidInput(
                "this needs Weir's own key, and there is only an agent's (WEIR_KEY, "
                "WEIR_KEY_FILE or .weir/key)",
                field="key",
            )
        return self._master

    def _make(self) -> None:
        path = self.path
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(handle, "w") as file:
                    file.write(secrets.token_hex(32) + "\n")
                with contextlib.suppress(FileExistsError):  # another process was first
                    os.link(draft, path)
            finally:
                os.unlink(draft)
        except OSError as error:
            raise Unavailable(f"the key {path} cannot be made: {error}") from None


def _derive(master: bytes, purpose: str) -> bytes:
    return hmac.digest(master, f"weir:{purpose}".encode(), "sha256")
