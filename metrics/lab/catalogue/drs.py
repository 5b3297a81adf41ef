"""The experiments of DRS."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper

EXPERIMENTS = (
    Experiment(
        name="drs-table-2",
        paper=Paper.DRS,
        where="table II, section V-C",
        title="What an allocation costs",
        question="How long does it take to hand out processors, and how does that grow?",
        published="0.083 ms for 12 processors to 1.250 ms for 192, linear in their number: almost "
        "negligible.",
        how=How.COMPUTED,
        full=ExperimentSize(
            words="five sizes as published and 10,000 processors, 41 rounds", about_s=25
        ),
        quick=ExperimentSize(words="the same, 5 rounds", about_s=4),
        work="drs_table_2:TABLE_2",
    ),
)
