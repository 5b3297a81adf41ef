"""Ids of the what-if page."""

from weir.components.ui.ids import IdPart

WHAT_IF = "what-if"  # which run the page is about
WI_CLUSTER = "what-if-cluster"
WI_TARGET = "what-if-target"
WI_POLICIES = "what-if-policies"
WI_SCALER = "what-if-scaler"
WI_FORM = "what-if-form"
WI_GO = "what-if-go"
WI_RESULT = "what-if-result"
WI_ADDRESS = "what-if-address"  # of what was asked last
WI_KEPT = "what-if-kept"  # when the browser took that up


def field(of: IdPart, key: IdPart) -> dict[str, IdPart]:
    """One setting of a policy."""
    return {"type": "wi-field", "of": of, "key": key}


def switch(of: IdPart, key: IdPart) -> dict[str, IdPart]:
    """One setting that is on or off."""
    return {"type": "wi-switch", "of": of, "key": key}
