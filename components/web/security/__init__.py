"""Who may ask for what: sign-in, sessions, tokens, roles, and the middleware in front."""

from weir.components.web.security.events import SecurityEvent, record
from weir.components.web.security.gate import Gate, cookie_name
from weir.components.web.security.middleware import REFUSED_HOST, REFUSED_ORIGIN, Security
from weir.components.web.security.origin import is_known_host, policy, same_origin
from weir.components.web.security.person import (
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
from weir.metrics.store.users import Role

__all__ = [
    "NOBODY", "REFUSED_HOST", "REFUSED_ORIGIN", "Gate", "NotAllowed", "Person", "Role",
    "Security", "SecurityEvent", "acting_as", "check", "cookie_name", "current_user",
    "declared_role", "is_known_host", "needs", "policy", "record", "require", "same_origin",
]  # fmt: skip
