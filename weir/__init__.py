"""Weir: a control room for Spark Structured Streaming.

The folders of this package are links to those at the top of the repository, so that nothing
named `metrics` or `components` lands among a user's own modules.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weir.metrics.agent.agent import attach

__all__ = ["attach"]
__version__ = "0.2.0"
ROOT = Path(__file__).parent.parent
"""The folder from which another process can import this very package."""


def __getattr__(name: str) -> Any:
    """`attach` when it is asked for: the engine and the pages need no PySpark."""
    if name == "attach":
        from weir.metrics.agent.agent import attach

        return attach
    raise AttributeError(f"module 'weir' has no attribute '{name}'")
