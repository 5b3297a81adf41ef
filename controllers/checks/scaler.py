"""Checks that every scaler passes, without any test framework.

>>> from weir.controllers.scaling.fixed import Fixed
>>> check_scaler(Fixed, {"executors": 3})
"""

import math
from collections.abc import Mapping
from math import inf, nan
from typing import Any

import msgspec

from weir.controllers.checks import require
from weir.controllers.model.decision import Decision, NoChange, Scale
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.sample import Cluster, OperatorSample, OperatorStatus
from weir.controllers.model.settings import build, describe
from weir.controllers.model.snapshot import Snapshot
from weir.controllers.scaling.base import Scaler, Scope

PERIOD_S = 5.0
LOOKS, LOOK_S = 7, 70.0
SCOPE = Scope(cluster="a")
LIMITED = Scope(cluster="a", min_executors=2, max_executors=5, total_left=2)
Kind = type[Scaler[Any, Any]]


def check_scaler(kind: Kind, settings: Mapping[str, Any] | None = None) -> None:
    """It survives odd input, keeps to limits, is deterministic, and its memory survives JSON."""
    given = build(kind.settings_type, dict(settings or {}))
    require(bool(kind.name and kind.title), "it has no name or no title")
    for row in describe(kind.settings_type):
        require(bool(row.help), f"the setting {row.key} has no line of help")
    for case, shot in odd_snapshots().items():
        for scope in (SCOPE, LIMITED):
            _look(kind(given, scope), [shot] * 4, case)
    for scope in (SCOPE, LIMITED):
        _look(kind(given, scope), _growing(), "growing load")
    _says_what_is_missing(kind(given, SCOPE))
    _is_deterministic(kind, given)
    _refuses_other_memory(kind(given, SCOPE))


def check_answer(decision: Decision, snapshot: Snapshot, scope: Scope, name: str = "") -> None:
    """A Scale within the limits, or NoChange; with a sentence, a rule and finite numbers."""
    of = f"{name}: " if name else ""
    known = isinstance(decision, Scale | NoChange)
    require(known, f"{of}it answers with {type(decision).__name__}, not with Scale or NoChange")
    reason = decision.reason
    require(reason.text.endswith("."), f"{of}its reason is no sentence: {reason.text!r}")
    require(bool(reason.rule), f"{of}its reason has no rule")
    finite = all(math.isfinite(number) for number in reason.numbers.values())
    require(finite, f"{of}a number of its reason is not finite: {reason.numbers}")
    again = msgspec.json.decode(msgspec.json.encode(decision), type=type(decision))
    require(again == decision, f"{of}its answer does not survive JSON")
    if isinstance(decision, Scale):
        _check_size(decision, snapshot, scope, of)


def _check_size(decision: Scale, snapshot: Snapshot, scope: Scope, of: str) -> None:
    cluster = snapshot.cluster(scope.cluster)
    require(cluster is not None, f"{of}it scales a cluster that is not there")
    assert cluster is not None
    asked = cluster.executors_wanted or cluster.executors
    size = decision.executors
    require(decision.before == asked, f"{of}it says {decision.before} are asked for, not {asked}")
    require(size != asked, f"{of}it scales to the size that is there: NoChange says that")
    predicted = decision.prediction.executors
    require(predicted == {scope.cluster: size}, f"{of}its prediction is of another size")
    upper = [cluster.max_executors]
    if scope.max_executors is not None:
        upper.append(scope.max_executors)
    if scope.total_left is not None:
        upper.append(asked + max(0, scope.total_left))  # nothing is taken away by it
    most = min(upper)
    require(0 <= size <= most, f"{of}{size} executors are more than the limit of {most}")
    for least in (cluster.min_executors, scope.min_executors):
        # Where limits cross, the upper one holds.
        require(size >= least or size == most, f"{of}{size} executors are fewer than {least}")


def operator(**given: Any) -> OperatorSample:
    """An operator of cluster "a" at a load of 0.5 cores."""
    figures: dict[str, Any] = {
        "name": "count", "cluster": "a", "reads": ("tweets",),
        "arrival_rows_per_s": 1000.0, "processed_rows_per_s": 1000.0, "cost_s_per_row": 0.0005,
        "load": 0.5, "busy_cores": 0.5, "queue_rows": 1000, "processing_s": 1.0,
        "scheduling_s": 0.5, "batch_id": 1, "batch_rows": 2000, "batches": 2, "trigger_s": 2.0,
    }  # fmt: skip
    return OperatorSample(**{**figures, **given})


