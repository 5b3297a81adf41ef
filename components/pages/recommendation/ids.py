"""Ids of the page of a recommendation."""

RECOMMENDATION = "recommendation"


def decide(verb: str, recommendation: str, plan_hash: str) -> dict[str, str]:
    """A button on a recommendation; it carries the hash of the plan that it stands beside."""
    return {"type": "decide", "verb": verb, "recommendation": recommendation, "hash": plan_hash}
