"""Writes a benchmark's section into RESULTS.md, with the command that made it."""

from pathlib import Path

from weir.metrics.lab import sections
from weir.metrics.lab.sections import table

__all__ = ["RESULTS", "table", "write"]

RESULTS = Path(__file__).parent / "RESULTS.md"


def write(name: str, command: str, text: str, path: Path = RESULTS) -> None:
    """Put `text` into the section `name`, in place of an older one of that name."""
    sections.write(name, command, text, path)
