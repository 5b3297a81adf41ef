"""A host ends with the JVM of its driver.

Its Python process outlives the JVM: it would go on renewing leases of queries that no longer run,
so nobody would take them for lost, start the host again or rescue what it ran.
"""

import logging
import os
from collections.abc import Callable
from threading import Event, Thread

from pyspark import SparkContext

log = logging.getLogger(__name__)

LOOK_S = 0.5
JVM_ENDED = 70
"""How the process ends then."""


def end_with_jvm(over: Event) -> None:
    """End this process at once if the driver's JVM ends before it is `over`."""
    lives = jvm_lives()
    Thread(target=watch, args=(lives, over), name="weir-jvm", daemon=True).start()


def jvm_lives() -> Callable[[], bool]:
    """Says whether it lives: this process started it or, under spark-submit, was started by it."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        return lambda: process.poll() is None
    parent = os.getppid()
    return lambda: os.getppid() == parent


def watch(lives: Callable[[], bool], over: Event) -> None:
    """Look until it is over."""
    while not over.wait(LOOK_S):
        if not lives():
            log.critical("the JVM of the driver has ended, and this host with it")
            logging.shutdown()
            os._exit(JVM_ENDED)  # threads that wait for the JVM would keep it
