"""The experiments of DRS."""

from weir.metrics.lab.experiment import Experiment, ExperimentSize, How, Paper

EXPERIMENTS = (
    Experiment(
        name="drs-fig-6",
        paper=Paper.DRS,
        where="figure 6, section V-C1",
        title="Six allocations of processors",
        question="Is the allocation that DRS recommends the best one when it is measured?",
        published="Of six allocations of 22 executors the recommended ones, 10:11:1 for video logo "
        "detection and 6:13:3 for frequent patterns, have the least mean and the least standard "
        "deviation of the total sojourn time.",
        how=How.LIVE,
        full=ExperimentSize(
            words="both applications, six allocations each, 45 and 36 s in place of 10 minutes",
            about_s=520,
        ),
        quick=ExperimentSize(words="video logos only, 12 s each, at twice the speed", about_s=95),
        work="drs_allocations:FIGURE_6",
    ),
    Experiment(
        name="drs-fig-7",
        paper=Paper.DRS,
        where="figure 7, section V-C1",
        title="The model against what is measured",
        question="Does the estimated sojourn time go with the measured one?",
        published="Estimated and measured times are positively correlated; for video logos the "
        "estimates are accurate and slightly low, for frequent patterns they are low, and a "
        "regression makes accurate predictions of them.",
        how=How.LIVE,
        full=ExperimentSize(
            words="the points of figure 6, measured now where it was not run", about_s=520
        ),
        quick=ExperimentSize(words="the same of its quick size", about_s=95),
        work="drs_allocations:FIGURE_7",
    ),
    Experiment(
        name="drs-fig-10",
        paper=Paper.DRS,
        where="figure 10, section V-D",
        title="GI/G/k against M/M/k",
        question="Which model recommends the better allocation where rows come in bulk?",
        published="With 7 executors and 5 or 6 frames/s M/M/k prefers 3:3:1; GI/G/k prefers 2:4:1, "
        "which is measured best, and estimates the sojourn time more accurately.",
        how=How.LIVE,
        full=ExperimentSize(
            words="both rates, both allocations side by side, 150 s each", about_s=330
        ),
        quick=ExperimentSize(words="the same, 30 s each", about_s=85),
        work="drs_moments:FIGURE_10",
    ),
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
