"""A moment of a recorded run as the world that every page is drawn from."""

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from urllib.parse import parse_qs, unquote

from msgspec import Struct
from msgspec.structs import replace

from weir.components.live.control import Control
from weir.components.live.world import World, world_of
from weir.components.pages.balance.view import state as balance_state
from weir.components.pages.recommendation.view import span
from weir.components.pages.replay.scaling import Shadow, shadow_at
from weir.components.ui.path import REPLAY
from weir.controllers.balancing.base import planner
from weir.controllers.engine.judge.verification import track_records
from weir.controllers.engine.propose.balance import BalanceSettings, problem_now, why_wait
from weir.controllers.engine.propose.outlook import outlook
from weir.controllers.model.sample import ClusterSample
from weir.controllers.model.snapshot import Snapshot
from weir.metrics.runs.actions import as_of
from weir.metrics.runs.replay import RecordedRun

WINDOW_S = 15 * 60.0
SHOWN = 30
DISTANCE_STEP_S = 10.0


class PastPage(Struct, frozen=True):
    """Which run, and the address of the page as it would be live."""

    run: str
    path: str


def past_of(path: str | None) -> PastPage | None:
    """The run and page behind an address; None for addresses of the present.

    >>> past_of("/replay/live-1/cluster/wide%20one")
    PastPage(run='live-1', path='/cluster/wide%20one')
    >>> past_of("/replay/live-1").path, past_of("/cluster/wide")
    ('/', None)
    """
    if not (path or "").startswith(REPLAY):
        return None
    run, _, rest = (path or "")[len(REPLAY) :].partition("/")
    return PastPage(unquote(run), f"/{rest}")


def moment_of(search: str | None, run: RecordedRun) -> tuple[float, str]:
    """The moment that an address names, its end if it names none; and what is wrong with it."""
    given = parse_qs((search or "").lstrip("?")).get("at", [""])[0]
    if not given:
        return run.info.last_at, ""
    try:
        at = float(given) / 1000
    except ValueError:
        at = nan
    if at != at:
        return run.info.last_at, (
            f"The address asks for the moment “{given[:40]}”, which is none; this is the run's end."
        )
    found = within(run, at)
    # Addresses are in whole milliseconds, a run's ends need not be.
    if abs(found - at) <= 0.001:
        return found, ""
    side, end = ("before it begins", "beginning") if at < found else ("after it ends", "end")
    return found, f"The address asks for a moment of this run {side}; this is its {end}."


def within(run: RecordedRun, at: float) -> float:
    """The moment itself, or the nearest one that the run has."""
    if at != at:  # NaN
        return run.info.last_at
    return min(max(at, run.info.first_at), run.info.last_at)


def world_at(run: RecordedRun, at: float, target_latency_s: float) -> World:
    """Everything that a page would have shown at that moment, but for the parts' health."""
    series: dict[str, Sequence[ClusterSample]] = {}
    for name in run.names:
        samples: Sequence[ClusterSample] = run.samples(name, at - WINDOW_S, at)
        if not samples:  # silent for longer than the window: shown as silent, not as gone
            last = run.before(name, at)
            samples = [last] if last is not None else []
        if samples:
            series[name] = samples
    then = run.settings.then(at)
    recommendations = tuple(as_of(run.actions, "recommendation", at))
    seen = {name: samples[-1].cluster.mode for name, samples in series.items()}
    return world_of(
        series,
        at=at,
        run=run,
        redis_address="a recorded run",
        target_latency_s=target_latency_s,
        commands=as_of(run.actions, "command", at)[:SHOWN],
        rebalances=as_of(run.actions, "rebalance", at)[:SHOWN],
        control=Control(
            recommendations=recommendations[:SHOWN],
            tracks=track_records(recommendations),
            modes=then.modes if then.recorded else seen,
            settings=then.engine,
        ),
        balance=then.balance,
        scale_settings=then.of_scaling,
    )


def with_outlook(world: World) -> World:
    """The same with what every planner would have done then, and the load distance before."""
    settings = world.balance
    recent = _since(world.series, world.at - settings.window_s)
    problem = problem_now(world.snapshot, recent, settings, world.rebalances)
    wait = why_wait(world.snapshot, problem, world.rebalances, settings, world.at)
    view = outlook(problem, world.at, wait=wait, chosen=settings.planner, auto=False)
    ready = replace(world, outlook=view)
    if balance_state(ready) != "ready":
        return ready
    return replace(world, outlook=replace(view, distance=_distances(world, settings)))


def with_recommendation(world: World, run: RecordedRun, recommendation_id: str) -> World:
    """The same with a recommendation however old, and the series around it up to the moment."""
    known = as_of(run.actions, "recommendation", world.at)
    found = next((r for r in known if r.id == recommendation_id), None)
    if found is None:
        return world
    shown = replace(world, control=replace(world.control, fetched=found))
    first, last = span(found)
    if world.at - first <= WINDOW_S:
        return shown
    until = min(last, world.at)
    around = {name: run.samples(name, first, until) for name in found.clusters}
    return replace(shown, series={**world.series, **around})


def with_scaling(world: World, run: RecordedRun, clusters: Iterable[str]) -> World:
    """The same with what every scaler would have said of these clusters then."""
    return with_shadows(world, {name: shadow_at(run, name, world.at) for name in clusters})


def with_shadows(world: World, shadows: Mapping[str, Shadow]) -> World:
    """The same with these answers of the scalers."""
    return replace(
        world,
        scale_outlooks={n: s.outlook for n, s in shadows.items() if s.outlook is not None},
        memories={n: s.memories for n, s in shadows.items()},
    )


def _distances(world: World, settings: BalanceSettings) -> tuple[tuple[float, float], ...]:
    """The load distance over the window, on moments that do not depend on the present one."""
    first = min(s[0].at for s in world.series.values())
    step = max(DISTANCE_STEP_S, world.snapshot.period_s)
    number = int(first // step) + 1
    found: list[tuple[float, float]] = []
    nothing = planner("no_op")
    while number * step <= world.at:
        at = number * step
        newest = [s for series in world.series.values() if (s := _before(series, at))]
        snapshot = Snapshot.of(newest, at)
        problem = problem_now(snapshot, {}, settings)
        told = bool(found) or all(o.batch_id is not None for o in snapshot.operators)
        if len(problem.bins) > 1 and told and not problem.unknown:
            found.append((at, nothing.plan(problem).before.load_distance))
        number += 1
    return tuple(found)


def _before(series: Sequence[ClusterSample], at: float) -> ClusterSample | None:
    low, high = 0, len(series)
    while low < high:
        middle = (low + high) // 2
        if series[middle].at <= at:
            low = middle + 1
        else:
            high = middle
    return series[low - 1] if low else None


def _since(
    series: Mapping[str, Sequence[ClusterSample]], since: float
) -> dict[str, list[ClusterSample]]:
    return {name: [s for s in samples if s.at >= since] for name, samples in series.items()}
