"""Ids of the Lab page."""

LAB = "lab"  # which experiment the page is about; empty on the list
QUICK = "lab-quick"
FULL = "lab-full"
STOP = "lab-stop"
RESULT = "lab-result"
TICK = "lab-tick"
ERROR = "lab-error"
