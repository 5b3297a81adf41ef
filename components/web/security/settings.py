"""The options of sign-in, each declared once. The web processes get them by environment."""

import ipaddress
import os
from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build, setting
from weir.metrics.store.users import Role

DEFAULT_USERS = ".weir/users.json"
PREFIX = "WEIR_"


class SignInSettings(Struct, frozen=True, kw_only=True):
    """How people and programs are let in."""

    users: Annotated[str, setting("File of users and tokens")] = DEFAULT_USERS
    session_idle_s: Annotated[
        float, setting("A session ends after so long without a request", ge=1, unit="s")
    ] = 12 * 3600.0
    session_max_s: Annotated[
        float, setting("A session ends after this, however busy", ge=1, unit="s")
    ] = 7 * 86400.0
    link_s: Annotated[float, setting("How long a one-time link opens", ge=1, unit="s")] = 86400.0
    failures_user: Annotated[int, setting("Failed sign-ins until a name is locked", ge=1)] = 5
    failures_address: Annotated[
        int, setting("Failed sign-ins until an address is locked", ge=1)
    ] = 20
    lock_s: Annotated[
        float, setting("First lock; each further failure doubles it", ge=0, unit="s")
    ] = 30.0
    lock_most_s: Annotated[float, setting("Longest lock", ge=0, unit="s")] = 3600.0
    trust_header: Annotated[
        str, setting("Header in which an authenticating proxy names the user")
    ] = ""
    trusted_proxies: Annotated[str, setting("Addresses or networks of such proxies, by comma")] = ""
    trust_role: Annotated[
        str, setting("Role of users whom only the proxy knows; empty: refused")
    ] = ""

    def __post_init__(self) -> None:
        """A header that anybody could send must not be trusted by mistake."""
        if self.trust_header and not self.trusted_proxies.strip():
            raise InvalidInput(
                "--trust-header needs --trusted-proxy: whose header should be believed?",
                field="trusted_proxies",
            )
        if self.trust_role and self.trust_role not in list(Role):
            raise InvalidInput(f"a role is one of {', '.join(Role)}", field="trust_role")
        self.networks()

    def networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The proxies that are believed.

        >>> SignInSettings(trusted_proxies="10.0.0.0/8").networks()
        (IPv4Network('10.0.0.0/8'),)
        """
        names = [n.strip() for n in self.trusted_proxies.split(",") if n.strip()]
        try:
            return tuple(ipaddress.ip_network(n, strict=False) for n in names)
        except ValueError:
            raise InvalidInput(
                "a trusted proxy is an address or a network such as 10.0.0.0/8",
                field="trusted_proxies",
            ) from None


def from_env(env: Mapping[str, str] = os.environ) -> SignInSettings:
    """As a web process was told.

    >>> from_env({"WEIR_SESSION_IDLE_S": "60"}).session_idle_s
    60.0
    """
    names = SignInSettings.__struct_fields__
    return build(
        SignInSettings, {n: env[PREFIX + n.upper()] for n in names if env.get(PREFIX + n.upper())}
    )


def to_env(settings: SignInSettings) -> dict[str, str]:
    """The environment that says the same, only what differs from the defaults."""
    default = SignInSettings()
    env = {
        PREFIX + n.upper(): str(getattr(settings, n))
        for n in SignInSettings.__struct_fields__
        if getattr(settings, n) != getattr(default, n)
    }
    if settings.trusted_proxies:
        # gunicorn believes X-Forwarded-Proto of these: it decides whether cookies are Secure.
        names = [str(network) for network in settings.networks()]
        env["FORWARDED_ALLOW_IPS"] = ",".join(["127.0.0.1", "::1", *names])
    return env
