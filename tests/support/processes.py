"""Processes that tests start; none of them outlives the tests, even if those are killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.pipeline.local.process import die_with_parent

ROOT = Path(__file__).resolve().parents[2]
GRACE_S = 120.0


def weir(*args: object) -> list[str]:
    """The command line of one of Weir's commands."""
    return [sys.executable, "-m", "weir", *map(str, args)]


def start(
    argv: list[str],
    log_file: Path | None = None,
    env: Mapping[str, str] | None = None,
    **more: Any,
) -> "subprocess.Popen[bytes]":
    """Start it, in the project's folder if no other is given; what it says goes to the file, or nowhere."""
    log: Any = log_file.open("ab") if log_file else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            argv, env={**os.environ, **(env or {})}, preexec_fn=die_with_parent,
            **{"cwd": ROOT, "stdout": log, "stderr": log, **more},
        )  # fmt: skip
    finally:
        if log_file:
            log.close()


def stop(process: "subprocess.Popen[bytes]", number: int = signal.SIGTERM) -> int:
    """Ask it to end, kill it if it does not; the exit code. One that is suspended wakes up."""
    if process.poll() is None:
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


def last_lines(log_file: Path, count: int = 12) -> str:
    """The end of what a process said."""
    try:
        return "\n".join(log_file.read_text(errors="replace").splitlines()[-count:])
    except FileNotFoundError:
        return "(nothing)"
