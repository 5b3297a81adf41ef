"""Numbers as sentences put them: the one formatter of counts, shares and sizes.

Pages, the engine's reasons and the command line all speak through these, so that the same
figure reads the same wherever it stands.
"""


def number_of(count: int, noun: str) -> str:
    """A count with its noun.

    >>> number_of(1, "executor"), number_of(1200, "row"), number_of(2, "batch"), number_of(0, "query")
    ('1 executor', '1,200 rows', '2 batches', '0 queries')
    """
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('ch', 's', 'x')) else 's'}"


def are(count: int) -> str:
    """The verb that follows a count.

    >>> f"{number_of(1, 'executor')} {are(1)} there", f"{number_of(2, 'executor')} {are(2)} there"
    ('1 executor is there', '2 executors are there')
    """
    return "is" if count == 1 else "are"


def percent(fraction: float, digits: int = 0) -> str:
    """A share, or the load of a cluster's cores, in per cent.

    >>> percent(0.394), percent(0.0123, 1), percent(1.2)
    ('39 %', '1.2 %', '120 %')
    """
    return f"{100.0 * fraction:.{digits}f} %"


def signed(value: float) -> str:
    """A figure that may be below zero, with two digits and a true minus.

    >>> signed(-0.074), signed(0.4)
    ('−0.07', '0.40')
    """
    return f"{value:.2f}".replace("-", "−")


def quantity(value: float) -> str:
    """A plain number, grouped and rounded to what matters; never with an exponent.

    >>> quantity(2_990_960.0), quantity(12.5), quantity(4.0), quantity(0.0321)
    ('2,990,960', '12.5', '4', '0.0321')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    size = abs(value)
    return f"{value:.1f}" if size >= 10 else f"{value:.3g}" if size >= 1e-4 else f"{value:.6f}"
