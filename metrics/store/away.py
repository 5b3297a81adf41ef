"""Saying that a store is away: once, not at every try, and once more when it is back."""

import logging


class AwayLog:
    """Writes to a log when the answers of a store end, when the reason is another, and when they
    begin again.

    >>> import sys
    >>> log = logging.Logger("doctest")
    >>> log.addHandler(logging.StreamHandler(sys.stdout))
    >>> away = AwayLog(log, "Redis is away")
    >>> for error in ("refused", "refused", "no memory", None, None):
    ...     away.note(error and OSError(error))
    Redis is away: refused
    Redis is away: no memory
    Redis is away no longer
    """

    def __init__(self, log: logging.Logger, words: str) -> None:
        self._log = log
        self._words = words
        self._why = ""

    def note(self, error: Exception | None) -> None:
        """How it answered: with this error, or as it should."""
        why = str(error) or type(error).__name__ if error else ""
        if why and why != self._why:
            self._log.warning("%s: %s", self._words, why)
        elif self._why and not why:
            self._log.warning("%s no longer", self._words)
        self._why = why
