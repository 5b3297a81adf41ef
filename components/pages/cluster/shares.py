"""How operators share the cores of their cluster: what is set, and what the model says."""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from dash import html
from dash.development.base_component import Component
from msgspec import Struct

from weir.components.live.world import ClusterShares, World
from weir.components.ui.text import NOTHING, seconds
from weir.controllers.engine.ports import Store
from weir.controllers.engine.stored import read_leniently
from weir.controllers.model.shares import (
    ShareSettings,
    ShareSource,
    share_group,
)
from weir.controllers.model.words import by_number, percent

log = logging.getLogger(__name__)

LOOKED_AT_S = 15.0


class SharesReader:
    """Reads shares while somebody looks at a cluster's page."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}
        self._read: frozenset[str] = frozenset()

    def look(self, name: str, now: float) -> bool:
        """A tab shows the page of this cluster; True while what it needs has not been read."""
        self._seen[name] = now
        return name not in self._read

    def read(self, store: Store, now: float) -> Mapping[str, Any]:
        """The shares of the clusters that are looked at."""
        self._seen = {name: at for name, at in self._seen.items() if now - at < LOOKED_AT_S}
        self._read = frozenset(self._seen)
        if not self._read:
            return {}
        try:
            outlooks = store.scale_outlooks()
        except msgspec.DecodeError as error:  # written by another version
            log.warning("scale outlooks: %s", error)
            outlooks = {}
        found = {}
        for name in self._read:
            settings = read_leniently(ShareSettings, store.settings(share_group(name)))
            outlook = outlooks.get(name)
            found[name] = (
                ClusterShares(settings=settings)
                if outlook is None
                else ClusterShares(
                    settings=settings, advice=outlook.shares, wait=outlook.share_wait
                )
            )
        return {"shares": found}


class ShareRow(Struct, frozen=True, kw_only=True):
    """One operator of the table."""

    operator: str
    wanted: int  # its weight as it was set
    share: float  # of the cores, 0..1
    weight: int | None  # that Spark goes by
    first: int | None  # cores that come to it before others
    model: int | None  # its weight by the model


class SharesView(Struct, frozen=True, kw_only=True):
    """What the panel shows."""

    rows: tuple[ShareRow, ...] = ()
    said: str = ""
    hosted: bool = True


def shares_view(world: World, name: str) -> SharesView:
    """The operators of a cluster with what each gets of its cores."""
    cluster = world.snapshot.cluster(name)
    if cluster is None or not cluster.hosted:
        return SharesView(hosted=False)
    shares = world.shares.get(name, ClusterShares())
    known = shares.settings.by_operator
    operators = world.snapshot.operators_of(name)
    wanted = {o.name: known.get(o.name, 1) for o in operators}
    all_ = sum(wanted.values())
    model = shares.advice.weights if shares.advice else {}
    return SharesView(
        rows=tuple(
            ShareRow(
                operator=o.name, wanted=wanted[o.name], share=wanted[o.name] / all_,
                weight=o.weight, first=o.first_cores, model=model.get(o.name),
            )
            for o in sorted(operators, key=lambda o: by_number(o.name))
        ),
        said=_share_words(shares),
    )  # fmt: skip


def _share_words(shares: ClusterShares) -> str:
    parts = []
    if shares.settings.source is ShareSource.HAND:
        parts.append("A person chose these weights.")
    advice = shares.advice
    if advice is not None and advice.latency_s is not None and advice.now_s is not None:
        parts.append(
            f"By the model {seconds(advice.now_s)} now and {seconds(advice.latency_s)} with its "
            f"weights, {percent(advice.gain)} less."
            if advice.gain >= 0.005
            else "By the model the latency would be the same with its weights."
        )
    elif advice is not None:
        parts.append(advice.why)
    if shares.wait and (advice is None or shares.wait != advice.why):
        parts.append(f"The engine leaves them: {shares.wait.rstrip('.')}.")
    return " ".join(parts)


_HEADS = (
    ("Operator", ""),
    ("Weight", "as set"),
    ("Share", "of the cores, if all want more"),
    ("In force", "the weight that Spark uses"),
    ("Own cores", "that it gets before others"),
    ("By the model", "the weight that it advises"),
)


def shares_table(view: SharesView) -> Component:
    """One row per operator."""
    if not view.hosted:
        return html.P(
            "This job is only watched: operators of a host have shares.", className="quiet"
        )
    if not view.rows:
        return html.P("No operator is here at present.", className="quiet")
    head = html.Thead(
        html.Tr(
            [
                html.Th(
                    [name, html.Span(hint, className="head-hint") if hint else None], scope="col"
                )
                for name, hint in _HEADS
            ]
        )
    )
    rows = [
        html.Tr(
            [
                html.Th(r.operator, scope="row"),
                *(
                    html.Td(value, **{"data-label": head})
                    for (head, _), value in zip(
                        _HEADS[1:],
                        (
                            r.wanted,
                            percent(r.share),
                            NOTHING if r.weight is None else r.weight,
                            r.first or NOTHING,
                            NOTHING if r.model is None else r.model,
                        ),
                        strict=True,
                    )
                ),
            ],
            **{"data-share": r.operator},
        )
        for r in view.rows
    ]
    return html.Div(
        [
            html.Div(
                html.Table([head, html.Tbody(rows)], className="table labelled"),
                className="table-box",
                tabIndex=0,
                role="region",
                **{"aria-label": "Shares of the cores"},
            ),
            html.P(view.said, className="quiet"),
        ]
    )
