"""Free ports on the loopback interface."""

import socket

LOOPBACK = "127.0.0.1"


def free_port(usual: int = 0) -> int:
    """The usual port if it is free, else any free one."""
    for port in (usual, 0) if usual else (0,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on the loopback interface")


def listening(port: int) -> bool:
    """Does anybody accept connections there?"""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((LOOPBACK, port)) == 0
