"""A re-slice in a few words, for the audit trail, pages and the terminal."""

from weir.controllers.model.decision import Reslice
from weir.controllers.model.slicing import Slicing
from weir.controllers.model.words import by_number, number_of
from weir.controllers.placement.ring import owner_by_group


def hand_overs(decision: Reslice) -> dict[tuple[str, str], tuple[int, ...]]:
    """The key groups that change owner, by giver and taker.

    >>> from weir.controllers.model.decision import Reason
    >>> hand_overs(Reslice(operator="c", slices=2, before=1, was={"c.0": (0, 1)},
    ...                    owners={"c.0": (0,), "c.1": (1,)}, reason=Reason(text="")))
    {('c.0', 'c.1'): (1,)}
    """
    new = {g: name for name, owned in decision.owners.items() for g in owned}
    found: dict[tuple[str, str], list[int]] = {}
    for giver, owned in sorted(decision.was.items(), key=lambda item: by_number(item[0])):
        for group in owned:
            taker = new.get(group, giver)
            if taker != giver:
                found.setdefault((giver, taker), []).append(group)
    return {pair: tuple(sorted(groups)) for pair, groups in found.items()}


def reslice_words(decision: Reslice) -> str:
    """Slices before and after, and how many key groups go from whom to whom.

    >>> from weir.controllers.model.decision import Reason
    >>> reslice_words(Reslice(operator="c", slices=2, before=1, was={"c.0": (0, 1)},
    ...                       owners={"c.0": (0,), "c.1": (1,)}, clusters={"c.1": "wide"},
    ...                       reason=Reason(text="")))
    'c: 1 to 2 slices, 1 key group from c.0 to c.1 in wide'
    """
    many = "slice" if decision.slices == 1 else "slices"
    size = (
        f"{decision.slices} {many}"
        if decision.slices == decision.before
        else f"{decision.before} to {decision.slices} {many}"
    )
    parts = [
        f"{count(groups)} from {giver} to {taker}{_where(decision, taker)}"
        for (giver, taker), groups in hand_overs(decision).items()
    ]
    return f"{decision.operator}: {', '.join([size, *parts])}"


def count(groups: tuple[int, ...]) -> str:
    """How many key groups, in words."""
    return number_of(len(groups), "key group")


def why_changed(decision: Reslice, slicing: Slicing | None) -> str:
    """Why a re-slice no longer holds; empty if the slices are those that it was made for."""
    if slicing is None:
        return f"{decision.operator} is not sliced"
    if slicing.held:
        return f"{', '.join(slicing.held)} is being re-sliced"
    same = set(slicing.owners) == set(decision.was) and all(
        set(slicing.owners[name]) == set(owned) for name, owned in decision.was.items()
    )
    return "" if same else f"the slices of {decision.operator} are others now"


def is_reached(decision: Reslice, slicing: Slicing | None) -> bool:
    """Whether every key group is where the re-slice wants it."""
    if slicing is None:
        return False
    wanted = {g: name for name, owned in decision.owners.items() for g in owned}
    return dict(enumerate(owner_by_group(slicing))) == wanted


def _where(decision: Reslice, taker: str) -> str:
    cluster = decision.clusters.get(taker)
    return f" in {cluster}" if cluster else ""
