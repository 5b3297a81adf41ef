"""QSpark, experiments 1 to 8: the variants of each, and what the thesis says of them."""

from collections.abc import Mapping
from typing import Any

from weir.controllers.model.words import percent
from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments.qspark import TARGET_S, Variant, claimed, experiment, least

By = Mapping[str, Mapping[str, Any]]
Said = tuple[ClaimVerdict, str]


def _one(key: str, values: Mapping[str, Any], **common: Any) -> tuple[Variant, ...]:
    return tuple(
        Variant(label=label, settings={**common, key: value}) for label, value in values.items()
    )


def _shares(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{label} {percent(f['over'])}" for label, f in found.items())


def _strategy(by: By) -> Said:
    return claimed(
        *(
            (
                least(by[w], "over") == "queue aware",
                f"{w}: queue aware is the least time over target; {_shares(by[w])}",
            )
            for w in by
        )
    )


def _window(by: By) -> Said:
    turns = {w: [f["turns"] for f in by[w].values()] for w in by}
    return claimed(
        *(
            (
                t[0] >= t[-1],
                f"{w}: a short window turns more often; {t[0]:.1f} turns an hour at 1 min, "
                f"{t[1]:.1f} at 2, {t[2]:.1f} at 3",
            )
            for w, t in turns.items()
        ),
        (
            any(least(by[w], "over") == "2 min" for w in by),
            "2 min is the best on at least one workload; time over target: "
            + "; ".join(f"{w} {_shares(by[w])}" for w in by),
        ),
    )


def _interval(by: By) -> Said:
    worst = {label: max(by[w][label]["over"] for w in by) for label in by["W1"]}
    best = min(worst, key=lambda label: worst[label])
    return claimed(
        (
            best == "1 min",
            "1 min is reasonable on both: it has the smallest worst case; "
            + "; ".join(f"{w} {_shares(by[w])}" for w in by),
        ),
        (
            by["W2"]["3 min"]["over"] > by["W2"]["1 min"]["over"],
            "3 min is poor on W2",
        ),
    )


def _initialiser(by: By) -> Said:
    return claimed(
        (
            least(by["W1"], "over") == "optimised",
            f"W1: the optimised table beats zero and random; {_shares(by['W1'])}",
        ),
        (
            all(by[w]["zero"]["mean_s"] > 2 * by[w]["optimised"]["mean_s"] for w in by),
            "zeros stick to no action while latency climbs: mean latency "
            + ", ".join(
                f"{w} {by[w]['zero']['mean_s']:.0f} s against {by[w]['optimised']['mean_s']:.0f} s"
                for w in by
            ),
        ),
    )


def _depends(what: str) -> Any:
    def judge(by: By) -> Said:
        best = {w: least(by[w], "over") for w in by}
        return claimed(
            (
                len(set(best.values())) > 1,
                f"which {what} is best depends on the workload: "
                + "; ".join(f"{w} {best[w]} ({_shares(by[w])})" for w in by),
            )
        )

    return judge


def _training(by: By) -> Said:
    rows = {w: [f["over"] for f in by[w].values()] for w in by}
    return claimed(
        (
            any(r != sorted(r, reverse=True) for r in rows.values()),
            "more training is not always better: time over target "
            + "; ".join(f"{w} {_shares(by[w])}" for w in by),
        )
    )


def _target(by: By) -> Said:
    hits = {w: {label: f["mean_s"] for label, f in by[w].items()} for w in by}
    return claimed(
        *(
            (
                hits[w]["20 s"] <= 20.0 and hits[w]["30 s"] <= 30.0,
                f"{w}: targets of 20 and 30 s are met by the mean; means "
                + ", ".join(f"{label}: {v:.0f} s" for label, v in hits[w].items()),
            )
            for w in by
        ),
        (
            all(by[w]["10 s"]["used"] > by[w]["30 s"]["used"] for w in by),
            "a tighter target takes more executors",
        ),
    )


_MINUTES = {"1 min": 60.0, "2 min": 120.0, "3 min": 180.0}
STRATEGY = experiment(
    _one(
        "executor_strategy", {"static": "static", "linear": "linear", "queue aware": "queue_aware"}
    ),
    _strategy,
)
WINDOW = experiment(_one("window_s", _MINUTES), _window)
INTERVAL = experiment(_one("decision_interval_s", _MINUTES), _interval)
INITIALISER = experiment(
    (
        Variant(
            label="optimised",
            settings={"initialisation_mode": "optimised", "executor_strategy": "static"},
        ),
        Variant(
            label="zero",
            settings={
                "initialisation_mode": "zero",
                "executor_strategy": "static",
                "policy": "epsilon",
                "epsilon": 0.2,
            },
        ),
        Variant(
            label="random",
            settings={"initialisation_mode": "random", "executor_strategy": "static"},
        ),
    ),
    _initialiser,
)
LEARNING = experiment(
    _one("learning_factor", {"0.7": 0.7, "0.07": 0.07, "0.007": 0.007}),
    _depends("learning factor"),
)
DISCRETISATION = experiment(
    _one("latency_granularity_s", {"5 s": 5.0, "10 s": 10.0, "15 s": 15.0}),
    _depends("width of a latency bin"),
)
VALUE_ITERATION = experiment(
    tuple(
        Variant(
            label=f"{minutes} min",
            training_s=60.0 * minutes,
            settings={
                "initialisation_mode": "zero",
                "value_iteration_time_s": 60.0 * minutes,
                "policy": "decreasing_epsilon",
                "epsilon": 0.9,
                "epsilon_step": 0.9 / minutes,
            },
        )
        for minutes in (5, 10, 20)
    ),
    _training,
)
HITTING = experiment(
    tuple(
        Variant(label=f"{target:.0f} s", settings={}, target_s=target)
        for target in (10.0, 20.0, TARGET_S)
    ),
    _target,
)
