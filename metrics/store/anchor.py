"""What is remembered of the audit trail outside of Redis: the newest entry of the last check.

It is kept in a file beside the users' file, one for each Redis. Somebody who can write both to
Redis and to that file can still deceive the check; somebody with Redis alone cannot cut off,
delete or rewrite what was checked before without being noticed.
"""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from weir.controllers.engine.audit import Anchor, Chain, Read, verify_chain
from weir.controllers.model.errors import UNREADABLE, Unavailable
from weir.metrics.files import replace_private_file
from weir.metrics.store import keys


class AnchorFile:
    """The file with the anchor."""

    def __init__(self, path: Path | str, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path)
        self._clock = clock

    @classmethod
    def beside(cls, users: Path | str, redis_url: str) -> "AnchorFile":
        """The one of a Redis, in the folder of the users' file."""
        parts = urlsplit(redis_url)
        place = f"{parts.hostname}:{parts.port}{parts.path}"
        name = hashlib.sha256(place.encode()).hexdigest()[:8]
        return cls(Path(users).with_name(f"audit-{name}.json"))

    def check(
        self,
        read: Read,
        *,
        anew: bool = False,
        key: bytes | None = None,
        since_anchor: bool = False,
    ) -> Chain:
        """Whether the trail is whole; if so, its newest entry is what the next check looks for.

        `anew` forgets the last check, for a Redis that was emptied on purpose; `since_anchor`
        looks only at what has come since.
        """
        chain = verify_chain(
            read, kept=keys.AUDIT_KEPT, anchor=None if anew else self._read(), key=key,
            since_anchor=since_anchor,
        )  # fmt: skip
        if chain.whole and chain.last is not None:
            last = chain.last
            self._write(
                Anchor(
                    number=last.number, seal=last.seal, at=self._clock(),
                    signed_from=chain.signed_from,
                )
            )  # fmt: skip
        return chain

    def _read(self) -> Anchor | None:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Anchor)
        except FileNotFoundError:
            return None
        except (OSError, *UNREADABLE) as error:
            raise Unavailable(f"{self.path} cannot be read: {error}") from None

    def _write(self, anchor: Anchor) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_private_file(self.path, msgspec.json.encode(anchor))
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be written: {error}") from None
