"""Python's collector of cycles, told how processes that live long and answer fast want it."""

import gc

THRESHOLDS = (20_000, 10, 10)


def collect_rarely() -> None:
    """Leave alone what was loaded at the start, and look at the rest less often.

    A full round over all modules takes a fifth of a second, in which no page is served and
    no lease renewed, and Python's defaults make one every few seconds where much is read.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
