"""Who may ask for what: sign-in, sessions, tokens, roles, and the middleware in front."""

from components.security.events import SecurityEvent, record
from components.security.gate import Gate, cookie_name
from components.security.middleware import REFUSED_HOST, REFUSED_ORIGIN, Security
from components.security.origin import known_host, policy, same_origin
from components.security.person import (
    NOBODY,
    NotAllowed,
    Person,
    acting_as,
    check,
    current_user,
    declared_role,
    needs,
    require,
)
from metrics.users import Role

__all__ = [
    "NOBODY", "REFUSED_HOST", "REFUSED_ORIGIN", "Gate", "NotAllowed", "Person", "Role",
    "Security", "SecurityEvent", "acting_as", "check", "cookie_name", "current_user",
    "declared_role", "known_host", "needs", "policy", "record", "require", "same_origin",
]  # fmt: skip
