"""Leaves everything where it is: the baseline of all planners."""

from typing import ClassVar

import numpy as np

from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Placed, Planner, Remaining
from weir.controllers.balancing.problem import Problem
from weir.controllers.model.decision import Reason


class NoOpPlanner(Planner):
    """Moves nothing.

    >>> from weir.controllers.balancing.problem import Bin, Item
    >>> problem = Problem(
    ...     bins=(Bin(name="a", capacity=1.0), Bin(name="b", capacity=1.0)),
    ...     items=(Item(name="x", load=0.9, bin="a"), Item(name="y", load=0.5, bin="a")),
    ... )
    >>> NoOpPlanner().plan(problem).moves
    ()
    """

    name: ClassVar[str] = "no_op"
    label: ClassVar[str] = "No balancing"

    def place(
        self,
        problem: Problem,
        arrays: Arrays,
        rng: np.random.Generator,
        remaining_s: Remaining | None,
    ) -> Placed:
        """The present placement."""
        del problem, rng, remaining_s
        return Placed(arrays.home, Reason(text="This planner never moves anything."))
