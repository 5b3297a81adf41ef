"""The Redis that Weir starts asks for a password, which nobody else on the machine sees."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import redis

from tests.support.processes import ROOT
from weir.commands.start import settle
from weir.metrics.store.redis_store import connect
from weir.metrics.store.where import forget_url, keep_url, kept_url
from weir.pipeline.local.redis_server import RedisServer


@pytest.fixture
def server(tmp_path: Path):
    found = RedisServer(tmp_path / 'a "quoted" folder').start()
    yield found
    found.stop()


def test_nobody_gets_in_without_it(server: RedisServer) -> None:
    with pytest.raises(redis.exceptions.AuthenticationError):
        connect(f"redis://127.0.0.1:{server.port}/0").ping()
    assert connect(server.url).ping()


def test_it_stands_in_no_argument_and_no_file_that_others_read(server: RedisServer) -> None:
    assert server.process is not None
    shown = " ".join(psutil.Process(server.process.pid).cmdline())
    assert server.password not in shown
    for file in server.folder.rglob("*"):
        if file.is_file() and server.password in file.read_text(errors="replace"):
            assert file.stat().st_mode & 0o077 == 0, file


def test_data_keep_their_password(server: RedisServer) -> None:
    connect(server.url).set("weir:x", "1")
    server.stop()
    again = RedisServer(server.folder, server.port).start()
    try:
        assert connect(server.url).get("weir:x") == b"1"
    finally:
        again.stop()


def test_commands_of_a_folder_find_its_redis_and_no_other(
    server: RedisServer, tmp_path: Path
) -> None:
    env = {"WEIR_HOME": str(tmp_path / "home")}
    assert keep_url(server.url, env)
    assert (tmp_path / "home" / "redis").stat().st_mode & 0o777 == 0o600
    assert not keep_url("redis://127.0.0.1:1/0", env)  # who was first stays
    forget_url("redis://127.0.0.1:1/0", env)
    settle(env)
    assert env["WEIR_REDIS_URL"] == server.url
    forget_url(server.url, env)
    assert kept_url(env) == ""
    keep_url("redis://127.0.0.1:1/0", env)  # that of one that was killed
    assert kept_url(env) == ""


def weir(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "weir", *words], cwd=ROOT, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", **env}, timeout=600, check=False,
    )  # fmt: skip


def test_a_password_among_the_arguments_is_taken_out_of_them(
    server: RedisServer, tmp_path: Path
) -> None:
    part = subprocess.Popen(
        [sys.executable, "-m", "weir", "generate", "--redis", server.url], cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        store = connect(server.url)
        from tests.support.waiting import wait_until

        wait_until(lambda: store.hlen("weir:parts"), 60, "the generator reports")
        seen = psutil.Process(part.pid)
        family = [seen, *seen.children(recursive=True)]
        assert not [p for p in family if server.password in " ".join(p.cmdline())]
    finally:
        part.terminate()
        part.wait()


def test_what_is_wrong_with_the_address_is_said_in_a_sentence(
    server: RedisServer, tmp_path: Path
) -> None:
    home = {"WEIR_HOME": str(tmp_path / "none")}
    said = weir("status", "--redis", f"127.0.0.1:{server.port}", **home)
    assert (said.returncode, said.stderr.count("\n")) == (2, 1)
    assert "redis://HOST:PORT/0" in said.stderr
    said = weir("status", "--redis", f"redis://127.0.0.1:{server.port}/0", **home)
    assert (said.returncode, said.stderr.count("\n")) == (2, 1)
    assert "password" in said.stderr
    assert "reached" not in said.stderr
    said = weir("status", WEIR_REDIS_URL=server.url, **home)
    assert said.returncode == 0, said.stderr
