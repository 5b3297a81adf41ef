"""Files that are replaced whole: whoever reads one finds what it was or what it is, never half."""

import contextlib
import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Write it beside its place, hidden, and rename."""
    beside = path.with_name(f".{path.name}-{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def replace_private_file(path: Path, content: bytes) -> None:
    """The same for what only its owner may read and what must survive a power cut; mkstemp takes
    care of the former."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
