"""What the load generators are asked for, and the controls to change it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from weir.components.pages.control_room import ids as control_room_ids
from weir.components.ui.figure import Figures
from weir.components.ui.parts import icon, live
from weir.components.ui.surface import control, press
from weir.components.web.security import Role, needs
from weir.controllers.engine.ports import Part, Workload
from weir.controllers.model.profile import KINDS, most_rows_per_s

ON_PAGE = tuple(kind for kind in KINDS if kind != "trace")
"""Profiles that can be set here: a trace is a file, which the command line sends."""
_KEPT: dict[str, Any] = {"persistence": True, "persistence_type": "memory"}
"""What is chosen stays chosen when the page is drawn again, until another profile is in force."""


def workload_card(
    workloads: Sequence[Workload],
    figures: Figures,
    parts: Iterable[Part] = (),
    *,
    comment_required: bool = False,
) -> Component | None:
    """One line per generator; nothing where nothing generates."""
    if not workloads:
        return None
    told = applications(parts)
    return html.Section(
        [
            html.Div([_line(w, figures, comment_required), _more(w, *told.get(w.name, ("", "")))])
            for w in workloads
        ],
        className="card workload",
        **{"aria-label": "Workload"},
    )


def applications(parts: Iterable[Part]) -> dict[str, tuple[str, str]]:
    """Title and origin of the application that each generator makes rows for, by its name."""
    return {part.name: (part.title, part.about) for part in parts if part.title}


def highest_rate(workload: Workload) -> int:
    """Where the slider ends: room for four times the present rate, rounded up.

    >>> highest_rate(Workload(name="tweets", rows_per_s=200))
    800
    """
    wanted = max(
        workload.rows_per_s * 4, most_rows_per_s(workload.rows_per_s, workload.profile), 100
    )
    step = 10 ** (len(str(int(wanted))) - 1)
    return int(-(-wanted // step) * step) if wanted > step else step


def _following_rate(workload: Workload, figures: Figures) -> Component:
    """The rate of now, not shown: the browser sets the slider to it, and so the number."""
    key = f"workload/{workload.name}/rate"
    slider = json.dumps(control_room_ids.workload("slider", workload.name))
    return html.Span(figures[key].text, hidden=True, **{"data-live": key, "data-sets": slider})


def _line(workload: Workload, figures: Figures, comment_required: bool) -> Component:
    most = highest_rate(workload)
    verb, picture = ("Resume", "play") if workload.paused else ("Pause", "pause")
    label = f"Rate of {workload.name} in rows/s"
    return html.Div(
        [
            html.Div(
                [
                    html.H2(["Workload ", workload.name]),
                    live(figures, f"workload/{workload.name}/asked", "quiet"),
                ],
                className="workload-title",
            ),
            _following_rate(workload, figures),
            dmc.Slider(
                **control(control_room_ids.workload("slider", workload.name)),
                value=workload.rows_per_s,
                min=0,
                max=most,
                step=max(1, most // 100),
                label=None,
                size="sm",
                thumbSize=18,
                className="workload-slider",
                thumbLabel=label,
            ),
            dmc.NumberInput(
                **control(control_room_ids.workload("rate", workload.name)),
                value=workload.rows_per_s,
                min=0,
                max=10_000_000,
                step=max(1, most // 20),
                thousandSeparator=",",
                suffix=" rows/s",
                size="sm",
                className="workload-rate",
                **{"aria-label": label},
            ),
            html.Button(
                "Set rate",
                **press(control_room_ids.workload("set", workload.name)),
                className="button button-primary",
                type="button",
                **needs(Role.APPROVER),
            ),
            html.Button(
                [icon(picture), verb],
                **press(control_room_ids.workload("pause", workload.name)),
                className="button",
                type="button",
                **{"aria-label": f"{verb} {workload.name}"},
                **needs(Role.APPROVER),
            ),
            dmc.TextInput(
                **control(control_room_ids.workload("why", workload.name)),
                placeholder="Why; required here",
                debounce=False,
                size="sm",
                className="workload-why",
                attributes={"input": {"maxLength": 500}},
                **{"aria-label": f"Why the rate of {workload.name} is changed"},
            )
            if comment_required
            else None,
        ],
        className="workload-line",
        **{"data-workload": workload.name},
    )


def _more(workload: Workload, title: str, about: str) -> Component:
    """Which application it is, and how rate and keys change over time; folded."""
    name, profile = workload.name, workload.profile
    kind = profile.kind if profile.kind in ON_PAGE else ON_PAGE[0]
    return html.Details(
        [
            html.Summary(f"{title}: profile and skew" if title else "Profile and skew"),
            html.P(about, className="quiet") if about else None,
            html.Div(
                [
                    dmc.Select(
                        **control(control_room_ids.workload("profile", name)),
                        label="Profile",
                        description="How the rate changes over time",
                        data=[{"value": k, "label": k.capitalize()} for k in ON_PAGE],
                        value=kind,
                        allowDeselect=False,
                        size="sm",
                        **_KEPT,
                    ),
                    _number("to", name, "To", "The other rate, in rows/s", profile.to_rows_per_s),
                    _number("over", name, "Over", "Ramp, wait, cycle or day, in s", profile.over_s),
                    _number("lasts", name, "Lasts", "A burst, in s", profile.lasts_s),
                    _number("skew", name, "Skew", "0: all keys alike; 1: Zipf", workload.skew),
                    html.Button(
                        "Set profile",
                        **press(control_room_ids.workload("shape", name)),
                        className="button",
                        type="button",
                        **{"aria-label": f"Set profile and skew of {name}"},
                        **needs(Role.APPROVER),
                    ),
                ],
                className="workload-shape",
            ),
            html.P(
                ["A recorded load is followed with ", html.Code("weir rate --trace FILE"), "."],
                className="quiet",
            ),
        ],
        className="workload-more",
    )


def _number(part: str, name: str, label: str, description: str, value: float | None) -> Component:
    return dmc.NumberInput(
        **control(control_room_ids.workload(part, name)),
        label=label,
        description=description,
        value="" if value is None else value,
        min=0,
        size="sm",
        **_KEPT,
    )
