"""Which clusters need somebody's eye, and which of many are shown in full.

Up to a size the control room shows every cluster in full. A larger one shows all of them in
one overview, and in full only those that need attention most at the moment of drawing.
"""

from collections.abc import Sequence

from msgspec import Struct

from weir.components.live.charts import highest, total
from weir.components.live.figures import load_state
from weir.components.live.world import World, once, stale
from weir.components.pages.control_room.inbox import UNDER_WAY
from weir.components.ui import text
from weir.components.ui.figure import Figure, Figures, State
from weir.components.ui.path import cluster_path
from weir.components.ui.surface import address
from weir.controllers.engine.recommendation import Status
from weir.controllers.model.sample import OperatorSample, OperatorStatus
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.model.words import by_number

MOST_CLUSTERS = 24
MOST_OPERATORS = 120
"""A control room of more than one of these is a large one."""
IN_FULL = 8
"""So many clusters are shown in full on a large one."""
NEAR, FINE = 7, 8
_TROUBLE = (OperatorStatus.FAILED, OperatorStatus.RESTARTING)


class Attention(Struct, frozen=True, kw_only=True):
    """How a cluster stands, in a word; the lower the rank the sooner somebody should look."""

    rank: int
    word: str
    state: State
    load: float

    @property
    def needed(self) -> bool:
        """Whether somebody should look."""
        return self.rank < NEAR


def large(snapshot: Snapshot) -> bool:
    """Whether there is too much to show all of it in full."""
    return len(snapshot.clusters) > MOST_CLUSTERS or len(snapshot.operators) > MOST_OPERATORS


@once
def attention(world: World) -> dict[str, Attention]:
    """Every cluster, by name."""
    known = world.control.recommendations
    asked = {c for r in known if r.status is Status.PROPOSED for c in r.clusters}
    acting = {c for r in known if r.status in UNDER_WAY for c in r.clusters}
    found = {}
    for cluster in world.snapshot.clusters:
        name, operators = cluster.name, world.snapshot.operators_of(cluster.name)
        load = world.snapshot.load(name)
        signs: tuple[tuple[bool, str, State], ...] = (
            (name in world.snapshot.dead or stale(world, name), _no_data(world, name), "bad"),
            (any(o.status in _TROUBLE for o in operators), "failing", "bad"),
            (load > 1.0, "overloaded", "bad"),
            (_late(operators, world.target_latency_s), "late", "bad"),
            (bool(cluster.cut), "too large", "warn"),
            (name in asked, "to decide", "warn"),
            (name in acting, "under way", "warn"),
            (load_state(load) == "warn", "nearly full", "warn"),
            (True, "fine", "ok"),
        )
        rank, (_, word, state) = next((i, s) for i, s in enumerate(signs) if s[0])
        found[name] = Attention(rank=rank, word=word, state=state, load=load)
    return found


def choose_shown(found: dict[str, Attention], most: int = IN_FULL) -> tuple[str, ...]:
    """The clusters to show in full: by need, then by load; those alike in need stand by name.

    >>> a = Attention(rank=FINE, word="fine", state="ok", load=0.5)
    >>> b = Attention(rank=2, word="overloaded", state="bad", load=1.2)
    >>> c = Attention(rank=FINE, word="fine", state="ok", load=0.7)
    >>> choose_shown({"a": a, "b": b, "c": c}, 2), choose_shown({"a": a, "b": b, "c": c}, 3)
    (('b', 'c'), ('b', 'a', 'c'))
    """
    first = sorted(found, key=lambda n: (found[n].rank, -found[n].load, n))[:most]
    return tuple(sorted(first, key=lambda n: (found[n].rank, n)))


def mark_shown(structure: str, snapshot: Snapshot, shown: Sequence[str]) -> str:
    """A page's structure together with the clusters that it shows in full.

    A tab says it back, so its cards stay the same ones until it is drawn again.
    """
    places = {cluster.name: i for i, cluster in enumerate(snapshot.clusters)}
    return f"{structure}.{'-'.join(str(places[name]) for name in shown)}"


def read_shown(drawn: str, snapshot: Snapshot) -> tuple[str, ...]:
    """The clusters that a tab shows in full; none if it has not been drawn as a large one."""
    places = [int(p) for p in drawn.partition(".")[2].split("-") if p.isdecimal()][:IN_FULL]
    return tuple(snapshot.clusters[p].name for p in places if p < len(snapshot.clusters))


@once
def tiles(world: World) -> list[dict[str, str]]:
    """What the overview is built of; its figures come with all others."""
    names = sorted((c.name for c in world.snapshot.clusters), key=by_number)
    return [{"name": name, "href": address(cluster_path(name))} for name in names]


@once
def tile_figures(world: World) -> Figures:
    """State, load and queue of every cluster in the overview."""
    figures: Figures = {}
    for name, seen in attention(world).items():
        base, fill = f"tile/{name}", round(min(seen.load, 1.0), 2)
        waiting = total(o.queue_rows for o in world.snapshot.operators_of(name))
        figures[base] = Figure(seen.word, seen.state)
        figures[f"{base}/load"] = Figure(text.load(seen.load), load_state(seen.load), fill)
        figures[f"{base}/queue"] = Figure(f"queue {text.amount(waiting)}")
    return figures


def attention_figures(found: dict[str, Attention], shown: Sequence[str]) -> Figures:
    """How many clusters need attention, and how many of them are not shown in full."""
    needed = {name for name, seen in found.items() if seen.needed}
    hidden = len(needed - set(shown))
    if not needed:
        return {"all/attention": Figure("No cluster needs attention now.", "ok")}
    verb = "needs" if len(needed) == 1 else "need"
    said = f"{text.plural(len(needed), 'cluster')} {verb} attention now"
    said += f", {hidden} of them not in full below." if hidden else "."
    return {"all/attention": Figure(said, "bad" if hidden else "warn")}


def _no_data(world: World, cluster: str) -> str:
    return "dead" if cluster in world.snapshot.dead else "no data"


def _late(operators: Sequence[OperatorSample], target_latency_s: float) -> bool:
    slowest = highest(o.latency_s for o in operators)
    return slowest is not None and slowest > target_latency_s
