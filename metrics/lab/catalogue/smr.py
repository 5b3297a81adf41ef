"""The experiments of SMR."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper

EXPERIMENTS = (
    Experiment(
        name="smr-fig-7",
        paper=Paper.SMR,
        where="figure 7, section VIII",
        title="The size of incremental checkpoints",
        question="How large is a checkpoint of what has changed, beside the whole state?",
        published="With smaller intervals checkpoints are significantly smaller; at 2 s they "
        "stabilize around 7 % of the entire state.",
        how=How.LIVE,
        full=ExperimentSize(words="50,000 words, 2,000 rows/s, four intervals, 30 checkpoints each; one "
                  "Spark of two cores in place of a ring", about_s=150),
        quick=ExperimentSize(words="the same, 8 checkpoints each", about_s=60),
        work="smr_checkpoints:FIGURE_7",
    ),
)  # fmt: skip
