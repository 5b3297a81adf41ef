"""What `weir demo` finds out before Spark does."""

import socket

import pytest

from weir.commands.demo import check_localhost
from weir.controllers.model.errors import Unavailable


def test_a_machine_that_does_not_know_localhost_is_told_so_at_once():
    """In a bare Debian root it took two minutes and ended in a traceback of Spark's."""

    def nobody(name: str) -> str:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unavailable, match="add the line"):
        check_localhost(nobody)
    check_localhost(lambda name: "127.0.0.1")
