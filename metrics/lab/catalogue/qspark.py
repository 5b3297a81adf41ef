"""The experiments of QSpark. Its workloads are not public: ours are made up, with several seeds."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper


def _of(number: int, title: str, question: str, published: str, work: str) -> Experiment:
    return Experiment(
        name=f"qspark-{number}",
        paper=Paper.QSPARK,
        where=f"experiment {number}, section 5.{number + 1}",
        title=title,
        question=question,
        published=published,
        how=How.SIMULATED,
        full=ExperimentSize(
            words="one hour, 4 to 24 executors, two workloads, 20 seeds each", about_s=40
        ),
        quick=ExperimentSize(words="the same, three seeds each", about_s=8),
        work=f"qspark_settings:{work}",
    )


EXPERIMENTS = (
    _of(1, "How many executors an action moves",
        "Static, linear or by the queue: which strategy keeps the target?",
        "A possible conclusion is that queue aware is the best of the three.", "STRATEGY"),
    _of(2, "The history window", "Over how long should figures be averaged?",
        "A window of one minute suffers from zig-zag decisions; two minutes show better results in "
        "general.", "WINDOW"),
    _of(3, "The decision interval", "How often should it decide?",
        "Two and three minutes perform extremely well on workload 1 and poorly on workload 2; one "
        "minute is reasonable on both.", "INTERVAL"),
    _of(4, "What the table holds at the start",
        "Does the optimised table beat one of zeros or random values?",
        "On workload 1 the optimised table beats zero and random. With zeros it sticks to no "
        "action while latency climbs.", "INITIALISER"),
    _of(5, "The learning factor", "How much should what is new weigh?",
        "The effect of the learning factor is totally workload dependent.", "LEARNING"),
    _of(6, "Discretisation", "How fine should latency be divided into states?",
        "Discretization seems to be workload dependent.", "DISCRETISATION"),
    _of(7, "Value iteration", "Is more training better?",
        "More training is not better: ten minutes were worse than five.", "VALUE_ITERATION"),
    _of(8, "Hitting the target", "Is it able to hit targets of 10, 20 and 30 s?",
        "Other targets than 30 s are tried; above 30 s is said to be too easy.", "HITTING"),
    Experiment(
        name="qspark-9",
        paper=Paper.QSPARK,
        where="experiment 9, section 5.10",
        title="Overall comparison",
        question="Does Q-learning beat static sizes, Spark's allocation and parameter optimisation?",
        published="From 8 to 12 executors the latency drops significantly and 24 are no better than "
        "12; properly configured, Q-learning achieves a better result than Spark's allocation and "
        "than fixed numbers of executors.",
        how=How.LIVE,
        full=ExperimentSize(
            words="1 to 6 executors in place of 4 to 24, times divided by five, two workloads, eight "
            "variants, 54 s each", about_s=1150,
        ),
        quick=ExperimentSize(words="one workload, four variants, 40 s each", about_s=240),
        work="qspark_overall:OVERALL",
    ),
)  # fmt: skip
