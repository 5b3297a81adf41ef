"""How scalers put their answers: within the limits, with rule, numbers and prediction."""

from msgspec.structs import replace

from weir.controllers.model.decision import Decision, Grounds, NoChange, Prediction, Reason, Scale
from weir.controllers.scaling.facts import ClusterFacts


def because(text: str, rule: str, **numbers: float | None) -> Reason:
    """A reason; figures that are not known are left out.

    >>> because("It is busy.", "load > max_load", load=0.9, latency_s=None).numbers
    {'load': 0.9}
    """
    return Reason(
        text=text, rule=rule, numbers={k: float(v) for k, v in numbers.items() if v is not None}
    )


def stay(text: str, rule: str = "", **numbers: float | None) -> NoChange:
    """No change, and why."""
    return NoChange(reason=because(text, rule, **numbers))


def cannot_tell(text: str, rule: str = "no data", **numbers: float | None) -> NoChange:
    """No change, as figures are missing; this is no opinion on the size.

    >>> cannot_tell("The load is not known.").reason.is_opinion
    False
    """
    reason = because(text, rule, **numbers)
    return NoChange(reason=replace(reason, grounds=Grounds.MISSING))


def not_now(text: str, rule: str, **numbers: float | None) -> NoChange:
    """No change, as the next decision is not due yet; this is no opinion on the size."""
    reason = because(text, rule, **numbers)
    return NoChange(reason=replace(reason, grounds=Grounds.NOT_NOW))


def scale_to(
    facts: ClusterFacts, target: int, reason: Reason, prediction: Prediction | None = None
) -> Decision:
    """Scale to `target` as far as the limits allow; no change where nothing is left of it."""
    executors = min(max(target, facts.low), facts.high)
    numbers = {**reason.numbers, "executors": float(facts.executors), "target": float(target)}
    if executors == facts.executors:
        text = reason.text
        if target != facts.executors:
            side = "most" if target > executors else "least"
            text = f"{text} But {executors} is the {side} that the limits allow."
        return NoChange(reason=replace(reason, text=text, numbers=numbers))
    if executors != target:
        side = "most" if target > executors else "least"
        reason = replace(
            reason,
            text=f"{reason.text} It asks for {target}; {executors} is the {side} allowed.",
        )
    return Scale(
        cluster=facts.cluster.name,
        executors=executors,
        before=facts.executors,
        reason=replace(reason, numbers=numbers),
        prediction=_complete(facts, executors, prediction or Prediction()),
    )


def _complete(facts: ClusterFacts, executors: int, prediction: Prediction) -> Prediction:
    """The load follows from the number of executors, so every scaler can say it."""
    name, load_cores = facts.cluster.name, facts.load_cores
    load = prediction.load
    if not load and load_cores is not None and executors:
        load = {name: load_cores / (executors * facts.cores)}
    return replace(prediction, load=load, executors={name: executors})
