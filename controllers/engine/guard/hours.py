"""Hours of the day as people write them, in UTC: "22-6", "8-12, 13-18"; empty for none."""

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


def parse_hours(text: str) -> list[tuple[int, int]]:
    """Spans of full hours; a span may go over midnight.

    >>> parse_hours("22-6, 12-13")
    [(22, 6), (12, 13)]
    >>> parse_hours("25-3")
    Traceback (most recent call last):
    ValueError: '25-3' is not a span of hours such as 22-6
    """
    spans = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        first, _, last = part.partition("-")
        if not (first.strip().isdigit() and last.strip().isdigit()):
            raise ValueError(f"'{part}' is not a span of hours such as 22-6")
        span = int(first), int(last)
        if max(span) > 24 or span[0] == span[1]:
            raise ValueError(f"'{part}' is not a span of hours such as 22-6")
        spans.append((span[0] % 24, span[1] % 24))
    return spans


def is_within(text: str, now: float) -> bool:
    """Whether it is such an hour.

    >>> is_within("22-6", 23 * 3600.0), is_within("22-6", 12 * 3600.0), is_within("", 0.0)
    (True, False, False)
    """
    hour = now % DAY_S / HOUR_S
    return any(
        first <= hour < last if first < last else hour >= first or hour < last
        for first, last in parse_hours(text)
    )


def end_of_hours(text: str, now: float) -> float:
    """When the present hours are over.

    >>> end_of_hours("22-6", 23 * 3600.0) / 3600.0
    30.0
    """
    for step in range(1, 25):
        at = (now // HOUR_S + step) * HOUR_S
        if not is_within(text, at):
            return at
    return float("inf")
