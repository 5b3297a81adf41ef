"""Python's collector and C's allocator, told how processes that live long and answer fast want it."""

import ctypes
import gc
from contextlib import suppress

THRESHOLDS = (20_000, 10, 10)
# From malloc.h of the GNU C library.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
LARGE_BYTES = 128 * 1024


def one_heap() -> bool:
    """Keep free memory where all threads find it, and give large pieces back at once; False
    where C's library knows no such thing. To be called before other threads begin.

    By default each thread has a heap of its own, and what one thread reads and another lets go
    of leaves holes: a web worker grew by a MB a minute, nearly all of it such holes.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        return bool(mallopt(_M_ARENA_MAX, 1) and mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES))
    return False


def collect_rarely() -> None:
    """Leave alone what was loaded at the start, and look at the rest less often.

    A full round over all modules takes a fifth of a second, in which no page is served and
    no lease renewed, and Python's defaults make one every few seconds where much is read.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
