"""The rings of sliced operators: key groups as arcs, who owns them, and hand-overs by hand."""

from collections.abc import Sequence
from math import cos, pi, sin

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.live.world import World
from weir.components.pages.balance import ids as balance_ids
from weir.components.pages.balance.render_preview import load_bars
from weir.components.pages.balance.rings import (
    HEAT_STEPS,
    ArcView,
    HandOver,
    ReslicePreview,
    RingView,
    SliceRow,
    over_words,
    ranges,
    rings,
    slice_rows,
)
from weir.components.ui import text
from weir.components.ui.figure import Figures
from weir.components.ui.parts import card, fact, live, live_bar, region, when
from weir.components.ui.path import cluster_path, operator_path, recommendation_path
from weir.components.ui.surface import address, control, page_link, press
from weir.controllers.engine.propose.rings import RingOutlook
from weir.controllers.placement.words import hand_overs

_HEADS = (
    ("Slice", ""),
    ("Cluster", ""),
    ("Key groups", "What it owns; their number never changes"),
    ("Keys", "Share of the keys"),
    ("Load", "Busy cores that its arrivals need"),
    ("Arrivals", ""),
    ("Queue", ""),
    ("State", ""),
    ("Next clockwise", "Who takes over from it by the ring rule"),
    ("", ""),
)


def rings_card(world: World, figures: Figures) -> Component:
    """Every ring with its slices; a sentence where nothing is sliced."""
    found = rings(world)
    if not found:
        return card(
            html.P(
                "No operator is sliced. Declare one with a key and a number of slices, and its "
                "keys appear here as a ring, to hand on from slice to slice.",
                className="quiet",
            ),
            title="Rings",
        )
    return card(
        region(balance_ids.RINGS),
        *[_slices(ring, figures) for ring in found],
        title="Rings: which slice owns which keys",
    )


def ring_drawings(views: Sequence[RingView]) -> Component:
    """The drawings, sent whole when they change."""
    return html.Div([_drawing(view) for view in views], className="rings")


def _drawing(view: RingView) -> Component:
    said = "; ".join(f"{a.owner} from {a.begin:.2f} to {a.end % 1 or 1:.2f}" for a in view.arcs)
    heat = (
        f"The busiest key group is {view.busiest}."
        if view.measured and view.busiest
        else "How much arrives in each key group is not measured: the load is shared evenly."
    )
    return html.Div(
        [
            html.Div(
                [
                    html.Div(className="ring-owners", style={"background": _owners(view.arcs)}),
                    html.Div(className="ring-heat", style={"background": _heat(view.heat)}),
                    html.Div(html.Strong(view.operator), className="ring-middle"),
                    *[_label(arc) for arc in view.arcs],
                ],
                className="ring",
                role="img",
                **{"aria-label": f"Ring of {view.operator}: {said}"},
            ),
            html.Div(
                [
                    html.P(
                        [html.Strong(f"{view.planner}: "), view.words or "no answer yet"],
                        className="ring-words",
                    ),
                    html.P(f"Held back: {view.wait}.", className="quiet") if view.wait else None,
                    html.P(
                        "Outside: who owns the keys, with the slice's number. Inside: how much "
                        f"each key group needs, the stronger the colour the more. {heat}",
                        className="quiet",
                    ),
                    html.H3("Last hand-overs"),
                    _overs(view.hand_overs),
                ],
                className="ring-side",
            ),
        ],
        className="ring-box",
        **{"data-ring": view.operator},
    )


def _owners(arcs: Sequence[ArcView]) -> str:
    """Arcs of colour with a gap between them."""
    gap = 0.0 if len(arcs) == 1 else 0.002
    parts = []
    # An arc over the top is two pieces.
    pieces = [
        (max(begin, 0.0), min(end, 1.0), arc.colour)
        for arc in arcs
        for begin, end in ((arc.begin, arc.end), (arc.begin - 1.0, arc.end - 1.0))
        if end > 0.0 and begin < 1.0
    ]
    for begin, end, colour in sorted(pieces):
        parts += [
            f"var(--surface) {begin:.4f}turn {begin + gap:.4f}turn",
            f"var(--series-{colour}) {begin + gap:.4f}turn {end - gap:.4f}turn",
            f"var(--surface) {end - gap:.4f}turn {end:.4f}turn",
        ]
    return f"conic-gradient({', '.join(parts)})"


def _heat(heat: Sequence[int]) -> str:
    count = len(heat)
    parts = [
        f"color-mix(in srgb, var(--accent) {8 + 92 * step // HEAT_STEPS}%, var(--surface)) "
        f"{g / count:.4f}turn {(g + 1) / count:.4f}turn"
        for g, step in enumerate(heat)
    ]
    return f"conic-gradient({', '.join(parts)})"


def _label(arc: ArcView) -> Component:
    middle = (arc.begin + arc.end) / 2 * 2 * pi
    return html.Span(
        arc.label,
        className="ring-label",
        style={"left": f"{50 + 43 * sin(middle):.2f}%", "top": f"{50 - 43 * cos(middle):.2f}%"},
        title=arc.owner,
    )


def _overs(found: Sequence[HandOver]) -> Component:
    if not found:
        return html.P("None yet.", className="quiet")
    return html.Ol(
        [
            html.Li(
                [
                    when(h.at),
                    " ",
                    html.A(h.words, href=address(recommendation_path(h.id)), **{"data-go": ""}),
                    f", {h.status}",
                ]
            )
            for h in found
        ],
        className="ring-overs",
    )


