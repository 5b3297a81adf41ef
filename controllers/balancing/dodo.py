"""DoDo: from the hotter to the colder of two clusters, the operator that fits there best."""

from typing import Annotated, ClassVar

import numpy as np
from msgspec import Struct

from weir.controllers.balancing.arrays import Arrays, Floats
from weir.controllers.balancing.base import Placed, Planner, Remaining, in_time, outcome
from weir.controllers.balancing.problem import Problem
from weir.controllers.balancing.spend import Ledger, evacuate
from weir.controllers.model.decision import Reason
from weir.controllers.model.series import LoadSeries
from weir.controllers.model.settings import setting
from weir.controllers.model.words import percent


class DodoPlannerSettings(Struct, frozen=True):
    """When a pair of clusters is unequal enough to act."""

    load_threshold: Annotated[
        float, setting("Act above this difference of mean loads", unit="load per core", ge=0)
    ] = 0.1
    correlation_threshold: Annotated[
        float,
        setting("Act below this correlation of the two clusters; 1 always acts", ge=-1, le=1),
    ] = 1.0


class DodoPlanner(Planner):
    """Pair the fullest cluster with the emptiest and so on inwards. If their mean loads
    differ by more than a threshold and their correlation is below another, look at the
    operators of the hot one in descending order of

        (rho(operator, rest of hot) - rho(operator, cold)) / 2

    and take the first that adds less than half of the difference to the cold one. One
    operator per cluster at a time, as the text has it; the printed loop takes all that
    fit, and then one comes back. Of two that correlate alike, the larger goes first.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="c1", capacity=2.0), Bin(name="c2", capacity=1.0)),
    ...     items=(
    ...         Item(name="extract", load=0.4, bin="c1"),
    ...         Item(name="count", load=0.7, bin="c2", series=(0.6, 0.7, 0.8)),
    ...         Item(name="top_n", load=0.3, bin="c2", series=(0.3, 0.3, 0.3)),
    ...     ),
    ... )
    >>> [m.operator for m in DodoPlanner().plan(problem).moves]
    ['count']

    Wu: A load-adaptive distributed stream processing system, algorithm 1.
    """

    name: ClassVar[str] = "dodo"
    label: ClassVar[str] = "DoDo with capacity"
    Settings: ClassVar[type[Struct]] = DodoPlannerSettings
    uses_capacity: ClassVar[bool] = True

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """One pass over the pairs; clusters to be emptied are emptied first."""
        del rng
        ledger = Ledger(arrays, evacuate(arrays, arrays.home, remaining_s))
        series = [LoadSeries(item.series) for item in problem.items]
        mean = np.array([np.mean(i.series) if i.series else i.load for i in problem.items])
        total = np.bincount(ledger.place, weights=mean, minlength=len(arrays.capacity))
        loads: Floats = total / arrays.capacity
        kept = np.flatnonzero(arrays.keep)
        by_load = kept[np.argsort(-loads[kept], kind="stable")].tolist()
        why: list[Reason] = []
        for hot, cold in zip(by_load[: len(by_load) // 2], reversed(by_load), strict=False):
            if not in_time(remaining_s):
                break
            why.append(self._balance(ledger, series, mean, loads, hot, cold))
        return Placed(
            ledger.place,
            outcome(arrays, ledger.place, why[0].text if why else "One cluster is kept."),
        )

    def _balance(
        self,
        ledger: Ledger,
        series: list[LoadSeries],
        mean: Floats,
        loads: Floats,
        hot: int,
        cold: int,
    ) -> Reason:
        arrays, settings = ledger.arrays, self.settings
        difference = float(loads[hot] - loads[cold])
        on_hot = np.flatnonzero(ledger.place == hot).tolist()
        of_cold = LoadSeries.total(series[i] for i in np.flatnonzero(ledger.place == cold))
        rho = _rho(LoadSeries.total(series[i] for i in on_hot), of_cold)
        if difference <= settings.load_threshold:
            return Reason(
                text=(
                    f"The mean loads differ by {percent(difference)} of the cores at most, not by more "
                    f"than {percent(settings.load_threshold)}."
                )
            )
        if rho >= settings.correlation_threshold and settings.correlation_threshold < 1.0:
            return Reason(
                text=(
                    f"The two clusters correlate with {rho:.2f}, not below "
                    f"{settings.correlation_threshold:.2f}."
                )
            )
        score = {
            i: (_rho(series[i], _rest(series, on_hot, i)) - _rho(series[i], of_cold)) / 2.0
            for i in on_hot
        }
        ratio = arrays.capacity[hot] / arrays.capacity[cold] if self.uses_capacity else 1.0
        for item in sorted(score, key=lambda i: (-round(score[i], 9), -mean[i], i)):
            share = float(mean[item] / arrays.capacity[hot])
            fits = share > 0.0 and share * ratio < difference / 2.0
            if fits and ledger.move(item, cold):
                return Reason(text="One operator at a time.")
        return Reason(text="No operator of the hot cluster is small enough for the cold one.")


class DodoNoCapacity(DodoPlanner):
    """The same without regard to the clusters' sizes: a baseline, not to be used.

    It moves a large operator onto a small cluster, and throughput collapses.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="c1", capacity=6.0), Bin(name="c2", capacity=1.0)),
    ...     items=(
    ...         Item(name="extract", load=1.5, bin="c1"),
    ...         Item(name="count", load=4.2, bin="c1"),
    ...         Item(name="top_n", load=0.1, bin="c2"),
    ...     ),
    ... )
    >>> [m.operator for m in DodoPlanner().plan(problem).moves]
    []
    >>> [m.operator for m in DodoNoCapacity().plan(problem).moves]  # 160 % load on c2
    ['extract']
    """

    name: ClassVar[str] = "dodo_no_capacity"
    label: ClassVar[str] = "DoDo without capacity"
    uses_capacity: ClassVar[bool] = False


def _rest(series: list[LoadSeries], members: list[int], without: int) -> LoadSeries:
    """The load of the others there."""
    return LoadSeries.total(series[i] for i in members if i != without)


def _rho(a: LoadSeries, b: LoadSeries) -> float:
    """Pearson's rho over the periods that both have; 0 where that is not known."""
    return a.correlation(b) or 0.0
