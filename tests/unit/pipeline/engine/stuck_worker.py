"""A planning worker with one planner more: it never ends where an operator is named `hang`."""

from typing import ClassVar

import numpy as np

from weir.controllers.balancing.arrays import Arrays
from weir.controllers.balancing.base import Placed, Planner, Remaining, outcome
from weir.controllers.balancing.problem import Problem
from weir.pipeline.engine.planning import main


def declare() -> type[Planner]:
    """Only in the worker: planners of a process that tests run in are all there are."""

    class Stuck(Planner):
        """Deaf to its deadline, as a planner with a bug would be."""

        name: ClassVar[str] = "stuck"
        label: ClassVar[str] = "Stuck"

        def place(
            self,
            problem: Problem,
            arrays: Arrays,
            rng: np.random.Generator,
            remaining_s: Remaining | None,
        ) -> Placed:
            """Nothing moves, sooner or never."""
            del rng, remaining_s
            while any(item.name == "hang" for item in problem.items):
                pass
            return Placed(arrays.home, outcome(arrays, arrays.home, "Stays."))

    Stuck.__module__ = "weir.controllers.balancing.stuck"  # found like all others
    return Stuck


if __name__ == "__main__":
    stuck = declare()  # one that nobody holds is not found
    main()
