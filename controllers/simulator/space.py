"""What there is to search: the settings that a scaler declares, and a range for each.

A declared range that has both ends is taken as it is. Where an end is open, the unit
says what is sensible: a time reaches from a fifth of its default to five times it, a
number of executors up to the cluster's limit, a load up to a little above full, a rate
up to half of the usual arrivals.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import SettingInfo, describe
from weir.controllers.scaling.registry import scaler_type
from weir.controllers.simulator.run import make_scaler

_NOT_SEARCHED = frozenset(
    {
        "seed",  # luck is not a setting
        "max_latency_s", "latency_granularity_s",  # follow the target
        "min_executors", "max_executors",  # limits belong to the cluster
        "recommend_only", "theta", "value_iteration_count",
    }
)  # fmt: skip
_AIMS = {  # shares of the target: least, most, and what a scaler is given by default
    "target_latency_s": (0.2, 1.0, 1.0),  # to aim lower is a margin; higher is a miss
    "t_max_s": (0.2, 1.0, 1.0),
    "t_min_s": (0.02, 0.8, 0.4),
}
_REACH = 5.0  # how far an open range reaches from the default, as a factor
_LOAD_OR_S = "load or s"  # what it means depends on the setting `figure`
_FULL = 1.2
_WIDE = 20.0  # ranges that reach further are searched by their logarithm


class Dimension(Struct, frozen=True, kw_only=True):
    """One setting to search: a range, or choices."""

    key: str
    kind: str  # "float", "int", "choice", "aim": share of the target, "share": of a `figure`
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    choices: tuple[Any, ...] = ()


class SearchSpace(Struct, frozen=True, kw_only=True):
    """Everything to search for one scaler.

    >>> space = SearchSpace.of("thresholds", max_executors=10, target_latency_s=30.0)
    >>> [d.key for d in space.dimensions][:3]
    ['figure', 'upper', 'lower']
    >>> drawn = {"figure": "latency", "upper": 0.5, "lower": 0.25, "grace_s": 60.0}
    >>> space.settings(drawn)["upper"], space.settings({**drawn, "figure": "load"})["upper"]
    (22.5, 0.6)
    >>> mended = space.settings({**drawn, "lower": 0.75})
    >>> mended["lower"] < mended["upper"]
    True
    """

    scaler: str
    dimensions: tuple[Dimension, ...]
    target_latency_s: float

    @classmethod
    def of(
        cls, scaler: str, max_executors: int, target_latency_s: float, rows_per_s: float = 0.0
    ) -> "SearchSpace":
        """The space of a scaler on a cluster of a certain size and usual arrivals."""
        found = [
            dimension
            for info in describe(scaler_type(scaler).settings_type)
            if info.key not in _NOT_SEARCHED
            and (dimension := _dimension(info, max_executors, rows_per_s)) is not None
        ]
        return cls(scaler=scaler, dimensions=tuple(found), target_latency_s=target_latency_s)

    def settings(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """Settings from what was drawn; a share becomes a load or a latency.

        Where they contradict each other (a lower bound above the upper one), they are
        drawn towards the defaults until they no longer do.
        """
        home = self.unscale(default_settings(self.scaler))
        for way in (1.0, 0.75, 0.5, 0.25, 0.0):
            found = self._scale({d.key: _between(d, home, drawn, way) for d in self.dimensions})
            try:
                make_scaler(self.scaler, found, "", 0, self.target_latency_s)
            except InvalidInput:
                continue
            return found
        return self._scale(home)

    def _scale(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        tops = self._tops(drawn.get("figure"))
        return {d.key: drawn[d.key] * tops[d.kind] if d.kind in tops else drawn[d.key]
                for d in self.dimensions}  # fmt: skip

    def _tops(self, figure: object) -> dict[str, float]:
        """What the shares are shares of."""
        most = _FULL if figure == "load" else 1.5 * self.target_latency_s
        return {"share": most, "aim": self.target_latency_s}

    def unscale(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of `settings`, as far as they lie within the space."""
        tops = self._tops(settings.get("figure"))
        found: dict[str, Any] = {}
        for d in self.dimensions:
            value = settings.get(d.key)
            if d.kind == "choice":
                found[d.key] = value if value in d.choices else d.choices[0]
            elif d.kind == "aim":
                found[d.key] = _AIMS[d.key][2]
            elif isinstance(value, int | float):
                inside = min(max(value / tops.get(d.kind, 1.0), d.low), d.high)
                found[d.key] = round(inside) if d.kind == "int" else inside
        return found


def default_settings(scaler: str) -> dict[str, Any]:
    """The declared defaults of a scaler."""
    return {i.key: i.default for i in describe(scaler_type(scaler).settings_type)}


def _between(d: Dimension, home: Mapping[str, Any], drawn: Mapping[str, Any], way: float) -> Any:
    value = drawn.get(d.key, home[d.key])
    if d.kind == "choice" or way == 1.0:
        return value
    value = home[d.key] + way * (value - home[d.key])
    return round(value) if d.kind == "int" else value


def _dimension(info: SettingInfo, max_executors: int, rows_per_s: float) -> Dimension | None:
    if info.choices:
        return Dimension(key=info.key, kind="choice", choices=info.choices)
    if info.type == "boolean":
        return Dimension(key=info.key, kind="choice", choices=(False, True))
    if info.type not in ("number", "integer") or not isinstance(info.default, int | float):
        return None  # text and tables have no range
    if info.key in _AIMS:
        return Dimension(key=info.key, kind="aim", low=_AIMS[info.key][0], high=_AIMS[info.key][1])
    if info.unit == _LOAD_OR_S:
        return Dimension(key=info.key, kind="share", low=0.1, high=1.0)
    low, high = _range(info, max_executors, rows_per_s)
    if not high > low:
        return None
    kind = "int" if info.type == "integer" else "float"
    log = low > 0 and high > 1.5 and high / low >= _WIDE  # shares are searched as they are
    return Dimension(key=info.key, kind=kind, low=low, high=high, log=log)


def _range(info: SettingInfo, max_executors: int, rows_per_s: float) -> tuple[float, float]:
    default = float(info.default)
    least = -float("inf") if info.minimum is None else info.minimum
    most = float("inf") if info.maximum is None else info.maximum
    if info.unit == "executors":  # a size may be any; a step at most half of all
        share = 2 if info.minimum else 1
        return max(least, 1.0), min(most, max(2.0, float(max_executors // share)))
    if info.unit == "rows/s" and rows_per_s > 0.0:
        low = 0.0 if default == 0.0 else rows_per_s / 1000.0  # 0 leaves it to the rate
        return max(least, low), min(most, rows_per_s / 2.0)
    if isfinite(least) and isfinite(most) and most <= _REACH * max(default, 1.0):
        return least, most
    if default <= 0.0:
        return max(least, 0.0), min(most, 600.0)
    return max(least, default / _REACH), min(most, default * _REACH)
