"""`host`: a Spark application that runs the operators placed with it."""

import logging
import signal
from collections.abc import Mapping

from weir.pipeline.hosts.host import Host, HostSettings
from weir.pipeline.hosts.operator import load_operators


def run(settings: HostSettings, module: str, values: Mapping[str, str]) -> None:
    """Run a host until SIGTERM or Ctrl-C; operators stop at a batch boundary."""
    operators = load_operators(module, values)
    logging.getLogger("py4j").setLevel(logging.WARNING)
    host = Host(settings, operators)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: host.stop())
    host.run()
