"""Two web servers of one Redis have the same users, or the second is refused."""

import time

import pytest

from tests.support.inside import Inside
from weir.commands.web import refuse_other_users
from weir.components.web.presence import _beat_once, users_digest
from weir.controllers.model.errors import Refused
from weir.metrics.store.users import UsersFile


def test_a_second_server_with_other_users_is_refused(inside: Inside, tmp_path) -> None:
    _beat_once(inside.store, "web:first:1", time.time(), users_digest(inside.users))
    refuse_other_users(inside.redis_url, inside.users)
    with pytest.raises(Refused, match="--users"):
        refuse_other_users(inside.redis_url, UsersFile(tmp_path / "others.json"))
