"""What a page is made of, as data: charts, figures, panels and structure.

The structure is everything whose change needs the page to be drawn again, e.g.
a new operator. All else is replaced in place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from dash.development.base_component import Component
from msgspec import Struct
from msgspec.structs import replace

from weir.components.live.charts import Chart, points, spec
from weir.components.live.digest import digest
from weir.components.live.health import PartHealth, health, together
from weir.components.live.health_bar import health_bar
from weir.components.live.pause_box import pause_box
from weir.components.live.world import World
from weir.components.ui import ids
from weir.components.ui.figure import Figures
from weir.components.ui.path import Place
from weir.controllers.engine.ports import Store
from weir.controllers.model.sample import ClusterSample

WINDOW_S = 15 * 60.0


class Panel(Struct, frozen=True):
    """A part of a page that is sent whole when its data changes."""

    data: Callable[[World, Place], Any]
    tree: Callable[[Any], Component]


class PointSource(Struct, frozen=True):
    """Points that do not come with a cluster's report."""

    at: Callable[[World], float | None]  # the newest
    points: Callable[[World, int], dict[str, Any]]  # those after a time in ms
    old_after_s: float


class Page(Struct, frozen=True, kw_only=True):
    """One page at one moment."""

    place: Place
    kind: str  # the page to draw: the place's kind, or why it cannot be drawn
    structure: str
    draw: Callable[[World, "Page"], Component]
    panels: Mapping[str, Panel] = {}  # by the id of their region
    clusters: tuple[str, ...] = ()  # whose reports it shows
    charts: tuple[Chart, ...] = ()
    samples: Callable[[World], Sequence[ClusterSample]] | None = None  # if not the cluster's own
    sources: Mapping[str, PointSource] = {}  # by what stands in place of a chart's cluster
    figures: Figures = {}
    drawings: Mapping[str, Any] = {}  # what a script of the page draws, by name
    changes: Mapping[str, Callable[[Any, Any], Any]] = {}  # what differs between two drawings
    first: Mapping[str, Any] = {}  # drawings that come with the page and never change
    large: bool = False  # with so much on it that its tabs are told less often
    span: tuple[float, float] | None = None  # the time shown, where it is not the present
    own: Any = None  # what only its own module knows

    def regions(self, world: World) -> dict[str, Any]:
        """The data of its panels, with those of the header."""
        panels = {**HEADER, **self.panels}
        return {region: panel.data(world, self.place) for region, panel in panels.items()}

    def tree(self, region: str, data: Any) -> Component:
        """A panel as components."""
        return (self.panels.get(region) or HEADER[region]).tree(data)

    def newest(self, world: World) -> dict[str, int]:
        """When the newest points of its series were made, in ms."""
        found = {c: round(s.at * 1000) for c in self.clusters if (s := world.newest(c))}
        for name, source in self.sources.items():
            if (at := source.at(world)) is not None:
                found[name] = round(at * 1000)
        return found

    def first_points(self, world: World) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every chart with the points of the last 15 minutes."""
        since = self.span[0] if self.span else world.at - WINDOW_S
        for chart in self.charts:
            if chart.cluster in self.sources:
                yield spec(chart), self.sources[chart.cluster].points(world, round(since * 1000))
                continue
            samples = self.samples(world) if self.samples else world.series.get(chart.cluster, ())
            yield spec(chart), points(chart, (s for s in samples if s.at >= since))


class Reader(Protocol):
    """Reads what one kind of page needs beyond all others, while somebody looks at it."""

    def look(self, name: str, now: float) -> bool:
        """A tab shows this page; True while what it needs has not been read."""

    def read(self, store: Store, now: float) -> Mapping[str, Any]:
        """What was found, by fields of the `World`."""


class Pages(Protocol):
    """Every page there is."""

    def place(self, path: str | None) -> Place:
        """The page behind an address."""

    def page(self, world: World, path: str | None, drawn: str = "") -> Page:
        """What to show at an address; `drawn` is the structure of the page as a tab has it."""

    def readers(self) -> dict[str, Reader]:
        """New readers, by the kind of page that needs them."""


def make_page(
    place: Place, kind: str, draw: Callable[[World, Page], Component], *facts: object, **parts: Any
) -> Page:
    """A page whose structure follows from its place, its kind and these facts."""
    structure = digest([place.kind, place.name, kind, facts])
    return Page(place=place, kind=kind, structure=structure, draw=draw, **parts)


def _without_times(parts: list[PartHealth]) -> list[PartHealth]:
    """Without the times of parts that are up: those change with every beat."""
    return [replace(p, at=None) if p.state == "up" else p for p in parts]


HEADER = {
    ids.HEALTH: Panel(lambda world, _: _without_times(together(health(world))), health_bar),
    ids.PAUSE: Panel(lambda world, _: world.control.paused, pause_box),
}
"""The panels of every page; they show the present, also during a replay."""