def snapshot(
    *operators: OperatorSample,
    executors: int = 2,
    most: int = 8,
    least: int = 1,
    at: float = 0.0,
    cores: int = 1,
    **cluster: Any,
) -> Snapshot:
    """A snapshot of cluster "a"."""
    one = Cluster(
        name="a",
        executors=executors,
        cores_per_executor=cores,
        min_executors=least,
        max_executors=most,
        **cluster,
    )
    return Snapshot(at=at, period_s=PERIOD_S, clusters=(one,), operators=operators)


def odd_snapshots() -> dict[str, Snapshot]:
    """What a scaler may be handed on a bad day."""
    bad = dict.fromkeys(("arrival_rows_per_s", "processed_rows_per_s", "load", "busy_cores"), nan)
    missing = dict.fromkeys(
        ("cost_s_per_row", "queue_rows", "processing_s", "scheduling_s", "batch_id", "batch_rows",
         "latency_p50_s"),
    )  # fmt: skip
    nothing: dict[str, Any] = {
        "arrival_rows_per_s": 0.0, "processed_rows_per_s": 0.0, "load": 0.0, "busy_cores": 0.0,
        "queue_rows": 0, "batch_rows": 0,
    }  # fmt: skip
    return {
        "empty": Snapshot(at=0.0, period_s=0.0),
        "no operators": snapshot(),
        "no executors": snapshot(operator(), executors=0),
        "single": snapshot(operator()),
        "nothing arrives": snapshot(operator(**nothing)),
        "not measured": snapshot(operator(**missing)),
        "NaN": snapshot(operator(**bad)),
        "NaN beside a good one": snapshot(operator(), operator(name="other", **bad)),
        "NaN latency": snapshot(operator(processing_s=nan, scheduling_s=nan, latency_p50_s=nan)),
        "infinite": snapshot(operator(load=inf, cost_s_per_row=inf, processing_s=inf)),
        "negative": snapshot(operator(load=-1.0, processing_s=-1.0, cost_s_per_row=-1.0)),
        "enormous": snapshot(operator(load=1e9, arrival_rows_per_s=1e12, processing_s=1e6)),
        "stopped": snapshot(operator(status=OperatorStatus.STOPPED)),
        "limits crossed": snapshot(operator(), least=9, most=3),
        "above the limit": snapshot(operator(), executors=20, most=8),
    }


def _growing() -> list[Snapshot]:
    """More work at every look, until it is far more than the cluster can do."""
    loads = [0.5 * 2.0**look for look in range(LOOKS)]
    return [
        snapshot(operator(load=x, busy_cores=min(x, 2.0), arrival_rows_per_s=x * 2000.0))
        for x in loads
    ]


def _look(scaler: Scaler[Any, Any], shots: list[Snapshot], name: str) -> list[Decision]:
    memory, answers = scaler.fresh(), []
    for look, shot in enumerate(shots):
        decision, memory = scaler.decide(shot, memory, look * LOOK_S)
        check_answer(decision, shot, scaler.scope, name)
        kept = scaler.remember(msgspec.json.encode(memory))
        require(kept == memory, f"{name}: its memory does not survive JSON")
        answers.append(decision)
    return answers


def _says_what_is_missing(scaler: Scaler[Any, Any]) -> None:
    decision, memory = scaler.decide(odd_snapshots()["empty"], scaler.fresh(), 0.0)
    quiet = isinstance(decision, NoChange) and memory == scaler.fresh()
    require(quiet, "it decides about a cluster that is not there")


def _is_deterministic(kind: Kind, settings: Any) -> None:
    """Two of them agree, though one is created again before every decision."""
    straight = _look(kind(settings, SCOPE), _growing(), "growing load")
    plain: bytes | None = None
    for look, shot in enumerate(_growing()):
        scaler = kind(settings, SCOPE)
        decision, memory = scaler.decide(shot, scaler.remember(plain), look * LOOK_S)
        plain = msgspec.json.encode(memory)
        require(decision == straight[look], "the same figures get another answer after a restart")


def _refuses_other_memory(scaler: Scaler[Any, Any]) -> None:
    try:
        scaler.remember(b"[1]")
    except InvalidInput:
        return
    require(False, "memory of something else is not refused")
