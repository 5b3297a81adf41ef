"""Free ports on the loopback interface."""

import random
import socket

LOOPBACK = "127.0.0.1"
OURS = range(20_000, 32_000)
"""Below those that systems give to outgoing connections: one of these could take a port between
the look and its use."""


def free_port(usual: int = 0) -> int:
    """The usual port if it is free, else any free one."""
    for port in ([usual] if usual else []) + random.SystemRandom().sample(OURS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise OSError("no free port on the loopback interface")


def listening(port: int) -> bool:
    """Does anybody accept connections there?"""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((LOOPBACK, port)) == 0
