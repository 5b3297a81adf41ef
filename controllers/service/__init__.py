"""The one door: a verb for each thing that a person or a program can do.

    propose     scale, move, rebalance
    decide      approve, reject, cancel, rollback
    steer       pause_all, resume_all, set_mode, set_settings, import_qtable, reset_qtable
    tell        tell_operator, set_rate
    clean up    forget_cluster

Each takes the store and a `Request` (who asks, from where, when and why), checks what has to
hold, and writes the change and its audit entry together or not at all. Page, HTTP API and
command line only translate, so all three get the same answer.
"""

from weir.controllers.service.operating import set_rate, tell_operator
from weir.controllers.service.places import move, rebalance
from weir.controllers.service.qtable import import_qtable, qtable, reset_qtable
from weir.controllers.service.recommendations import Drifted, approve, cancel, reject, rollback
from weir.controllers.service.request import Request, need_engine
from weir.controllers.service.sizes import scale
from weir.controllers.service.steering import (
    Paused,
    forget_cluster,
    pause_all,
    paused,
    resume_all,
    set_mode,
    set_settings,
)

__all__ = [
    "Drifted", "Paused", "Request", "approve", "cancel", "forget_cluster", "import_qtable",
    "move", "need_engine", "pause_all", "paused", "qtable", "rebalance", "reject",
    "reset_qtable", "resume_all", "rollback", "scale", "set_mode", "set_rate", "set_settings",
    "tell_operator",
]  # fmt: skip
