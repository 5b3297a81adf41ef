"""Machines that are network namespaces with addresses of their own, for `benchmarks/machines.py`.

    hub 10.77.0.254 --+-- one   10.77.0.1   Redis with a password and TLS, engine, web, generator
     (bridge)         +-- two   10.77.0.2   Spark's master, a worker, a host
                      +-- three 10.77.0.3   a worker, a host

The hub is a namespace of its own too, with nothing else in it: all is gone when it ends.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ADDRESSES = {"one": "10.77.0.1", "two": "10.77.0.2", "three": "10.77.0.3"}
HUB = "10.77.0.254"
ALONE = "WEIR_MACHINES_ALONE"


def alone(module: str) -> None:
    """Begin again in network and mount namespaces of our own, unless this is there already."""
    if os.environ.get(ALONE) == "yes":
        return
    own = ["unshare", "-n", "-m", sys.executable, "-m", module, *sys.argv[1:]]
    os.execvpe(own[0], own, {**os.environ, ALONE: "yes"})


def set_up() -> None:
    """A bridge, and a namespace per machine at the end of a cable of its own."""
    Path("/run/netns").mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "weir", "/run/netns")
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "hub", "type", "bridge")
    _ip("address", "add", f"{HUB}/24", "dev", "hub")
    _ip("link", "set", "hub", "up")
    for name, address in ADDRESSES.items():
        _ip("netns", "add", name)
        _ip("link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", f"to-{name}", "master", "hub", "up")
        _ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")


def within(name: str, argv: Sequence[object]) -> list[str]:
    """A command that runs on that machine."""
    return ["ip", "netns", "exec", name, *map(str, argv)]


def plugged(name: str, there: bool) -> None:
    """Put the machine's cable in, or pull it out."""
    _ip("link", "set", f"to-{name}", "up" if there else "down")


def certificates(folder: Path, address: str) -> tuple[Path, Path, Path]:
    """An authority, and a certificate and key that it made for an address."""
    ca, ca_key = folder / "ca.crt", folder / "ca.key"
    cert, key, asked = folder / "redis.crt", folder / "redis.key", folder / "redis.csr"
    names = folder / "names"
    names.write_text(f"subjectAltName=IP:{address}\n")
    new = ("openssl", "req", "-newkey", "rsa:2048", "-nodes")
    day = ("-days", "1")
    for argv in (
        (*new, "-x509", *day, "-subj", "/CN=authority", "-keyout", ca_key, "-out", ca),
        (*new, "-subj", "/CN=redis", "-keyout", key, "-out", asked),
        ("openssl", "x509", "-req", *day, "-in", asked, "-CA", ca, "-CAkey", ca_key,
         "-CAcreateserial", "-extfile", names, "-out", cert),
    ):  # fmt: skip
        _run(*argv)
    return ca, cert, key


def _ip(*argv: object) -> None:
    _run("ip", *argv)


def _run(*argv: object) -> None:
    words = list(map(str, argv))
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
