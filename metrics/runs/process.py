"""Work on runs in a process of its own: it outlives the web worker that began it."""

import subprocess
import sys
from pathlib import Path

import weir


def begin(module: str, folder: Path, root: Path, log: Path | None = None) -> int:
    """Start `python -m MODULE FOLDER ROOT`; what it prints goes to `log`. Its number."""
    with open(log or "/dev/null", "wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", module, str(folder), str(root)],
            cwd=weir.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        ).pid


def is_running(pid: int, module: str, folder: Path) -> bool:
    """Whether the process is there and is ours: process numbers are reused."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return module.encode() in words and str(folder).encode() in words