def _slices(ring: RingOutlook, figures: Figures) -> Component:
    rows = slice_rows(ring)
    head = html.Tr([html.Th(name, scope="col", title=hint) for name, hint in _HEADS])
    names = [row.name for row in rows]
    return html.Div(
        [
            html.Div(
                html.Table(
                    [html.Thead(head), html.Tbody([_row(row, figures) for row in rows])],
                    className="table slices",
                ),
                className="table-box",
            ),
            _by_hand(ring, names),
        ],
        className="ring-table",
    )


def _row(row: SliceRow, figures: Figures) -> Component:
    base = f"ring/{row.name}"

    def cell(head: str, key: str) -> Component:
        return html.Td(live(figures, f"{base}/{key}"), **{"data-label": head})

    where = page_link(row.cluster, cluster_path(row.cluster)) if row.cluster else "not running"
    return html.Tr(
        [
            html.Th(
                [
                    html.I(
                        className="key",
                        style={"background": f"var(--series-{row.colour})"},
                        **{"aria-hidden": "true"},
                    ),
                    page_link(row.name, operator_path(row.name)),
                ],
                scope="row",
            ),
            html.Td(where, **{"data-label": "Cluster"}),
            html.Td(row.groups, className="slice-groups", **{"data-label": "Key groups"}),
            cell("Keys", "share"),
            html.Td(
                [live_bar(figures, f"{base}/load"), live(figures, f"{base}/load")],
                className="with-bar",
                **{"data-label": "Load"},
            ),
            cell("Arrivals", "rows"),
            cell("Queue", "queue"),
            cell("State", "state"),
            html.Td(row.neighbour or text.NOTHING, **{"data-label": "Next clockwise"}),
            html.Td(
                html.Button(
                    "Hand on half",
                    **press(balance_ids.hand_on(row.name)),
                    className="button",
                    type="button",
                    **{"aria-label": f"Preview: {row.name} hands half to {row.neighbour}"},
                )
                if row.neighbour
                else None,
                className="row-actions",
            ),
        ],
        **{"data-slice": row.name},
    )


def _by_hand(ring: RingOutlook, names: Sequence[str]) -> Component:
    operator, new = ring.operator, ring.problem.slicing.next_name()
    return html.Div(
        [
            dmc.NumberInput(
                **control(balance_ids.reslice_field("slices", operator)),
                label="Number of slices",
                min=1,
                max=min(ring.problem.slicing.groups, 256),
                value=len(names),
                allowDecimal=False,
            ),
            dmc.TextInput(
                **control(balance_ids.reslice_field("groups", operator)),
                label="or these key groups",
                placeholder="e.g. 0-7, 12",
                debounce=False,
            ),
            dmc.Select(
                **control(balance_ids.reslice_field("to", operator)),
                label="go to slice",
                data=[*names, {"value": new, "label": f"{new}, a new one"}],
                placeholder="Choose",
                clearable=True,
                checkIconPosition="right",
            ),
            html.Button(
                "Preview",
                **press(balance_ids.reslice_preview(operator)),
                className="button",
                type="button",
                **{"aria-label": f"Preview the re-slice of {operator}"},
            ),
        ],
        className="steer steer-reslice",
        role="group",
        **{"aria-label": f"Re-slice {operator} by hand"},
    )


def reslice_body(shown: ReslicePreview) -> Component:
    """The prediction: clusters, slices, and what it costs."""
    said, decision = shown.decision.prediction, shown.decision
    moved = said.moved_share or 0.0
    after = len(decision.owners)
    usual = 1.0 / max(after, decision.before)
    where = ", ".join(f"{name} in {cluster}" for name, cluster in decision.clusters.items())
    return html.Div(
        [
            html.P(over_words(hand_overs(decision)), className="preview-over"),
            html.P(f"New: {where}.") if where else None,
            load_bars(shown.loads),
            html.Table(
                [
                    html.Thead(
                        html.Tr([html.Th(h, scope="col") for h in ("Slice", "Key groups", "Load")])
                    ),
                    html.Tbody([_slice_line(shown, *line) for line in shown.slices]),
                ],
                className="table",
            ),
            html.Dl(
                [
                    fact(
                        "Keys that change their owner",
                        f"{text.share(moved)}; one slice's share is {text.share(usual)}",
                    ),
                    fact("Slices that change pause for", f"about {text.seconds(said.pause_s)}"),
                    fact("State handed over", text.size(said.cost)),
                ],
                className="facts",
            ),
            html.P(
                "Those slices end their batch, their state is handed over, and the new owners go "
                "on from there. Should a step fail, the old owners go on.",
                className="quiet",
            ),
        ],
        className="preview",
    )


def _slice_line(
    shown: ReslicePreview, name: str, before: float | None, after: float | None
) -> Component:
    def cores(value: float | None) -> str:
        return text.NOTHING if value is None else f"{value:.2f}"

    owned = shown.decision.owners.get(name, ())
    return html.Tr(
        [
            html.Th(name, scope="row"),
            html.Td(ranges(owned) or "no more"),
            html.Td(f"{cores(before)} → {cores(after)} cores"),
        ]
    )
