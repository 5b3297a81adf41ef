"""The baseline: the ring stays as it is."""

from typing import ClassVar

from weir.controllers.model.decision import NoChange, Reslice
from weir.controllers.placement.base import RingPlanner, RingProblem, nothing


class NoReslice(RingPlanner):
    """Never hands anything over.

    >>> from weir.controllers.placement.reslicing import first
    >>> NoReslice().decide(RingProblem(slicing=first("c", 2), slices={}, capacity={})).reason.text
    'c: The ring stays as it is.'
    """

    name: ClassVar[str] = "no_reslice"
    label: ClassVar[str] = "No re-slicing"

    def decide(self, problem: RingProblem) -> Reslice | NoChange:
        """Nothing, whatever the load."""
        return nothing(problem, "The ring stays as it is.")
