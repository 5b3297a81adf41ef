"""The one door: a verb for each thing that a person or a program can do.

    propose     scale, move, rebalance, reslice
    decide      approve, reject, cancel, rollback
    steer       pause_all, resume_all, set_mode, set_settings, set_shares, import_qtable, reset_qtable
    tell        tell_operator, set_rate
    host        add_cluster, end_cluster
    clean up    forget_cluster
    try out     run_experiment, stop_experiment

Each takes the store and a `Request` (who asks, from where, when and why), checks what has to
hold, and writes the change and its audit entry together or not at all. Page, HTTP API and
command line only translate, so all three get the same answer.
"""

from weir.controllers.service.clusters import add_cluster, end_cluster
from weir.controllers.service.experiments import run_experiment, stop_experiment
from weir.controllers.service.generating import set_rate, workload_words
from weir.controllers.service.operating import tell_operator
from weir.controllers.service.places import move, rebalance
from weir.controllers.service.qtable import import_qtable, qtable, reset_qtable
from weir.controllers.service.recommendations import Drifted, approve, cancel, reject, rollback
from weir.controllers.service.request import Request, require_engine
from weir.controllers.service.shares import set_shares
from weir.controllers.service.sizes import scale
from weir.controllers.service.slices import predict_reslice, reslice
from weir.controllers.service.steering import (
    Paused,
    find_pause,
    forget_cluster,
    pause_all,
    resume_all,
    set_mode,
    set_settings,
)

__all__ = [
    "Drifted",
    "Paused",
    "Request",
    "add_cluster",
    "approve",
    "cancel",
    "end_cluster",
    "find_pause",
    "forget_cluster",
    "import_qtable",
    "move",
    "pause_all",
    "predict_reslice",
    "qtable",
    "rebalance",
    "reject",
    "require_engine",
    "reset_qtable",
    "reslice",
    "resume_all",
    "rollback",
    "run_experiment",
    "scale",
    "set_mode",
    "set_rate",
    "set_settings",
    "set_shares",
    "stop_experiment",
    "tell_operator",
    "workload_words",
]  # fmt: skip
