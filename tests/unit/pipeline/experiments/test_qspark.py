"""QSpark's experiments: the simulated hour, and verdicts that follow the figures."""

from weir.metrics.lab.outcome import ClaimVerdict
from weir.pipeline.experiments import qspark, qspark_settings
from weir.pipeline.experiments.qspark import Variant


def test_the_same_seed_is_the_same_hour_and_training_does_not_count() -> None:
    variant = Variant(label="a", settings={})
    assert qspark.hour(variant, "W1", 0) == qspark.hour(variant, "W1", 0)
    trained = Variant(label="b", settings={}, training_s=300.0)
    assert len(qspark.hour(trained, "W1", 0)["executors"]) == 60
    assert qspark.world("W2", 1).cluster.executors == qspark.LEAST


def test_zeros_stay_behind_where_load_only_climbs() -> None:
    """The finding of the thesis: with zeros it does nothing while latency climbs."""
    optimised, zero = (
        Variant(label=mode, settings={"initialisation_mode": mode, "executor_strategy": "static"})
        for mode in ("optimised", "zero")
    )
    assert qspark.hour(zero, "W2", 0)["mean_s"] > qspark.hour(optimised, "W2", 0)["mean_s"]


def test_a_verdict_follows_the_figures() -> None:
    def by(static: float, linear: float, aware: float):
        labels = {"static": static, "linear": linear, "queue aware": aware}
        return {w: {k: {"over": v} for k, v in labels.items()} for w in qspark.WORKLOADS}

    assert qspark_settings._strategy(by(0.5, 0.4, 0.1))[0] is ClaimVerdict.REPRODUCED
    assert qspark_settings._strategy(by(0.5, 0.1, 0.4))[0] is ClaimVerdict.NOT
    verdict, said = qspark_settings._depends("width")(by(0.5, 0.1, 0.4))
    assert verdict is ClaimVerdict.NOT
    assert "does not hold" in said
