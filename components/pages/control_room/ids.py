"""Ids of the control room."""

INBOX = "inbox"


def workload(part: str, name: str) -> dict[str, str]:
    """A control of one load generator."""
    return {"type": f"workload-{part}", "name": name}
