"""Applications that can be run as a demonstration: rows that are made, operators that read them.

Each is a module of this folder with an `APPLICATION`, found by itself; `weir demo --workload
NAME` runs it.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

import weir.pipeline.workloads
from weir.controllers.model.errors import InvalidInput
from weir.pipeline.edges.link import Link

DEFAULT = "top_n"


@dataclass(frozen=True)
class Application:
    """One of them."""

    name: str
    title: str
    origin: str  # where it comes from and what it does, in a paragraph
    source: Link  # where its rows begin
    rows: Callable[[int, int, float], pa.Array]  # texts of rows first, first + 1, ... at a skew
    skew: float  # of its keys, unless somebody asks for another
    module: str  # that declares its operators
    places: Mapping[str, tuple[str, ...]]  # cluster of the demonstration -> operators at first
    expected: Callable[[Iterable[str]], dict[str, int]]  # what stands at its end after these texts
    counted: Callable[[str], dict[str, int]]  # what stands there now, in this Redis
    sliced: str = ""  # the operator that can run as slices, if any
    rows_per_s: float = 100.0  # of the demonstration, at first
    most_rows_per_s: float = 250.0  # and where its ramp ends


def applications() -> dict[str, Application]:
    """All of them, by name."""
    found = {}
    for info in pkgutil.iter_modules(weir.pipeline.workloads.__path__):
        module = importlib.import_module(f"weir.pipeline.workloads.{info.name}")
        application = getattr(module, "APPLICATION", None)
        if application is not None:
            found[application.name] = application
    return found


def application(name: str) -> Application:
    """The one of that name."""
    found = applications()
    if name not in found:
        raise InvalidInput(
            f"there is no workload '{name}'; known: {', '.join(sorted(found))}", field="workload"
        )
    return found[name]
