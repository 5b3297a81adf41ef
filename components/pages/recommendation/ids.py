"""Ids of the page of a recommendation."""

from weir.components.ui.ids import IdPart

RECOMMENDATION = "recommendation"


def decide(verb: IdPart, recommendation: IdPart, plan_hash: IdPart) -> dict[str, IdPart]:
    """A button on a recommendation; it carries the hash of the plan that it stands beside."""
    return {"type": "decide", "verb": verb, "recommendation": recommendation, "hash": plan_hash}
