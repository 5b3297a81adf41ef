"""Errors that a person may see, each a sentence that says what to do.

WeirError
├── InvalidInput        a file, field or setting that cannot be accepted
├── NotFound            a cluster, operator or command that is not there
├── Refused             asked for correctly, but not possible now
│   ├── Expired         the request came too late
│   ├── Fenced          somebody with a newer token is in charge
│   └── Busy            too much is asked for at once; later it is possible
└── Unavailable         Redis, Spark or another part cannot be reached
"""

import msgspec

UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError)
"""What comes of decoding a text that somebody else wrote: malformed, of another form, not UTF-8,
nested without end or with numbers beyond all bounds."""


class WeirError(Exception):
    """Base of everything that Weir says to a person; tracebacks go to the log."""


class InvalidInput(WeirError):
    """Input that cannot be accepted; `field` names the part at fault."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotFound(WeirError):
    """A cluster, operator or command that is not there."""


class Refused(WeirError):
    """A correct request that is not possible now."""


class Expired(Refused):
    """The request came too late to be carried out."""


class Fenced(Refused):
    """A newer token exists, so the bearer of this one is no longer in charge."""


class Busy(Refused):
    """Too much of it is asked for at once; this has to wait its turn."""


class Unavailable(WeirError):
    """A part that is needed cannot be reached."""
