"""Noticing executors that were asked for and do not come, or were told to go and stay."""

from dataclasses import dataclass

OVERDUE_S = 30.0  # then it is asked for again, and again after each such time


@dataclass
class Overdue:
    """Looks once a period at what is wanted and what is there.

    >>> overdue = Overdue()
    >>> overdue.look(wanted=3, there=2, now=0.0), overdue.look(wanted=3, there=2, now=31.0)
    (False, True)
    >>> overdue.words(wanted=3, there=2, granted=2, now=40.0)
    '1 of 3 executors has not come for 40 s, asked again once; the cluster manager has granted 2'
    >>> overdue.look(wanted=1, there=3, now=50.0), overdue.look(wanted=1, there=3, now=81.0)
    (False, True)
    >>> overdue.words(wanted=1, there=3, granted=None, now=90.0)
    '2 of 3 executors have not gone for 40 s; wanted: 1'
    >>> overdue.look(wanted=3, there=3, now=91.0), overdue.words(3, 3, 3, 91.0)
    (False, '')
    """

    since: float | None = None
    asked_again: int = 0
    too_many: bool = False

    def look(self, wanted: int, there: int, now: float) -> bool:
        """True when it is time to ask again."""
        if there == wanted:
            self.since, self.asked_again = None, 0
            return False
        if self.since is None or self.too_many != (there > wanted):
            self.since, self.asked_again, self.too_many = now, 0, there > wanted
        if now - self.since <= OVERDUE_S * (self.asked_again + 1):
            return False
        self.asked_again += 1
        return True

    def words(self, wanted: int, there: int, granted: int | None, now: float) -> str:
        """What is wrong, for people; empty until it is overdue."""
        if not self.asked_again or self.since is None:
            return ""
        off = abs(wanted - there)
        some = f"{off} of {max(wanted, there)} executors {'has' if off == 1 else 'have'}"
        for_s = f"{now - self.since:.0f} s"
        if self.too_many:
            return f"{some} not gone for {for_s}; wanted: {wanted}"
        times = "once" if self.asked_again == 1 else f"{self.asked_again} times"
        told = "" if granted is None else f"; the cluster manager has granted {granted}"
        return f"{some} not come for {for_s}, asked again {times}{told}"
