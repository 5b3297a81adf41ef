"""Ids of the control room."""

from weir.components.ui.ids import IdPart

ANSWER = "answer"
INBOX = "inbox"
GRAPH = "map-graph"


def workload(part: str, name: IdPart) -> dict[str, IdPart]:
    """A control of one load generator."""
    return {"type": f"workload-{part}", "name": name}
