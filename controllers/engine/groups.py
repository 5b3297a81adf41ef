"""Every group of settings with its Struct: the one list for pages, API and checks."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from weir.controllers.balancing.base import planner, planners
from weir.controllers.engine.guard.rules import (
    ENGINE,
    RECORD,
    Criteria,
    EngineSettings,
    GuardSettings,
    RecordSettings,
    criteria_group,
    guard_group,
)
from weir.controllers.engine.propose.balance import BALANCE, BalanceSettings, planner_group
from weir.controllers.engine.propose.rings import RESLICE, ResliceSettings, ring_group
from weir.controllers.engine.propose.scaling import ScaleSettings, scale_group, scaler_group
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.failover import FAILOVER, FailoverSettings
from weir.controllers.model.hosting import CLUSTERS, ClusterSettings
from weir.controllers.model.settings import build
from weir.controllers.model.shares import ShareSettings, read_weights, share_group
from weir.controllers.placement.base import ring_planner, ring_planners
from weir.controllers.scaling.base import Scope
from weir.controllers.scaling.registry import create, scaler_type, scalers


class Group(Struct, frozen=True, kw_only=True):
    """One group of settings, for a page or the command line."""

    name: str
    title: str
    kind: type[Struct]
    cluster: str = ""  # empty: for all


def groups(clusters: Iterable[str]) -> list[Group]:
    """All groups: the general ones, then those of each cluster."""
    found = [
        Group(name=ENGINE, title="Engine", kind=EngineSettings),
        Group(name=BALANCE, title="Balancing", kind=BalanceSettings),
        Group(name=FAILOVER, title="Failover", kind=FailoverSettings),
        Group(name=CLUSTERS, title="Clusters", kind=ClusterSettings),
        Group(name=RECORD, title="Recording", kind=RecordSettings),
        *(
            Group(name=planner_group(name), title=kind.label, kind=kind.Settings)
            for name, kind in planners().items()
            if fields(kind.Settings)
        ),
        Group(name=RESLICE, title="Re-slicing", kind=ResliceSettings),
        *(
            Group(name=ring_group(name), title=ring.label, kind=ring.Settings)
            for name, ring in ring_planners().items()
            if fields(ring.Settings)
        ),
    ]
    for cluster in clusters:
        own: list[tuple[str, str, type[Struct]]] = [
            (scale_group(cluster), "Scaling", ScaleSettings),
            (guard_group(cluster), "Guards", GuardSettings),
            (criteria_group(cluster), "Automatic within criteria", Criteria),
            (share_group(cluster), "Shares of the cores", ShareSettings),
            *(
                (scaler_group(cluster, name), kind.title, kind.settings_type)
                for name, kind in scalers().items()
            ),
        ]
        found += [Group(name=n, title=t, kind=k, cluster=cluster) for n, t, k in own]
    return found


def settings_type(name: str) -> type[Struct]:
    """The Struct of a group.

    >>> settings_type("guards:wide").__name__, settings_type("scale:wide:drs").__name__
    ('GuardSettings', 'DrsSettings')
    >>> settings_type("balance:albic").__name__
    'AlbicSettings'
    """
    head, _, rest = name.partition(":")
    general: dict[str, type[Struct]] = {
        ENGINE: EngineSettings, FAILOVER: FailoverSettings, CLUSTERS: ClusterSettings, RECORD: RecordSettings,
    }  # fmt: skip
    if name in general:
        return general[name]
    if head == BALANCE:
        return type(planner(rest)).Settings if rest else BalanceSettings
    if head == RESLICE:
        return type(ring_planner(rest)).Settings if rest else ResliceSettings
    cluster, _, scaler = rest.partition(":")
    if head == "scale" and cluster:
        return scaler_type(scaler).settings_type if scaler else ScaleSettings
    own: dict[str, type[Struct]] = {
        "guards": GuardSettings, "criteria": Criteria, "shares": ShareSettings,
    }  # fmt: skip
    if head in own and cluster and not scaler:
        return own[head]
    raise NotFound(f"there are no settings '{name}'")


def check_settings(name: str, values: Mapping[str, Any]) -> Struct:
    """The settings that these values make, or a sentence on what is wrong with them."""
    settings = build(settings_type(name), values)
    if isinstance(settings, ScaleSettings):
        scaler_type(settings.scaler)
        if 0 < settings.max_executors < settings.min_executors:
            raise InvalidInput("max_executors is below min_executors", field="max_executors")
    if isinstance(settings, BalanceSettings):
        planner(settings.planner)
    if isinstance(settings, ShareSettings):
        read_weights(settings.weights)
    if isinstance(settings, ResliceSettings):
        ring_planner(settings.planner)
    _, cluster, scaler = (*name.split(":"), "", "")[:3]
    if scaler:  # it may ask for more than its fields do, e.g. of the scaler behind it
        create(scaler, values, Scope(cluster=cluster))
    return settings
