"""Requests in the name of whoever is asking now, by page or by API."""

import time
from typing import Any

from weir.components.web.security import current_user
from weir.controllers.service import Request
from weir.controllers.service.request import COMMENT_MOST


def request(comment: Any = "", id: str | None = "") -> Request:
    """A request of the present person; `id` is fixed before the click, so that a second click
    is the same request."""
    person = current_user()
    return Request(
        by=person.name, at=time.time(), address=person.address,
        comment=str(comment or "")[:COMMENT_MOST], id=id or "",
    )  # fmt: skip
