"""The figures of a recommendation as rows: what it should bring, what came of it, what else could be done."""

from collections.abc import Callable

from msgspec import Struct

from weir.components.ui import text
from weir.controllers.balancing.joint import Option
from weir.controllers.engine.recommendation import Figures, Recommendation
from weir.controllers.model.words import by_number

OBJECTIVES = {
    "load": "Load",
    "executors": "Executors",
    "latency_s": "Waiting and processing, slowest operator",
    "queue_rows": "Queue",
    "load_distance": "Load distance",
    "outage_s": "From death to the first commit elsewhere",
}
DISTANCE_NOW = "balance/distance"
"""The figure of the present load distance: it is of all clusters together."""


class FigureRow(Struct, frozen=True, kw_only=True):
    """One figure before, as predicted with its band, and as measured."""

    name: str
    before: str
    predicted: str
    band: str = ""  # of the prediction, from past errors
    measured: str = ""  # empty until the settling time is over
    now: str = ""  # key of the figure that follows the feed
    judged: bool = False  # the recommendation is judged by it


class JudgedRow(Struct, frozen=True, kw_only=True):
    """The figure that it was judged by, in one row, and the two answers."""

    name: str
    before: str  # as it was
    before_now: str  # at today's input
    predicted: str
    measured: str
    came_true: str
    helped: str


class OptionRow(Struct, frozen=True, kw_only=True):
    """One way to go on, beside the others."""

    way: str
    steps: tuple[str, ...]  # in the order in which they are made
    executors: str
    load: str
    latency: str
    pause: str
    cost: str


def figure_rows(recommendation: Recommendation) -> tuple[FigureRow, ...]:
    """Every figure that is known before or after, those it is judged by first."""
    before, predicted = recommendation.before, recommendation.predicted
    measured = recommendation.measured or Figures()
    error, objective = recommendation.error_share, recommendation.objective
    rows = []
    for cluster in _names(before.load, predicted.load, measured.load):
        rows.append(
            _row(
                f"Load, {cluster}", text.load,
                before.load.get(cluster), predicted.load.get(cluster), measured.load.get(cluster),
                error=error, now=f"cluster/{cluster}/load", judged=objective == "load",
            )
        )  # fmt: skip
    one = recommendation.clusters[0] if len(recommendation.clusters) == 1 else ""
    for field, form, key in (
        ("latency_s", text.seconds, "own-latency"),
        ("queue_rows", text.rows, "queue"),
        ("load_distance", _points, DISTANCE_NOW),
        ("outage_s", text.seconds, ""),
    ):
        values = [getattr(f, field) for f in (before, predicted, measured)]
        if values != [None] * 3:
            now = f"cluster/{one}/{key}" if one and key else ""
            now = key if key == DISTANCE_NOW else now
            rows.append(
                _row(OBJECTIVES[field], form, *values, error=error, now=now,
                     judged=objective == field)
            )  # fmt: skip
    for cluster in _names(before.executors, predicted.executors, measured.executors):
        rows.append(
            _row(
                f"Executors, {cluster}", _count, before.executors.get(cluster),
                predicted.executors.get(cluster), measured.executors.get(cluster),
                error=None, now=f"cluster/{cluster}/executors", judged=objective == "executors",
            )
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda r: not r.judged))


def promised_rows(recommendation: Recommendation) -> tuple[FigureRow, ...]:
    """Only the figures that something is predicted of."""
    return tuple(r for r in figure_rows(recommendation) if r.predicted != text.NOTHING)


def judged_row(recommendation: Recommendation) -> JudgedRow | None:
    """What came of it; None before it was judged, or if that was not kept."""
    found = recommendation.judgement
    if found is None:
        return None
    form = FORMS[found.objective]
    answers = {True: "yes", False: "no", None: "cannot be said"}
    helped = answers[found.helped]
    return JudgedRow(
        name=OBJECTIVES[found.objective],
        before=form(found.before),
        before_now=form(found.before_now),
        predicted=form(found.predicted),
        measured=form(found.measured),
        came_true=answers[found.came_true],
        helped=f"{helped}: {found.why}" if found.why else helped,
    )


def option_rows(recommendation: Recommendation) -> tuple[OptionRow, ...]:
    """The plan that it is a step of, and what else could be done."""
    return tuple(
        OptionRow(
            way=option.way.value,
            steps=_steps(option),
            executors=text.plural(option.executors, "executor"),
            load=text.load(option.load),
            latency=text.seconds(option.latency_s),
            pause=text.seconds(option.pause_s) if option.moves else text.NOTHING,
            cost=f"{option.cost:.1f}",
        )
        for option in recommendation.options
    )


def _steps(option: Option) -> tuple[str, ...]:
    """Outs, moves, ins: nothing is moved to where there is no room, or taken from under it."""
    before = option.before
    outs = [n for n, size in option.sizes.items() if size > before.get(n, 0)]
    ins = [n for n in option.sizes if n not in outs]
    return (
        *(f"scale {n} out to {option.sizes[n]}" for n in outs),
        *(f"move {m.operator} from {m.source} to {m.target}" for m in option.moves),
        *(f"scale {n} in to {option.sizes[n]}" for n in ins),
    )


def _row(
    name: str, form: object, before: object, predicted: object, measured: object,
    *, error: float | None, now: str, judged: bool,
) -> FigureRow:  # fmt: skip
    def value_text(value: object) -> str:
        return form(value)  # type: ignore[operator, no-any-return]

    band = ""
    if error is not None and isinstance(predicted, int | float):
        low, high = max(predicted * (1 - error), 0.0), predicted * (1 + error)
        band = f"{value_text(low)} to {value_text(high)}"
    return FigureRow(
        name=name,
        before=value_text(before),
        predicted=value_text(predicted),
        band=band,
        measured="" if measured is None else value_text(measured),
        now=now,
        judged=judged,
    )


def _names(*columns: dict[str, float] | dict[str, int]) -> list[str]:
    return sorted({name for column in columns for name in column}, key=by_number)


def _points(value: float | None) -> str:
    return text.NOTHING if value is None else f"{value:.1f} points"


def _count(value: int | None) -> str:
    return text.NOTHING if value is None else text.plural(value, "executor")


FORMS: dict[str, Callable[[float | None], str]] = {
    "load": text.load,
    "latency_s": text.seconds,
    "outage_s": text.seconds,
    "queue_rows": text.rows,
    "load_distance": _points,
}
"""How each figure that an action is judged by is written."""
