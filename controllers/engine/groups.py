"""Every group of settings there is, with its Struct: the one list for pages, API and checks."""

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
from weir.controllers.engine.propose.scaling import ScaleSettings, group, scaler_group
from weir.controllers.model.errors import InvalidInput, NotFound
from weir.controllers.model.settings import build
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
        Group(name=RECORD, title="Recording", kind=RecordSettings),
        *(
            Group(name=planner_group(name), title=kind.label, kind=kind.Settings)
            for name, kind in planners().items()
            if fields(kind.Settings)
        ),
    ]
    for cluster in clusters:
        own: list[tuple[str, str, type[Struct]]] = [
            (group(cluster), "Scaling", ScaleSettings),
            (guard_group(cluster), "Guards", GuardSettings),
            (criteria_group(cluster), "Automatic within criteria", Criteria),
            *(
                (scaler_group(cluster, name), kind.title, kind.settings_type)
                for name, kind in scalers().items()
            ),
        ]
        found += [Group(name=n, title=t, kind=k, cluster=cluster) for n, t, k in own]
    return found


def kind_of(name: str) -> type[Struct]:
    """The Struct of a group.

    >>> kind_of("guards:wide").__name__, kind_of("scale:wide:drs").__name__
    ('GuardSettings', 'DrsSettings')
    >>> kind_of("balance:albic").__name__
    'AlbicSettings'
    """
    head, _, rest = name.partition(":")
    if name in (ENGINE, RECORD):
        return EngineSettings if name == ENGINE else RecordSettings
    if head == BALANCE:
        return type(planner(rest)).Settings if rest else BalanceSettings
    cluster, _, scaler = rest.partition(":")
    if head == "scale" and cluster:
        return scaler_type(scaler).settings_type if scaler else ScaleSettings
    if head in ("guards", "criteria") and cluster and not scaler:
        return GuardSettings if head == "guards" else Criteria
    raise NotFound(f"there are no settings '{name}'")


def checked(name: str, values: Mapping[str, Any]) -> Struct:
    """The settings that these values make, or a sentence on what is wrong with them."""
    settings = build(kind_of(name), values)
    if isinstance(settings, ScaleSettings):
        scaler_type(settings.scaler)
        if 0 < settings.max_executors < settings.min_executors:
            raise InvalidInput("max_executors is below min_executors", field="max_executors")
    if isinstance(settings, BalanceSettings):
        planner(settings.planner)
    _, cluster, scaler = (*name.split(":"), "", "")[:3]
    if scaler:  # it may ask for more than its fields do, e.g. of the scaler behind it
        create(scaler, values, Scope(cluster=cluster))
    return settings
