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
        name="drs-fig-8",
        paper=Paper.DRS,
        where="figure 8, section V-C2",
        title="From three allocations to one",
        question="Do all starts end on the recommended allocation, and on its sojourn time?",
        published="After the one re-allocation, at minute 14, all three runs have the unique "
        "optimal allocation and similar sojourn times; the two that began with another one show a "
        "clear decrease, and the change itself costs next to nothing.",
        how=How.LIVE,
        full=ExperimentSize(
            words="both applications, three starts side by side, minutes of 6 s", about_s=360
        ),
        quick=ExperimentSize(words="video logos only, minutes of 3 s", about_s=105),
        work="drs_moving:FIGURE_8",
    ),
    Experiment(
        name="drs-fig-9",
        paper=Paper.DRS,
        where="figure 9, section V-C3",
        title="Changing rates, and two windows",
        question="Does DRS answer changes of the rate, and what does its window trade?",
        published="Every long-term change among 6, 12 and 18 frames/s is answered, within 3 "
        "minutes with a window of 3 and 6 to 7 with one of 6; a change of three minutes makes the "
        "small window re-allocate twice and the large one not at all.",
        how=How.LIVE,
        full=ExperimentSize(
            words="two patterns of rates, both windows side by side, minutes of 3 s", about_s=230
        ),
        quick=ExperimentSize(words="the same with all times halved, minutes of 1.5 s", about_s=120),
        work="drs_rates:FIGURE_9",
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
