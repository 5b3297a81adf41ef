"""Why an executor went: asked to, or lost."""

import re

_ASKED_FOR = re.compile(
    r"(?i)decommission|killed by driver|explicit termination|idle|finished|code 0\b"
)


def is_loss(reason: str | None) -> bool:
    """Whether an executor went without being asked to, by the reason that Spark gives.

    That a reason names the driver says nothing: why a connection broke stands in the driver's
    log.

    >>> is_loss("Executor decommission: scaled in by Weir"), is_loss("worker lost")
    (False, True)
    """
    return not _ASKED_FOR.search(reason or "")
