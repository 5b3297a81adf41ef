"""What the engine looks at in one cycle, read from the store in one go."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from weir.controllers.balancing.base import planners
from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.deaths import find_deaths
from weir.controllers.engine.guard.case import Case
from weir.controllers.engine.guard.rules import (
    ENGINE,
    Criteria,
    EngineSettings,
    GuardSettings,
    criteria_group,
    guard_group,
)
from weir.controllers.engine.judge.figures import since_recent
from weir.controllers.engine.judge.verification import TrackRecord, track_record
from weir.controllers.engine.ports import Commands, Store
from weir.controllers.engine.propose.balance import (
    BALANCE,
    BalanceSettings,
    names_in,
    planner_group,
)
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.rings import RESLICE, ResliceSettings, ring_group
from weir.controllers.engine.propose.scaling import ScaleOutlook, ScaleSettings, scale_group
from weir.controllers.engine.recommendation import Recommendation, Status
from weir.controllers.engine.stored import read_leniently
from weir.controllers.model.age import age_s
from weir.controllers.model.command import Command, CommandResult, CommandStatus, ScaleTo
from weir.controllers.model.decision import Scale
from weir.controllers.model.failover import FAILOVER, Death, FailoverSettings
from weir.controllers.model.hosting import CLUSTERS, ClusterSettings, HostOrder, HostState
from weir.controllers.model.placement import Placement
from weir.controllers.model.sample import ClusterSample, Mode
from weir.controllers.model.shares import ShareSettings, share_group
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.placement.base import ring_planners

LOOK_BACK = 1000
"""How many recommendations that count are read for track records and budgets."""
ATTEMPTS = 20
"""How often a command is given again because another engine has taken the lead."""
Told = tuple[Command, CommandResult]


class Facts(Struct, frozen=True, kw_only=True):
    """The world, what people set, and what is under way."""

    snapshot: Snapshot
    token: int  # of the leader that reads this
    latest: Sequence[ClusterSample] = ()
    samples: Mapping[str, Sequence[ClusterSample]] = {}  # of the last minutes, oldest first
    modes: Mapping[str, Mode] = {}
    engine: EngineSettings = EngineSettings()
    failover: FailoverSettings = FailoverSettings()
    balance: BalanceSettings = BalanceSettings()
    planners: Mapping[str, Mapping[str, Any]] = {}  # planner -> its own settings
    guards: Mapping[str, GuardSettings] = {}
    criteria: Mapping[str, Criteria] = {}
    scaling: Mapping[str, ScaleSettings] = {}
    shares: Mapping[str, ShareSettings] = {}
    own: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}  # cluster -> scaler -> settings
    recommendations: Sequence[Recommendation] = ()  # that count or are open, newest first
    rebalances: Sequence[Rebalance] = ()
    placements: Mapping[str, Placement] = {}
    slicings: Mapping[str, Slicing] = {}
    reslicings: Sequence[Reslicing] = ()
    reslicing: ResliceSettings = ResliceSettings()
    ring_planners: Mapping[str, Mapping[str, Any]] = {}  # ring planner -> its own settings
    host_orders: Mapping[str, HostOrder] = {}
    clusters: ClusterSettings = ClusterSettings()
    launcher: bool = False  # somebody is there to start and end hosts
    deaths: Mapping[str, Death] = {}  # clusters that are dead now
    deaths_known: Sequence[Death] = ()  # as they were kept last
    commands: Mapping[str, Told] = {}  # of what is being applied, by id
    outlook: Outlook | None = None
    outlooks: Mapping[str, ScaleOutlook] = {}
    memories: Mapping[str, Mapping[str, bytes]] = {}  # of the clusters that are due

    def case(self, recommendation: Recommendation, now: float) -> Case:
        """What the guards look at."""
        names = recommendation.clusters
        return Case(
            recommendation=recommendation,
            snapshot=self.snapshot,
            now=now,
            engine=self.engine,
            failover=self.failover,
            settings=self.guards,
            scaling=self.scaling,
            others=self.recommendations,
            rebalances=self.rebalances,
            fresh_periods={n: len(self.recent(n, now)) for n in names},
            asked={n: self.outlooks[n].asked for n in names if n in self.outlooks},
        )

    def recent(self, cluster: str, now: float, since: float | None = None) -> list[ClusterSample]:
        """Its samples of the last ten periods, or since a time."""
        samples = self.samples.get(cluster, ())
        if since is None:
            since = now - 10 * max(self.snapshot.period_s, 1.0)
        return [s for s in samples if s.at > since]

    def lately(self, clusters: Iterable[str], now: float) -> dict[str, list[ClusterSample]]:
        """The samples that stand for "now": one alone says little."""
        since = since_recent(self.snapshot)
        return {name: self.recent(name, now, since=since) for name in clusters}

    def track(self, cluster: str, source: str) -> TrackRecord:
        """The record of a method on a cluster."""
        return track_record(self.recommendations, cluster, source)


def clusters_due(snapshot: Snapshot, outlooks: Mapping[str, ScaleOutlook]) -> list[str]:
    """Clusters with a period that their scalers have not seen yet."""
    found = []
    for cluster in snapshot.clusters:
        last = outlooks.get(cluster.name)
        sample_at = snapshot.at - cluster.heartbeat_age_s
        # One that was seen of a later time is from before the clock was set back.
        if last is None or abs(sample_at - last.sample_at) > 1e-3:
            found.append(cluster.name)
    return found


def read_facts(
    store: Store,
    now: float,
    token: int,
    *,
    outlook: Outlook | None,
    outlooks: Mapping[str, ScaleOutlook],
    watched_s: float = inf,
    before: Facts | None = None,
) -> Facts:
    """Everything but samples and memories; the views are the caller's own. `watched_s` is for
    how long the caller has looked without a gap: without such a time nobody is declared dead.

    `before` is an earlier look of the same cycle: what clusters reported stays as it was then, as
    reading it is the larger part of a look, and only what may have been written since is read.
    """
    if before is not None and before.snapshot.at == now:
        latest, snapshot = before.latest, before.snapshot
    else:
        latest = store.latest()
        snapshot = Snapshot.of(latest, now)
    recommendations = store.record(limit=LOOK_BACK)
    settings = store.all_settings()
    names = [c.name for c in snapshot.clusters]
    placements = store.placements()
    failover = read_leniently(FailoverSettings, settings.get(FAILOVER, {}))
    known = store.deaths()
    orders = store.host_orders()
    deaths = find_deaths(store, snapshot, placements, failover, now, watched_s, known)
    for name, order in orders.items():
        if order.wanted is HostState.ENDED:  # it goes because it was told to
            deaths.pop(name, None)
    dead = tuple(deaths)
    return Facts(
        snapshot=snapshot if snapshot.dead == dead else replace(snapshot, dead=dead),
        token=token,
        latest=latest,
        modes=store.modes(),
        engine=read_leniently(EngineSettings, settings.get(ENGINE, {})),
        failover=failover,
        balance=_balance(settings, orders),
        planners=_planners(settings),
        guards={n: read_leniently(GuardSettings, settings.get(guard_group(n), {})) for n in names},
        criteria={n: read_leniently(Criteria, settings.get(criteria_group(n), {})) for n in names},
        scaling={n: read_leniently(ScaleSettings, settings.get(scale_group(n), {})) for n in names},
        shares={n: read_leniently(ShareSettings, settings.get(share_group(n), {})) for n in names},
        own=_own(settings),
        recommendations=recommendations,
        rebalances=store.rebalances(),
        placements=placements,
        slicings=store.slicings(),
        reslicings=store.reslicings(),
        reslicing=read_leniently(ResliceSettings, settings.get(RESLICE, {})),
        ring_planners={n: settings.get(ring_group(n), {}) for n in ring_planners()},
        host_orders=orders,
        clusters=read_leniently(ClusterSettings, settings.get(CLUSTERS, {})),
        launcher=any(p.kind == "launcher" and age_s(p.at, now) < 10.0 for p in store.parts()),
        deaths=deaths,
        deaths_known=known,
        commands=_commands(store, recommendations, token),
        outlook=outlook,
        outlooks=outlooks,
    )


def command_id(recommendation_id: str, number: int) -> str:
    """The command of a recommendation; a further one only where an agent refused the last."""
    return recommendation_id if number == 0 else f"{recommendation_id}~{number}"


def is_passed_over(recommendation: Recommendation, told: Told, token: int) -> bool:
    """Not the order of this recommendation, or refused since another engine led by then.

    Only engines fence, so what a person sent under the same id is no order. A command that
    an agent refuses from the engine that leads now would be refused again.
    """
    command, result = told
    decision = recommendation.decision
    if not isinstance(decision, Scale) or command.fence is None:
        return True
    ordered = (decision.cluster, ScaleTo(executors=decision.executors))
    fenced_off = result.status is CommandStatus.REFUSED and command.fence < token
    return fenced_off or (command.cluster, command.action) != ordered


def _balance(settings: Mapping[str, Any], orders: Mapping[str, HostOrder]) -> BalanceSettings:
    """What people set; a cluster that is to end is to be emptied, whoever ordered it."""
    kept = read_leniently(BalanceSettings, settings.get(BALANCE, {}))
    ending = {n for n, o in orders.items() if o.wanted is not HostState.RUNNING}
    names = ending | names_in(kept.draining_clusters)
    return replace(kept, draining_clusters=", ".join(sorted(names))) if ending else kept


def _planners(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By planner, what people set; what no longer fits is left out."""
    kept = {n: (kind, settings.get(planner_group(n))) for n, kind in planners().items()}
    return {
        n: asdict(read_leniently(kind.Settings, values))
        for n, (kind, values) in kept.items()
        if values
    }


def _own(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, values in settings.items():
        head, _, rest = name.partition(":")
        cluster, _, scaler = rest.partition(":")
        if head == "scale" and scaler:
            found.setdefault(cluster, {})[scaler] = values
    return found


def _commands(
    store: Commands, recommendations: Sequence[Recommendation], token: int
) -> dict[str, Told]:
    """Commands of what is being applied, with every further attempt."""
    found: dict[str, Told] = {}
    for recommendation in recommendations:
        if recommendation.status is not Status.APPLYING:
            continue
        if not isinstance(recommendation.decision, Scale):
            continue
        for number in range(ATTEMPTS):
            told = store.command(command_id(recommendation.id, number))
            if told is None:
                break
            found[told[0].id] = told
            if not is_passed_over(recommendation, told, token):
                break
    return found
