"""What the engine decides to do, as values; and the one place where they are carried out.

Effects come in chains. Within a chain each effect needs the one before: where somebody else was
quicker, or another engine leads, the rest of the chain is left, and the next cycle looks
again. Any effect may be the last one before a crash; each can be done again.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from weir.controllers.engine.apply.moves import Rebalance
from weir.controllers.engine.apply.reslices import Reslicing
from weir.controllers.engine.audit import AuditEntry
from weir.controllers.engine.ports import Rules, Store
from weir.controllers.engine.propose.outlook import Outlook
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.stored import read_leniently
from weir.controllers.engine.trail import entry_of, in_words
from weir.controllers.model.command import Command
from weir.controllers.model.failover import Death
from weir.controllers.model.hosting import HostOrder
from weir.controllers.model.placement import Lease, Placement
from weir.controllers.model.sample import Mode
from weir.controllers.model.shares import ShareSettings, ShareSource, share_group
from weir.controllers.model.slicing import Slicing


class Create(Struct, frozen=True, kw_only=True):
    """Keep a new recommendation; the engine's own of the same id will do as well."""

    recommendation: Recommendation


class Save(Struct, frozen=True, kw_only=True):
    """Keep the next version of a recommendation."""

    recommendation: Recommendation
    audit: bool = True  # a step of its life; a mere refresh is not one


class Submit(Struct, frozen=True, kw_only=True):
    """Hand a command to a cluster's agent."""

    command: Command


class Start(Struct, frozen=True, kw_only=True):
    """Begin a rebalance."""

    rebalance: Rebalance


class StartReslice(Struct, frozen=True, kw_only=True):
    """Order a re-slice."""

    reslicing: Reslicing


class Advance(Struct, frozen=True, kw_only=True):
    """Advance a rebalance by one step, with the placements that it changes."""

    rebalance: Rebalance
    changes: tuple[Placement, ...] = ()
    seen: Mapping[str, Placement] = {}  # if a placement has changed since, nothing is written


class AdvanceReslice(Struct, frozen=True, kw_only=True):
    """Advance a re-slice by one step, with the slices and placements that it changes."""

    reslicing: Reslicing
    slicing: Slicing | None = None
    seen: Slicing | None = None  # if the slices have changed since, nothing is written
    place: tuple[Placement, ...] = ()
    unplace: tuple[str, ...] = ()


class BackOff(Struct, frozen=True, kw_only=True):
    """Give a cluster a stricter mode, unless somebody has given it another one meanwhile."""

    cluster: str
    before: Mode
    mode: Mode
    audit: AuditEntry


class KeepScaling(Struct, frozen=True, kw_only=True):
    """Keep what a cluster's scalers said and remember."""

    outlook: ScaleOutlook
    memories: dict[str, bytes]


class KeepBalance(Struct, frozen=True, kw_only=True):
    """Keep the view of the balance."""

    outlook: Outlook


class OrderHost(Struct, frozen=True, kw_only=True):
    """Want something else of a host, unless somebody has meanwhile."""

    before: HostOrder | None
    after: HostOrder
    audit: AuditEntry


class KeepDeaths(Struct, frozen=True, kw_only=True):
    """Keep which clusters are dead, and tell the audit trail who died and who is back."""

    deaths: tuple[Death, ...]
    said: tuple[AuditEntry, ...] = ()


class SetShares(Struct, frozen=True, kw_only=True):
    """Set the weights of a cluster's operators, unless somebody has chosen others meanwhile."""

    cluster: str
    seen: str
    weights: str
    audit: AuditEntry


Effect = (
    Create | Save | Submit | Start | StartReslice | Advance | AdvanceReslice | BackOff | KeepScaling | KeepBalance
    | KeepDeaths | OrderHost | SetShares
)  # fmt: skip
Chain = tuple[Effect, ...]


class News(Struct, frozen=True, kw_only=True):
    """Something that people may want to be told."""

    at: float
    event: str  # e.g. "recommendation.applied"
    subject: str
    clusters: tuple[str, ...]
    text: str
    by: str = ""
    effectiveness: float | None = None


