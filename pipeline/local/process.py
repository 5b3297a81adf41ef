"""Child processes that never outlive their parent."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """On Linux the kernel ends the child when its parent dies, even by kill -9."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def scratch(folder: Path) -> dict[str, str]:
    """Environment of a child whose temporary files, a JVM's too, stay in one folder.

    >>> scratch(Path("x"))["JAVA_TOOL_OPTIONS"]
    '-Djava.io.tmpdir=x -XX:-UsePerfData'
    """
    return {
        "TMPDIR": str(folder),
        "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={folder} -XX:-UsePerfData",
    }


def spawn(
    argv: Sequence[str], log_file: Path, env: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a child in a session of its own (Ctrl-C is its parent's affair), logging to a file."""
    log_file.parent.mkdir(parents=True, exist_ok=True)
    with log_file.open("ab") as log:
        return subprocess.Popen(
            list(argv),
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )


def end(process: "subprocess.Popen[bytes]", grace_s: float = 15.0) -> None:
    """Ask a child to stop, wait, and kill what is left of its session."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def kill(processes: Sequence["subprocess.Popen[bytes]"]) -> float:
    """kill -9 of children and all that they started, at one moment; returns that moment."""
    at = time.time()
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
    for process in processes:
        process.wait()
    return at


def wait_for(
    ready: Callable[[], bool], process: "subprocess.Popen[bytes]", timeout_s: float
) -> bool:
    """Wait until `ready()` is true; False if the child died or the time is over."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError):
            if ready():
                return True
        time.sleep(0.1)
    return False
