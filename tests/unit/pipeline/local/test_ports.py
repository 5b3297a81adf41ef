"""Ports that nobody else takes between the look and the use."""

import socket
from pathlib import Path

import pytest

from weir.pipeline.local.ports import LOOPBACK, OURS, free_port, listening

OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_the_usual_port_is_taken_if_it_is_free_else_another() -> None:
    usual = free_port()
    assert free_port(usual) == usual
    with socket.create_server((LOOPBACK, usual)):
        assert listening(usual)
        assert free_port(usual) != usual


@pytest.mark.skipif(not OUTGOING.is_file(), reason="this system does not say which ports it gives")
def test_no_outgoing_connection_is_given_one_of_ours() -> None:
    first, last = map(int, OUTGOING.read_text().split())
    assert not set(OURS) & set(range(first, last + 1))
    assert {free_port() in OURS for _ in range(50)} == {True}
