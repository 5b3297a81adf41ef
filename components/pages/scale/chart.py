"""What the Scale page draws over time: executors in steps, and the queueing model's record."""

from statistics import median
from typing import Any

import msgspec
from msgspec import Struct

from weir.components.live.charts import Chart, ChartTrace, highest
from weir.components.ui import text
from weir.controllers.engine.propose.scaling import ScaleOutlook
from weir.controllers.model.errors import UNREADABLE
from weir.controllers.model.sample import ClusterSample


class _Fitted(Struct, frozen=True, kw_only=True):
    """What the queueing model remembers of its last look."""

    overhead: tuple[float, ...] = ()
    model_s: float | None = None


FEWEST_POINTS = 3
"""A median of fewer says nothing."""


def key_of(cluster: str) -> str:
    """The chart's name."""
    return f"{cluster}/scale"


def steps_chart(cluster: str, target_latency_s: float) -> Chart:
    """Wanted, granted and present as steps; the load in executors beside them, latency to the right.

    Load is drawn as the number of executors that it would keep busy: where the area rises above
    the steps, there are too few of them.
    """
    return Chart(
        key=key_of(cluster),
        title="Executors with load and latency",
        unit="",
        cluster=cluster,
        traces=(
            ChartTrace(name="load, in executors", colour="series-2", style="area"),
            ChartTrace(name="wanted", colour="series-3", style="step", dashed=True),
            ChartTrace(name="granted", colour="series-4", style="step", dashed=True),
            ChartTrace(name="present", colour="series-1", style="step"),
            ChartTrace(name="latency (right)", colour="series-6", right=True, unit="s"),
        ),
        values=_values,
        help="Executors asked for, granted by the cluster manager and there; "
        "the work that arrives as executors it keeps busy; latency end to end of the slowest "
        "operator (scalers go by waiting and processing in this cluster alone)",
        line=target_latency_s,
        line_label="the pages' target",
        line_right=True,
        least_top=2,
        least_top_right=target_latency_s * 1.2,
        whole=True,
    )


def _values(sample: ClusterSample) -> tuple[float | None, ...]:
    cluster = sample.cluster
    cores = sum(o.load for o in sample.operators)
    return (
        cores / max(1, cluster.cores_per_executor),
        cluster.executors_wanted,
        cluster.executors_granted,
        cluster.executors,
        highest(o.latency_s for o in sample.operators),
    )


def sojourn(view: ScaleOutlook | None) -> dict[str, Any]:
    """The scatter: modelled and measured latency of each moment that has both, oldest first."""
    return {
        "points": [
            [round(at * 1000), round(modelled, 4), round(measured, 4)]
            for at, modelled, measured in _pairs(view)
        ]
    }


def error_share(view: ScaleOutlook | None) -> float | None:
    """Median of |modelled - measured| / measured; None where that rests on too little."""
    shares = [abs(m - seen) / seen for _, m, seen in _pairs(view) if seen > 0]
    return median(shares) if len(shares) >= FEWEST_POINTS else None


def fitted_text(memory: bytes | None) -> str:
    """What of the model's latency is no model: overhead, taken from earlier measurements.

    >>> fitted_text(b'{"overhead": [9.5, 9.0], "model_s": 0.4}')
    'Of its latency now, 9.0 s is overhead fitted to earlier measurements; queueing and service alone make 0.4 s.'
    >>> fitted_text(b'{"overhead": [0.0], "model_s": 29.0}')
    'Its latency now is all queueing and service, 29 s; no overhead is added.'
    """
    try:
        known = msgspec.json.decode(memory or b"null", type=_Fitted | None)
    except UNREADABLE:  # the page is of more than this
        return ""
    if known is None or not known.overhead or known.model_s is None:
        return ""
    fitted, alone = min(known.overhead), text.seconds(known.model_s)
    if round(fitted, 3) == 0:
        return f"Its latency now is all queueing and service, {alone}; no overhead is added."
    return (
        f"Of its latency now, {text.seconds(fitted)} is overhead fitted to earlier measurements; "
        f"queueing and service alone make {alone}."
    )


def error_text(view: ScaleOutlook | None) -> str:
    """How far the queueing model, with the overhead fitted before, is off, in words.

    >>> error_text(None)
    'The queueing model has said nothing yet: it needs some periods with rates, costs and latency.'
    """
    pairs = _pairs(view)
    share = error_share(view)
    if share is None:
        if not pairs:
            return (
                "The queueing model has said nothing yet: it needs some periods with rates, "
                "costs and latency."
            )
        return f"Only {text.plural(len(pairs), 'moment')} to compare yet."
    low = sum(m < seen for _, m, seen in pairs)
    side = "too low" if 2 * low > len(pairs) else "too high"
    much = max(low, len(pairs) - low) / len(pairs)
    return (
        f"Over the last {text.plural(len(pairs), 'moment')} the model with its overhead is "
        f"{text.share(share)} off what was measured (median); {text.share(much)} of the time it is "
        f"{side}."
    )


def _pairs(view: ScaleOutlook | None) -> list[tuple[float, float, float]]:
    return [
        (at, modelled, measured)
        for at, modelled, measured in (view.sojourn if view else ())
        if modelled is not None and measured is not None
    ]
