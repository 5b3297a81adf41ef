"""`reslice`: who owns which key groups of an operator, on the command line."""

import time
from typing import Any

from msgspec import Struct
from rich.console import Console

from weir.commands import control
from weir.commands.trail import request
from weir.controllers import service
from weir.controllers.engine.ports import Store
from weir.controllers.engine.recommendation import Recommendation
from weir.controllers.engine.trail import steps
from weir.controllers.model.decision import Reslice
from weir.controllers.placement.reslicing import read_groups


class ResliceArguments(Struct, frozen=True, kw_only=True):
    """What was typed."""

    slices: int | None = None
    groups: str = ""
    to: str = ""
    cluster: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        """As the service takes it."""
        return {
            "slices": self.slices,
            "groups": read_groups(self.groups),
            "to": self.to,
            "cluster": self.cluster,
        }


def preview(store: Store, operator: str, wanted: ResliceArguments) -> str:
    """What it would bring, and nothing is done."""
    return prediction_words(service.predict_reslice(store, operator, time.time(), **wanted.plain))


def reslice(
    store: Store, operator: str, wanted: ResliceArguments, comment: str = ""
) -> Recommendation:
    """Ask for it and wait until the new owners have committed."""
    asked = control._approve(service.reslice(store, request(comment), operator, **wanted.plain))
    with Console(stderr=True).status(f"re-slicing {operator}") as line:
        for found in control._follow(store, asked):
            order = next((r for r in store.reslicings() if r.id == asked.id), None)
            line.update(f"re-slicing {operator}: {order.step if order else found.status}")
    return found


def outcome_words(done: Recommendation) -> str:
    """What became of it, in a line."""
    last = done.history[-1]
    return f"{done.status}: {last.why or steps(done.decision)}"


def prediction_words(decision: Reslice) -> str:
    """A prediction for the terminal."""
    said = decision.prediction
    lines = [steps(decision)]
    lines += [f"  {name}: load {load:.0%}" for name, load in sorted(said.load.items())]
    lines += [f"  {name}: {load:.2f} cores" for name, load in said.slice_load.items()]
    if said.moved_share is not None:
        lines.append(f"  {said.moved_share:.0%} of the keys change their owner")
    if said.pause_s is not None:
        lines.append(f"  the slices that change pause for about {said.pause_s:.0f} s")
    return "\n".join(lines)
