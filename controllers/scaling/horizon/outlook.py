"""What arrives, what waits, how fast executors come: measured, and kept for the next time."""

from math import exp, log
from struct import Struct as Struct8

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from weir.controllers.model.sample import OperatorSample
from weir.controllers.scaling.base import Memory
from weir.controllers.scaling.facts import ClusterFacts
from weir.controllers.scaling.horizon.batches import BatchTimes
from weir.controllers.scaling.horizon.trials import KEPT_MINUTES, SHAPE, Floats
from weir.controllers.scaling.rates import demands

_COST_FADE_S = 120.0  # a cost per row is averaged over so long
_ERROR_FADE_S = 3600.0
_LOST_FADE_S = 86_400.0
_DOUBLE = Struct8("<d")


class HorizonMemory(Memory, frozen=True, kw_only=True):
    """What was measured so far, and how every way to hold executors has done."""

    since: float | None = None  # first sight of the cluster
    at: float = 0.0  # last look
    batches: BatchTimes = BatchTimes()
    seen: dict[str, int] = {}  # newest batch by operator
    counted: int = 0  # batches seen
    costs: dict[str, float] = {}  # core seconds per row by operator
    minutes: bytes = b""  # highest load of each of the last minutes, in cores
    minute: int = 0  # the one that is filling
    filling: float = 0.0
    error: float = 0.1  # of a load that is taken for the one at the horizon, as a share
    trials: bytes = b""
    weight_h: float = 0.0  # hours that the trials stand for, fading
    need_h: float = 0.0  # executor hours that nobody could do without, fading
    way: int = -1
    asked: int = 0  # at the last look
    present: int | None = None
    changed_at: float | None = None  # last change of what is asked for
    start_s: float | None = None  # until executors work, measured
    lost: int = 0
    lost_per_s: float = 0.0  # executors, per executor
    actions_left: float = 4.0

    def loads(self) -> Floats:
        """The loads of the last minutes and of the one that is filling."""
        kept = self.minutes if len(self.minutes) % 8 == 0 else b""
        found = np.frombuffer(kept + _DOUBLE.pack(self.filling), dtype="<f8")
        return found if bool(np.isfinite(found).all()) else found[-1:]

    @property
    def mean_need(self) -> float:
        """Executors that nobody could do without, on average; 1 where nothing is known."""
        return self.need_h / self.weight_h if self.weight_h > 0.0 else 1.0

    def state(self) -> Floats | None:
        """The trials as an array that may be changed; None where there are none yet."""
        if len(self.trials) != SHAPE[0] * SHAPE[1] * 4:
            return None
        found = np.frombuffer(self.trials, dtype="<f4").reshape(SHAPE).astype(np.float64)
        return found if bool(np.isfinite(found).all()) else None


def encode_trials(state: Floats) -> bytes:
    """The trials as they are kept: half as long as they are in use, and good enough."""
    return state.astype("<f4").tobytes()


class Sight(Struct, frozen=True):
    """The cluster at this moment, in cores and core seconds."""

    load: float  # cores of work that arrive
    queued: float  # core seconds beyond what a batch always finds
    trigger_s: float
    fixed_s: float
    stretch: float
    rows_per_s: float


def measure(
    facts: ClusterFacts, memory: HorizonMemory, start_s: float, now: float
) -> tuple[Sight, HorizonMemory]:
    """The present, and the memory with it in; `start_s` is what executors are said to take."""
    length_s = now - memory.at if memory.since is not None else facts.snapshot.period_s
    length_s = min(max(length_s, 0.0), 3600.0)
    costs, seen = _costs(facts, memory, length_s), {}
    asked = demands(facts.snapshot)
    rates = {o.name: asked[o.name].rows_per_s for o in facts.operators}
    loads = {n: rates[n] * cost for n, cost in costs.items()}
    load = sum(loads.values())
    batches, counted = memory.batches, memory.counted
    for o in facts.operators:
        before = memory.seen.get(o.name)
        if o.batch_id is None:
            continue
        seen[o.name] = o.batch_id
        if o.batch_id == before or not o.processing_s or not o.batch_rows or o.name not in costs:
            continue
        counted += max(1, min(o.batch_id - before, 50)) if before is not None else 1
        share = loads[o.name] / load if load > 0.0 else 1.0
        cores = facts.capacity * max(share, 0.05)
        # A bystander's batch says little, and one over which executors changed says nothing.
        settled = memory.changed_at is None or now - memory.changed_at > 30.0 + o.processing_s
        if share >= 0.3 and settled:
            batches = batches.plus(o.batch_rows * costs[o.name] / cores, o.processing_s)
    main = max(facts.operators, key=lambda o: loads.get(o.name, 0.0), default=None)
    trigger_s = main.trigger_s if main else 0.0
    sight = Sight(
        load=load,
        queued=sum(
            _queued_work(o, rates[o.name], costs.get(o.name, 0.0), batches) for o in facts.operators
        ),
        trigger_s=trigger_s,
        fixed_s=min(batches.fixed_s, 600.0),
        stretch=batches.stretch,
        rows_per_s=sum(rates.values()),
    )
    memory = replace(
        memory,
        since=now if memory.since is None else memory.since,
        at=now,
        batches=batches,
        seen=seen,
        counted=counted,
        costs=costs,
    )
    memory = _executors(_minute(memory, load, now), facts, start_s, now, length_s)
    return sight, memory