def carry_out(
    store: Store,
    chains: Iterable[Chain],
    leader: Lease,
    tell: Callable[[News], None] = lambda news: None,
) -> int:
    """Carry them out, chain by chain; returns how many took effect."""
    done = 0
    for chain in chains:
        for effect in chain:
            if not _do(store, effect, leader):
                break
            done += 1
            for news in news_of(effect):
                tell(news)
    return done


def news_of(effect: Effect) -> list[News]:
    """The news in an effect."""
    match effect:
        case Create(recommendation=found) | Save(recommendation=found, audit=True):
            last = found.history[-1]
            why = found.verdict if found.measured else last.why
            return [
                News(
                    at=last.at,
                    event=f"recommendation.{last.status}",
                    subject=found.id,
                    clusters=found.clusters,
                    text=f"{in_words(found)} {last.status}. {why}".strip(),
                    by=last.by,
                    effectiveness=found.effectiveness,
                )
            ]
        case BackOff(cluster=cluster, mode=mode, audit=said):
            return [
                News(
                    at=said.at, event=said.action, subject=cluster, clusters=(cluster,),
                    text=f"{cluster}: mode {mode.value} from now on. {said.why}", by=said.by,
                )
            ]  # fmt: skip
        case KeepDeaths(said=entries):
            return [
                News(
                    at=said.at, event=said.action, subject=said.subject, clusters=(said.subject,),
                    text=f"{said.subject}: {said.why or 'back'}; {said.detail}", by=said.by,
                )
                for said in entries
            ]  # fmt: skip
    return []


def _do(store: Store, effect: Effect, leader: Lease) -> bool:
    match effect:
        case Create(recommendation=found):
            if store.save_recommendation(found, leader, entry_of(found)):
                return True
            known = store.recommendation(found.id)
            return store.lease(leader.name) == leader and known is not None and _same(known, found)
        case Save(recommendation=found, audit=audit):
            return store.save_recommendation(found, leader, entry_of(found) if audit else None)
        case Submit(command=command):
            store.submit(command)
            return True
        case Start(rebalance=rebalance):
            return store.save_rebalance(rebalance, leader=leader)
        case StartReslice(reslicing=reslicing):
            return store.save_reslicing(reslicing, leader)
        case AdvanceReslice(reslicing=reslicing, slicing=slicing, seen=before):
            return store.save_reslicing(
                reslicing, leader, slicing, before, effect.place, effect.unplace
            )
        case Advance(rebalance=rebalance, changes=changes, seen=seen):
            return store.save_rebalance(rebalance, changes, leader, seen)
        case BackOff(cluster=cluster, before=before, mode=mode, audit=said):
            return store.change_mode(cluster, before, mode, said, leader)
        case OrderHost(before=order_before, after=order, audit=said):
            return store.change_host_order(order_before, order, said, leader)
        case SetShares():
            return store.lease(leader.name) == leader and _set_shares(store, effect)
        case KeepDeaths(deaths=deaths, said=entries):
            for entry in entries:
                store.append_audit(entry)
            store.save_deaths(deaths)
            return True
        case KeepScaling(outlook=outlook, memories=memories):
            if not store.save_memories(outlook.cluster, memories, leader):
                return False
            store.save_scale_outlook(outlook)
            return True
        case KeepBalance(outlook=balance):
            store.save_outlook(balance)
            return True


def _set_shares(store: Rules, effect: SetShares) -> bool:
    def change(kept: dict[str, Any]) -> dict[str, Any]:
        settings = read_leniently(ShareSettings, kept)
        if settings.source is ShareSource.HAND or settings.weights != effect.seen:
            return kept
        return {**kept, "weights": effect.weights}

    before, after = store.change_settings(
        share_group(effect.cluster), change, lambda *_: effect.audit,
        by=effect.audit.by, at=effect.audit.at,
    )  # fmt: skip
    return before != after


def _same(known: Recommendation, found: Recommendation) -> bool:
    """It was made for the same purpose; its figures may be older."""
    return (known.by, known.source, known.rollback_of) == (
        found.by,
        found.source,
        found.rollback_of,
    )
