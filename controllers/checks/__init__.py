"""What every planner and scaler has to hold to, checked the same way for all of them."""


class CheckFailed(AssertionError):
    """A planner or scaler broke a rule; the sentence says which, and on what."""


def require(held: bool, text: str) -> None:
    """Refuse with a sentence what does not hold."""
    if not held:
        raise CheckFailed(text)