def _costs(facts: ClusterFacts, memory: HorizonMemory, length_s: float) -> dict[str, float]:
    keep = exp(-length_s / _COST_FADE_S)
    costs = {}
    for o in facts.operators:
        known, new = memory.costs.get(o.name), o.cost_s_per_row
        if new is None and o.processed_rows_per_s > 0 and o.busy_cores > 0:
            new = o.busy_cores / o.processed_rows_per_s
        if new is not None:
            costs[o.name] = new if known is None else keep * known + (1.0 - keep) * new
        elif known is not None:
            costs[o.name] = known
    return costs


def _queued_work(o: OperatorSample, rate: float, cost: float, batches: BatchTimes) -> float:
    """Core seconds of rows beyond those of a batch that waits and one at work."""
    took = o.processing_s or 0.0
    usual_s = o.trigger_s + min(took, max(o.trigger_s, 2.0 * batches.fixed_s))
    return max(0.0, (o.queue_rows or 0) - rate * usual_s - 1.0) * cost


def _minute(memory: HorizonMemory, load: float, now: float) -> HorizonMemory:
    """The load goes into its minute; a minute that is over is kept, and its surprise too."""
    minute = int(now // 60.0)
    if minute == memory.minute:
        return replace(memory, filling=max(memory.filling, load))
    if not memory.minute:
        return replace(memory, minute=minute, filling=load)
    error = memory.error
    if memory.filling > 1e-9 and load > 1e-9:
        fade = exp(-60.0 / _ERROR_FADE_S)
        error = fade * error + (1.0 - fade) * min(abs(log(load / memory.filling)), 3.0)
    missing = max(1, min(minute - memory.minute, KEPT_MINUTES))
    minutes = (memory.minutes + _DOUBLE.pack(memory.filling) * missing)[-8 * KEPT_MINUTES :]
    return replace(memory, minutes=minutes, minute=minute, filling=load, error=error)


def _executors(
    memory: HorizonMemory, facts: ClusterFacts, said_s: float, now: float, length_s: float
) -> HorizonMemory:
    """When the size changed last, how long executors take to come, how often they are lost."""
    asked, present, lost = facts.executors, facts.cluster.executors, facts.cluster.executors_lost
    changed_at, start_s = memory.changed_at, memory.start_s
    known = memory.present is not None
    if known and asked != memory.asked:
        changed_at = now - length_s  # it was asked for right after the last look
    arrived = known and present > (memory.present or 0) and present >= asked
    if arrived and changed_at is not None:
        # They came between two looks: what was thought before is kept as far as that allows.
        most_s = min(max(now - changed_at, 0.0), 3600.0)
        thought_s = said_s if start_s is None else start_s
        took_s = min(max(thought_s, most_s - length_s), most_s)
        start_s = took_s if start_s is None else 0.7 * start_s + 0.3 * took_s
    lost_per_s = memory.lost_per_s * exp(-length_s / _LOST_FADE_S)
    if known and lost > memory.lost:
        lost_per_s += (lost - memory.lost) / max(present, 1) / _LOST_FADE_S
    return replace(
        memory,
        asked=asked,
        present=present,
        changed_at=changed_at,
        start_s=start_s,
        lost=lost,
        lost_per_s=lost_per_s,
    )
