"""Work on runs in a process of its own: it outlives the web worker that began it."""

import subprocess
import sys
import time
from pathlib import Path

import weir


def begin(module: str, folder: Path, root: Path, log: Path | None = None) -> int:
    """Start `python -m MODULE FOLDER ROOT`; what it prints goes to `log`. Its number."""
    with open(log or "/dev/null", "wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", module, str(folder), str(root)],
            cwd=weir.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    # The system shows its words a moment after it has begun: until then it would count as ended.
    while process.poll() is None and _words(process.pid) == [b""]:
        time.sleep(0.001)
    return process.pid


def is_running(pid: int, module: str, folder: Path) -> bool:
    """Whether the process is there and is ours: process numbers are reused."""
    words = _words(pid)
    return module.encode() in words and str(folder).encode() in words


def _words(pid: int) -> list[bytes]:
    """What a process was started with; nothing where the system does not say."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
